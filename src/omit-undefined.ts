/** The same object without the keys whose value is undefined. */
export function omitUndefined<Values extends object>(values: Values): OmitUndefined<Values> {
  // The type omits the same keys.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as OmitUndefined<Values>
}

type OmitUndefined<Values> = {
  [Name in keyof Values as undefined extends Values[Name] ? Name : never]?: Exclude<Values[Name], undefined>
} & {
  [Name in keyof Values as undefined extends Values[Name] ? never : Name]: Values[Name]
}
