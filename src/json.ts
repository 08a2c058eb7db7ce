/** A JSON object, not a list or null. */
export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** The value of a JSON text; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Parses a JSON object; null for any other text. */
export function parseObject(text: string): JsonObject | null {
  const value = parseJson(text)
  return isObject(value) ? value : null
}

const maxTried = 500

/** The first JSON object in a text that `accepts` returns true for. Other text may surround it, but no `}` may follow. */
export function objectIn(text: string, accepts: (value: JsonObject) => boolean = () => true): JsonObject | null {
  const end = text.lastIndexOf('}') + 1
  for (const { index } of [...text.matchAll(/\{/gu)].slice(0, maxTried)) {
    const value = parseObject(text.slice(index, end))
    if (value !== null && accepts(value)) return value
  }
  return null
}

/** JSON with sorted keys, so that their original order does not matter. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`
}
