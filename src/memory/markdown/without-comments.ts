/**
 * Removes the comments from a text, and the space before each. Uses no pattern, because a pattern would read to the end of the
 * text again for each unclosed comment.
 */
export function withoutComments(text: string): string {
  const parts: string[] = []
  let at = 0
  for (;;) {
    const start = text.indexOf('<!--', at)
    const end = start < 0 ? -1 : text.indexOf('-->', start + 4)
    if (end < 0) return `${parts.join('')}${text.slice(at)}`
    parts.push(text.slice(at, start).replace(/[ \t]$/u, ''))
    at = end + 3
  }
}
