/** The steps of a path into a JSON value: a field, a place in a list, or everything in it. */
export type JsonPath = readonly (string | number | typeof everyItem)[]

const everyItem = Symbol('every item')

const step = /^(?:\.([A-Za-z_$][\w$-]*)|\[(\d+)\]|\['([^'\]]+)'\]|\[(\*)\])/u

/** Reads `$.entities[*].name`; fields, `[0]`, `[*]` and `['a field']` are known. Null for anything else. */
export function parseJsonPath(text: string): JsonPath | null {
  if (!text.startsWith('$')) return null
  const path: (string | number | typeof everyItem)[] = []
  let rest = text.slice(1)
  while (rest !== '') {
    const match = rest.match(step)
    if (match === null) return null
    const [whole, field, place, quoted] = match
    path.push(field ?? quoted ?? (place === undefined ? everyItem : Number(place)))
    rest = rest.slice(whole.length)
  }
  return path
}

/** Everything at the path, in order. What is not there is left out. */
export function valuesAt(value: unknown, path: JsonPath): readonly unknown[] {
  const [first, ...rest] = path
  if (first === undefined) return [value]
  if (value === null || typeof value !== 'object') return []
  if (first === everyItem) return Array.isArray(value) ? value.flatMap((item) => valuesAt(item, rest)) : []
  if (typeof first === 'number' ? !Array.isArray(value) : !Object.hasOwn(value, first)) return []
  const inner: unknown = Reflect.get(value, first)
  return inner === undefined ? [] : valuesAt(inner, rest)
}
