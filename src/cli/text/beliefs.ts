import type { Belief } from '../../beliefs/belief.ts'
import { localDay } from '../../local-time.ts'
import type { EditResult } from '../../memory/change/edit.ts'
import { indentText, lines, type Style } from './output.ts'

/** The kind and scopes of a belief, and everything unusual. A usual belief is active, certain and visible to every agent. */
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
  ].filter((mark) => typeof mark === 'string')
}

export const headline = (belief: Belief, style: Style, age: readonly string[] = []): string =>
  `${style.bold(belief.name)}  ${style.dim(`${belief.id}  ${[...marksOf(belief), ...age].join(', ')}`)}`

/** Headline, statement and reason: one belief in a list. */
export const beliefBlock = (
  belief: Belief,
  style: Style,
  { before = '', age = [] }: { readonly before?: string; readonly age?: readonly string[] | undefined } = {},
): string =>
  lines(
    `  ${before}${headline(belief, style, age)}`,
    indentText(belief.content, 4, style.width),
    belief.why !== '' && indentText(`Why: ${belief.why}`, 4, style.width),
  )

/** The name in quotes and the id, for use within a sentence. */
export const nameText = (belief: Pick<Belief, 'name' | 'id'>): string => `"${belief.name}" (${belief.id})`

/** The name and the aliases by which a belief is found. */
export const formsText = ({ name, aliases }: Belief): string => `Found by: ${[name, ...aliases].join(', ')}`

/** A statement cut to the length of one line. */
export function shortenText(text: string, maxLength = 72): string {
  const characters = [...text.replace(/\s+/gu, ' ')]
  if (characters.length <= maxLength) return characters.join('')
  return `${characters
    .slice(0, maxLength - 1)
    .join('')
    .trimEnd()}…`
}

/** The outcome of an edit: done, not needed, or proposed to someone with more authority. */
export function editedText({ outcome, belief }: EditResult, done: string, unchanged: string, style: Style): string {
  switch (outcome) {
    case 'edited':
      return `${style.green(done)}: ${nameText(belief)}.`
    case 'unchanged':
      return `${unchanged}: ${nameText(belief)}.`
    case 'proposed':
      return lines(
        `${style.yellow('Proposed')} ${nameText(belief)}: another author wrote it, so a person has to decide.`,
        `  A person decides with: ${style.command} review accept ${belief.id}`,
      )
  }
}

/** The versions of a belief, oldest first, with `id` marked. */
export const versionRows = (chain: readonly Belief[], id: string): readonly object[] =>
  chain.map((belief) => ({
    ' ': belief.id === id ? '>' : '',
    createdAt: belief.createdAt,
    id: belief.id,
    state: belief.supersededBy !== null ? 'superseded' : belief.resolvedAt !== null ? 'settled' : 'holds',
    statement: shortenText(belief.content),
  }))
