import type { Belief, BeliefType } from '../../../beliefs/belief.ts'
import { universalScope } from '../../../beliefs/scope.ts'

/** One list item of the file: a belief as text. */
export type Item = {
  /** Null for a line written by hand. */
  readonly id: string | null
  /** Null if the line does not begin with a bold name. */
  readonly name: string | null
  readonly content: string
  readonly why: string
  readonly aliases: readonly string[]
  /** From the `scopes:` line, which only beliefs with several scopes have; null means the scope of the section. */
  readonly scopes: readonly string[] | null
}

/** The section of an item. `type` is null between the heading of a scope and the first heading of a type. */
export type Section = { readonly scope: string; readonly type: BeliefType | null }

const fieldNames = ['name', 'content', 'why', 'aliases', 'scopes', 'type'] as const

/** The fields that are compared and merged: those of an item and of its section. */
export type ItemFields = Pick<Belief, (typeof fieldNames)[number]>

/** The scope whose section lists the belief. */
export const homeScope = (belief: Belief): string => belief.scopes[0] as string

/** The item for a belief, as lines without line ends. */
export function renderItem(belief: Belief): readonly string[] {
  const [first, ...others] = escapeText(belief.content).split('\n')
  const details: readonly (readonly [string, string])[] = [
    ['why', escapeText(belief.why)],
    ['aliases', joinList(belief.aliases)],
    ['scopes', belief.scopes.length > 1 ? joinList(belief.scopes) : ''],
  ]
  return [
    `- **${escapeLine(belief.name).replace(/[\\*]/gu, '\\$&')}**: ${first} ${idComment(belief)}`,
    ...others.map((line) => (line === '' ? '' : `  ${line.replace(detailLookalike, '\\$&')}`)),
    ...details.filter(([, text]) => text !== '').flatMap(([label, text]) => renderDetail(label, text)),
  ]
}

function renderDetail(label: string, text: string): readonly string[] {
  const [first, ...others] = text.split('\n')
  return [`  - ${label}: ${first}`, ...others.map((line) => (line === '' ? '' : `    ${line}`))]
}

const statusWords = { active: '', inferred: ' unconfirmed', exploratory: ' unsettled', superseded: '' } as const

const idComment = ({ id, status, pinned }: Belief): string =>
  `<!-- credence:${escapeId(id)}${statusWords[status]}${pinned ? ' pinned' : ''} -->`

export const idCommentPattern =
  /[ \t]?<!--[ \t]*credence:(?!(?:mirror|new|topics?)[ \t])([^\s<>]+)((?:[ \t]+[a-z]+)*)[ \t]*-->/u

const detail = /^[-*+] (why|aliases|scopes):(?: |$)/iu
/** A line of a statement that looks like a detail gets a backslash in front, even if it already begins with backslashes. */
const detailLookalike = /^\\*[-*+] (?:why|aliases|scopes):(?= |$)/iu
const escapedLookalike = /^\\(\\*[-*+] (?:why|aliases|scopes):(?: |$))/iu
const boldName = /^\*\*((?:\\[\\*]|\\(?![\\*])|\*(?!\*)|[^*\\])+?)(:?)\*\*(:?)[ \t]?(.*)$/su
const taskBox = /^\[[ xX]\][ \t]+(?=\S)/u

/** Reads an item: the text after the bullet, and the indented lines below it. */
export function parseItem(head: string, below: readonly string[]): Item {
  const comment = idCommentPattern.exec(head)
  // Only lines written by hand can be tasks; the text of a belief may begin with a box that belongs to it.
  const said =
    comment === null
      ? head.replace(taskBox, '')
      : head.slice(0, comment.index) + head.slice(comment.index + comment[0].length)
  const { name, first } = splitName(said)
  const content = [first]
  const details = new Map<string, string[]>()
  let current: string[] | null = null
  for (const line of below) {
    const text = line.replace(/^(?: {2}|\t)/u, '')
    const label = detail.exec(text)?.[1]?.toLowerCase()
    if (label !== undefined && !details.has(label)) {
      current = [text.slice(text.indexOf(':') + 1).replace(/^ /u, '')]
      details.set(label, current)
    } else if (current !== null && (text.trim() === '' || /^(?: {2}|\t)/u.test(text))) {
      current.push(text.replace(/^(?: {2}|\t)/u, ''))
    } else {
      current = null
      content.push(text.replace(escapedLookalike, '$1'))
    }
  }
  const textOf = (label: string): string => (details.get(label) ?? []).join('\n').trim()
  const listOf = (label: string): readonly string[] => splitList(textOf(label).replaceAll('\n', ' '))
  const scopes = listOf('scopes')
  return {
    id: comment?.[1] === undefined ? null : unescapeId(comment[1]),
    name,
    content: unescapeText(content.join('\n')).trim(),
    why: unescapeText(textOf('why')),
    aliases: listOf('aliases'),
    scopes: scopes.length === 0 ? null : scopes,
  }
}

/** Splits `**name**: statement`. Bold without a colon is part of the statement. */
function splitName(said: string): { readonly name: string | null; readonly first: string } {
  const [, bold = '', innerColon, outerColon, rest = ''] = boldName.exec(said) ?? []
  if (innerColon !== ':' && outerColon !== ':') return { name: null, first: said }
  const text = outerColon === ':' ? `${bold}${innerColon}` : bold
  const name = unescapeText(text.replace(/\\([\\*])/gu, '$1')).trim()
  return name === '' ? { name: null, first: said } : { name, first: rest }
}

export const fieldsOfBelief = (belief: Belief): ItemFields =>
  Object.fromEntries(fieldNames.map((field) => [field, belief[field]])) as ItemFields

/** The fields of an item. A field that neither the item nor its section gives keeps the belief's value. */
export function fieldsOfItem(item: Item, section: Section | null, belief: Belief | null): ItemFields {
  const home = belief === null ? null : homeScope(belief)
  const placed = section?.scope ?? home ?? universalScope
  const scopes = item.scopes?.map((scope) => (scope === home ? placed : scope)) ?? [placed]
  return {
    name: item.name ?? belief?.name ?? '',
    content: item.content,
    why: item.why,
    aliases: item.aliases,
    scopes: [...new Set(scopes)].sort(),
    type: section?.type ?? belief?.type ?? 'entity',
  }
}

export const isSameField = (field: keyof ItemFields, a: ItemFields, b: ItemFields): boolean =>
  comparable(a[field]) === comparable(b[field])

export const isSameItem = (a: ItemFields, b: ItemFields): boolean =>
  fieldNames.every((field) => isSameField(field, a, b))

/** Ignores trailing spaces, which editors strip, and Unicode normalisation, which some editors and file systems change. */
const comparable = (value: string | readonly string[]): string =>
  JSON.stringify(typeof value === 'string' ? normaliseText(value) : value.map(normaliseText).sort())

const normaliseText = (text: string): string =>
  text
    .normalize('NFC')
    .split(/\r\n?|\n/u)
    .map((line) => line.trimEnd())
    .join('\n')
    .trim()

/** Merges two versions field by field; null if both changed the same field to different values. */
export function mergeFields(base: ItemFields, stored: ItemFields, said: ItemFields): ItemFields | null {
  const isChanged = (field: keyof ItemFields, fields: ItemFields): boolean => !isSameField(field, fields, base)
  const clash = fieldNames.some(
    (field) => isChanged(field, stored) && isChanged(field, said) && !isSameField(field, stored, said),
  )
  if (clash) return null
  const edited = fieldNames.filter((field) => isChanged(field, said)).map((field) => [field, said[field]])
  return { ...stored, ...Object.fromEntries(edited) }
}

/**
 * Escapes three sequences as entities: the beginning of a comment, because ids are in comments; a bare carriage return, which some
 * programs take for a line end; and line ends in names and lists. An entity that the text itself contains gets one more `amp;`,
 * so that reading reverses writing.
 */
const entities: Readonly<Record<string, string>> = { 'lt;!--': '<!--', '#13;': '\r', '#10;': '\n' }
const writtenEntity = /&((?:amp;)*)(lt;!--|#13;|#10;)/gu

const escapeText = (text: string): string =>
  text.replace(writtenEntity, '&amp;$1$2').replaceAll('<!--', '&lt;!--').replaceAll('\r', '&#13;')

const escapeLine = (text: string): string => escapeText(text).replaceAll('\n', '&#10;')

const unescapeText = (text: string): string =>
  text.replace(writtenEntity, (_whole, amps: string, entity: string) =>
    amps === '' ? (entities[entity] ?? '') : `&${amps.slice('amp;'.length)}${entity}`,
  )

const joinList = (texts: readonly string[]): string =>
  texts.map((text) => escapeLine(text).replace(/[\\,]/gu, '\\$&')).join(', ')

const splitList = (line: string): readonly string[] =>
  [...line.matchAll(/(?:\\[\\,]|[^,])+/gu)]
    .map(([part]) => unescapeText(part.trim().replace(/\\([\\,])/gu, '$1')))
    .filter((text) => text.trim() !== '')

/** An id may contain anything except spaces. Escaped, it can neither end its comment nor turn it into a different one of ours. */
export const escapeId = (id: string): string =>
  encodeURIComponent(id)
    .replaceAll('--', '-%2D')
    .replace(/^(?:mirror|new|topics?)$/u, (word) => `%${word.charCodeAt(0).toString(16)}${word.slice(1)}`)

function unescapeId(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    // Invalid percent encoding: the comment is not ours.
    return null
  }
}
