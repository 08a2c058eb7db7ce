/**
 * Whether a JSON Schema leaves nothing open: every object lists all its properties as required and allows no others.
 * Only such schemas may be asked for strictly.
 */
export function isClosedSchema(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return true
  if (Array.isArray(schema)) return schema.every(isClosedSchema)
  const { type, properties, required, additionalProperties } = schema as Readonly<Record<string, unknown>>
  if (type === 'object' || properties !== undefined) {
    const names = Object.keys(typeof properties === 'object' && properties !== null ? properties : {})
    const isRequired = Array.isArray(required) && names.every((name) => required.includes(name))
    if (additionalProperties !== false || !isRequired) return false
  }
  return Object.values(schema).every(isClosedSchema)
}
