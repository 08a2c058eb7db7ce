import type { Belief } from '../../beliefs/belief.ts'
import { localDay, localMinute } from '../../local-time.ts'
import type { Edited } from '../../memory/change/edit.ts'
import { columns, harmless, indented, lines, type Style } from './output.ts'

/** Everything that is not usual about a belief; usual is active, certain, and visible to every agent. */
export function marksOf(belief: Belief): readonly string[] {
  const { status, agent, supersededBy, resolvedAt, proposedFor } = belief
  const isUsual = status === 'active' || status === 'superseded' || proposedFor !== null
  return [
    belief.subtype ?? belief.type.replace('_', ' '),
    ...belief.scopes,
    belief.pinned && 'pinned',
    !isUsual && status,
    belief.confidence < 1 && `confidence ${belief.confidence}`,
    agent !== null && `only for ${agent}`,
    supersededBy !== null && `superseded by ${supersededBy}`,
    resolvedAt !== null && `settled ${localDay(resolvedAt)}`,
    proposedFor !== null && `proposed for ${proposedFor}`,
  ]
    .filter((mark) => typeof mark === 'string')
    .map(harmless)
}

export const headline = (belief: Belief, style: Style, age: readonly string[] = []): string =>
  `${style.bold(harmless(belief.name))}  ${style.dim(`${harmless(belief.id)}  ${[...marksOf(belief), ...age].join(', ')}`)}`

/** Headline, statement and reason: one belief in a list. */
export const beliefBlock = (
  belief: Belief,
  style: Style,
  { before = '', age = [] }: { readonly before?: string; readonly age?: readonly string[] | undefined } = {},
): string =>
  lines(
    `  ${before}${headline(belief, style, age)}`,
    indented(harmless(belief.content), 4, style.width),
    belief.why !== '' && indented(`Why: ${harmless(belief.why)}`, 4, style.width),
  )

/** The name in quotes and the id, for use within a sentence. */
export const called = (belief: Pick<Belief, 'name' | 'id'>): string =>
  `"${harmless(belief.name)}" (${harmless(belief.id)})`

/** Everything a belief can be found by. */
export const foundBy = ({ name, aliases }: Belief): string => `Found by: ${[name, ...aliases].map(harmless).join(', ')}`

/** A statement cut to the length of one line. */
export function short(text: string, longest = 72): string {
  const characters = [...harmless(text.replace(/\s+/gu, ' '))]
  if (characters.length <= longest) return characters.join('')
  return `${characters
    .slice(0, longest - 1)
    .join('')
    .trimEnd()}…`
}

/** The outcome of an edit: done, not needed, or proposed to someone with more authority. */
export function editedText({ outcome, belief }: Edited, done: string, unchanged: string, style: Style): string {
  switch (outcome) {
    case 'edited':
      return `${style.green(done)}: ${called(belief)}.`
    case 'unchanged':
      return `${unchanged}: ${called(belief)}.`
    case 'proposed':
      return lines(
        `${style.yellow('Proposed')} ${called(belief)}: another author wrote it, so a person has to decide.`,
        `  A person decides with: ${style.command} review accept ${harmless(belief.id)}`,
      )
  }
}

/** The versions of a belief, oldest first, with `id` marked. */
export const chainText = (chain: readonly Belief[], id: string, style: Style): string =>
  columns(
    chain.map((one) => [
      one.id === id ? '>' : ' ',
      localMinute(one.createdAt),
      harmless(one.id),
      one.supersededBy !== null ? 'superseded' : one.resolvedAt !== null ? 'settled' : 'holds',
      short(one.content),
    ]),
    { width: style.width },
  )
