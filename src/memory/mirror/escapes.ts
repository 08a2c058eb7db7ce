/**
 * What a text of a belief may not look like inside the file: the beginning of a comment, since ids stand in comments;
 * a bare carriage return, which some programs take for the end of a line; and, in names, the end of a line. Each is
 * written as the entity that Markdown shows as the character itself. Text that already looks like such an entity gets
 * one more `amp;`, so that what is read is what was written.
 */
const entities: readonly (readonly [entity: string, character: string])[] = [
  ['lt;!--', '<!--'],
  ['#13;', '\r'],
  ['#10;', '\n'],
]

const written = /&((?:amp;)*)(lt;!--|#13;|#10;)/gu

export const escapeText = (text: string): string =>
  text.replace(written, '&amp;$1$2').replaceAll('<!--', '&lt;!--').replaceAll('\r', '&#13;')

export const unescapeText = (text: string): string =>
  text.replace(written, (_whole, amps: string, entity: string) =>
    amps === '' ? (entities.find(([known]) => known === entity)?.[1] ?? '') : `&${amps.slice('amp;'.length)}${entity}`,
  )

/** On one line. */
export const escapeLine = (text: string): string => escapeText(text).replaceAll('\n', '&#10;')

/** A name stands between double asterisks. */
export const escapeName = (name: string): string => escapeLine(name).replace(/[\\*]/gu, '\\$&')

export const unescapeName = (text: string): string => unescapeText(text.replace(/\\([\\*])/gu, '$1'))

/** Aliases stand in one line with commas between them. */
export const joinList = (texts: readonly string[]): string =>
  texts.map((text) => escapeLine(text).replace(/[\\,]/gu, '\\$&')).join(', ')

export const splitList = (line: string): readonly string[] =>
  [...line.matchAll(/(?:\\[\\,]|[^,])+/gu)]
    .map(([part]) => unescapeText(part.trim().replace(/\\([\\,])/gu, '$1')))
    .filter((text) => text.trim() !== '')

/** Ids may be anything without spaces; in a comment they must not end it, nor read as another comment of ours. */
export const escapeId = (id: string): string =>
  encodeURIComponent(id)
    .replaceAll('--', '-%2D')
    .replace(/^(?:mirror|new|topics?)$/u, (word) => `%${word.charCodeAt(0).toString(16)}${word.slice(1)}`)

export function unescapeId(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    // Not written by us: a stray percent sign.
    return null
  }
}
