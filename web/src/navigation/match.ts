/** The variable parts of a path that matches a pattern such as `/beliefs/:id`; null if it does not match. */
export function match(pattern: string, given: string): Readonly<Record<string, string>> | null {
  const wanted = pattern.split('/')
  const parts = given.replace(/\/$/, '').split('/')
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

/** Null for an invalid escape sequence. */
function decode(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}

/** A path from unescaped parts. */
export const address = (...parts: readonly string[]): string => `/${parts.map(encodeURIComponent).join('/')}`

/** Pages of earlier versions, each with the page that contains it now. */
const moved: Readonly<Record<string, string>> = {
  '/growth': '/status',
  '/health': '/status',
  '/hosts': '/status',
  '/evaluation/live': '/status',
  '/evaluation/runs': '/evaluation',
  '/evaluation/baselines': '/evaluation',
}

/** The new path of a moved page; null for any other path. */
export const findMovedPath = (path: string): string | null => {
  const former = path.replace(/\/$/, '')
  return Object.hasOwn(moved, former) ? (moved[former] ?? null) : null
}
