export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

const mostTried = 500

/** The first JSON object in a text that `accepts` takes, whatever stands before it. No brace may follow it. */
export function objectIn(text: string, accepts: (value: JsonObject) => boolean = () => true): JsonObject | null {
  const end = text.lastIndexOf('}') + 1
  for (const { index } of [...text.matchAll(/\{/gu)].slice(0, mostTried)) {
    try {
      const value: unknown = JSON.parse(text.slice(index, end))
      if (isObject(value) && accepts(value)) return value
    } catch {
      // This brace begins no document.
    }
  }
  return null
}
