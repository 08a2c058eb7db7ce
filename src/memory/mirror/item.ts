import { createHmac } from 'node:crypto'
import type { Belief, BeliefType } from '../../beliefs/belief.ts'
import {
  escapeId,
  escapeName,
  escapeText,
  joinList,
  splitList,
  unescapeId,
  unescapeName,
  unescapeText,
} from './escapes.ts'

/** What one item of the file says. */
export type Item = {
  /** Null when the line has none: somebody wrote it by hand. */
  readonly id: string | null
  /** Null when nothing is set in bold at its beginning. */
  readonly name: string | null
  readonly content: string
  readonly why: string
  readonly aliases: readonly string[]
  /** All of its scopes, when it says so itself; else it belongs to the section it stands in. */
  readonly scopes: readonly string[] | null
}

/** The one section a belief is listed in. */
export const homeScope = (belief: Belief): string => belief.scopes[0] as string

/** The item of a belief, as lines without their ends. */
export function renderItem(belief: Belief): readonly string[] {
  const [first, ...others] = escapeText(belief.content).split('\n')
  const more: readonly (readonly [string, string])[] = [
    ['why', escapeText(belief.why)],
    ['aliases', joinList(belief.aliases)],
    ['scopes', belief.scopes.length > 1 ? joinList(belief.scopes) : ''],
  ]
  return [
    `- **${escapeName(belief.name)}**: ${first} ${comment(belief)}`,
    ...others.map((line) => (line === '' ? '' : `  ${line.replace(lookalike, '\\$&')}`)),
    ...more.filter(([, text]) => text !== '').flatMap(([label, text]) => labelled(label, text)),
  ]
}

function labelled(label: string, text: string): readonly string[] {
  const [first, ...others] = text.split('\n')
  return [`  - ${label}: ${first}`, ...others.map((line) => (line === '' ? '' : `    ${line}`))]
}

const standing = { active: '', inferred: ' unconfirmed', exploratory: ' unsettled', superseded: '' } as const

const comment = ({ id, status, pinned }: Belief): string =>
  `<!-- credence:${escapeId(id)}${standing[status]}${pinned ? ' pinned' : ''} -->`

/** Where an item says which belief it is. */
export const idComment =
  /[ \t]?<!--[ \t]*credence:(?!(?:mirror|new|topics?)[ \t])([^\s<>]+)((?:[ \t]+[a-z]+)*)[ \t]*-->/u

const label = /^[-*+] (why|aliases|scopes):(?: |$)/iu
/** A line of a statement that reads like one of our own gets a backslash before it, and one more if it has some. */
const lookalike = /^\\*[-*+] (?:why|aliases|scopes):(?= |$)/iu
const escapedLookalike = /^\\(\\*[-*+] (?:why|aliases|scopes):(?: |$))/iu
const boldName = /^\*\*((?:\\[\\*]|\\(?![\\*])|\*(?!\*)|[^*\\])+?)(:?)\*\*(:?)[ \t]?(.*)$/su

const taskBox = /^\[[ xX]\][ \t]+(?=\S)/u

/** Reads an item from its lines: the text after the bullet, and the lines that are indented below it. */
export function parseItem(head: string, below: readonly string[]): Item {
  const found = idComment.exec(head)
  const id = found?.[1] === undefined ? null : unescapeId(found[1])
  // What somebody wrote as a task is taken in as what it says; what is ours is read back as it was.
  const said =
    found === null ? head.replace(taskBox, '') : head.slice(0, found.index) + head.slice(found.index + found[0].length)
  const { name, first } = nameOf(said)
  const content = [first]
  const labelledTexts = new Map<string, string[]>()
  let current: string[] | null = null
  for (const line of below) {
    const text = line.replace(/^(?: {2}|\t)/u, '')
    const [, key] = label.exec(text) ?? []
    if (key !== undefined && !labelledTexts.has(key.toLowerCase())) {
      current = [text.slice(text.indexOf(':') + 1).replace(/^ /u, '')]
      labelledTexts.set(key.toLowerCase(), current)
    } else if (current !== null && (text.trim() === '' || /^(?: {2}|\t)/u.test(text))) {
      current.push(text.replace(/^(?: {2}|\t)/u, ''))
    } else {
      current = null
      content.push(text.replace(escapedLookalike, '$1'))
    }
  }
  const textOf = (key: string): string => (labelledTexts.get(key) ?? []).join('\n').trim()
  const scopes = splitList(textOf('scopes').replaceAll('\n', ' '))
  return {
    id,
    name,
    content: unescapeText(content.join('\n')).trim(),
    why: unescapeText(textOf('why')),
    aliases: splitList(textOf('aliases').replaceAll('\n', ' ')),
    scopes: scopes.length === 0 ? null : scopes,
  }
}

/** The bold beginning of a line, when it is what the line is about. */
export function nameOf(said: string): { readonly name: string | null; readonly first: string } {
  const [, bold, innerColon, outerColon, rest] = boldName.exec(said) ?? []
  // Bold with no colon is a stressed word in a sentence, not what the sentence is about.
  if (bold === undefined || (innerColon === '' && outerColon === '')) return { name: null, first: said }
  const isInner = innerColon === ':' && outerColon === ''
  const name = unescapeName(isInner ? bold : `${bold}${innerColon}`).trim()
  return name === '' ? { name: null, first: said } : { name, first: rest ?? '' }
}

/** What is compared to tell whether an item was changed. How it is written down does not matter. */
export type ItemFields = {
  readonly name: string
  readonly content: string
  readonly why: string
  readonly aliases: readonly string[]
  readonly scopes: readonly string[]
  readonly type: BeliefType
}

export const fieldNames = [
  'name',
  'content',
  'why',
  'aliases',
  'scopes',
  'type',
] as const satisfies (keyof ItemFields)[]

export const fieldsOfBelief = ({ name, content, why, aliases, scopes, type }: Belief): ItemFields => ({
  name,
  content,
  why,
  aliases,
  scopes,
  type,
})

/** Editors strip the ends of lines, and some file systems and editors normalise letters: neither is a change. */
const plain = (text: string): string =>
  text
    .normalize('NFC')
    .split(/\r\n?|\n/u)
    .map((line) => line.trimEnd())
    .join('\n')
    .trim()

export function isSameField(field: keyof ItemFields, one: ItemFields, other: ItemFields): boolean {
  return comparable(one[field]) === comparable(other[field])
}

export const isSameItem = (one: ItemFields, other: ItemFields): boolean =>
  fieldNames.every((field) => isSameField(field, one, other))

const comparable = (value: string | readonly string[]): string =>
  JSON.stringify(typeof value === 'string' ? plain(value) : value.map(plain).sort())

/** Stands for what an item says in the mirror's own records, which hold no text: what is forgotten leaves none there. */
export const itemHash = (key: string, fields: ItemFields): string =>
  createHmac('sha256', key)
    .update(JSON.stringify(fieldNames.map((field) => comparable(fields[field]))))
    .digest('base64url')
    .slice(0, 16)
