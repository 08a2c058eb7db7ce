/** A JSON object: neither a list nor null. */
export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** The value of a JSON text; undefined where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The object that a JSON text is; null for every other text. */
export function parseObject(text: string): JsonObject | null {
  const value = parseJson(text)
  return isObject(value) ? value : null
}

const mostTried = 500

/** The first JSON object in a text that `accepts` takes, whatever stands before it. No brace may follow it. */
export function objectIn(text: string, accepts: (value: JsonObject) => boolean = () => true): JsonObject | null {
  const end = text.lastIndexOf('}') + 1
  for (const { index } of [...text.matchAll(/\{/gu)].slice(0, mostTried)) {
    const value = parseObject(text.slice(index, end))
    if (value !== null && accepts(value)) return value
  }
  return null
}
