/** The variable parts of a path that fits a pattern such as `/beliefs/:id`; null when it does not. */
export function match(pattern: string, given: string): Readonly<Record<string, string>> | null {
  const [wanted, parts] = [pattern.split('/'), given.replace(/\/$/, '').split('/')]
  if (wanted.length !== parts.length) return null
  const found: Record<string, string> = {}
  for (const [index, piece] of wanted.entries()) {
    const part = parts[index] ?? ''
    if (piece.startsWith(':')) {
      const decoded = decode(part)
      if (decoded === null || decoded === '') return null
      found[piece.slice(1)] = decoded
    } else if (piece !== part) return null
  }
  return found
}

/** Null for an address that somebody broke by hand. */
function decode(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}

/** A path with its parts escaped. */
export const address = (...parts: readonly string[]): string => `/${parts.map(encodeURIComponent).join('/')}`
