import type { Belief } from '../../beliefs/belief.ts'
import type { Edited } from '../../memory/change/edit.ts'
import { harmless, indented, type Style } from './output.ts'

/** What sets a belief apart from the usual: settled, current, certain, and everyone's. */
export function marksOf(belief: Belief): readonly string[] {
  return [
    belief.subtype ?? belief.type.replace('_', ' '),
    ...belief.scopes,
    ...(belief.pinned ? ['pinned'] : []),
    ...(belief.status === 'active' || belief.status === 'superseded' || belief.proposedFor !== null
      ? []
      : [belief.status]),
    ...(belief.confidence < 1 ? [`confidence ${belief.confidence}`] : []),
    ...(belief.agent === null ? [] : [`only for ${belief.agent}`]),
    ...(belief.supersededBy === null ? [] : [`superseded by ${belief.supersededBy}`]),
    ...(belief.resolvedAt === null ? [] : [`settled ${dayOf(belief.resolvedAt)}`]),
    ...(belief.proposedFor === null ? [] : [`proposed for ${belief.proposedFor}`]),
  ].map(harmless)
}

/** Its name and id, and what there is to know about it in a few words. */
export const headline = (belief: Belief, style: Style): string =>
  `${style.bold(harmless(belief.name))}  ${style.dim(`${harmless(belief.id)}  ${marksOf(belief).join(', ')}`)}`

/** Headline, statement and reason: one belief in a list. */
export function beliefBlock(belief: Belief, style: Style, { before = '' }: { readonly before?: string } = {}): string {
  const indent = 4
  return [
    `  ${before}${headline(belief, style)}`,
    indented(harmless(belief.content), indent, style.width),
    ...(belief.why === '' ? [] : [indented(`Why: ${harmless(belief.why)}`, indent, style.width)]),
  ].join('\n')
}

/** The name in quotes and the id, for use within a sentence. */
export const called = (belief: Pick<Belief, 'name' | 'id'>): string =>
  `"${harmless(belief.name)}" (${harmless(belief.id)})`

/** Everything a belief can be found by. */
export const foundBy = ({ name, aliases }: Belief): string => `Found by: ${[name, ...aliases].map(harmless).join(', ')}`

/** A statement cut to the length of one line. */
export function short(text: string, longest = 72): string {
  const flat = harmless(text.replace(/\s+/gu, ' '))
  const characters = [...flat]
  return characters.length <= longest
    ? flat
    : `${characters
        .slice(0, longest - 1)
        .join('')
        .trimEnd()}…`
}

export const dayOf = (time: string): string => time.slice(0, 10)

/** To the minute, in UTC. */
export const minuteOf = (time: string): string => `${time.slice(0, 10)} ${time.slice(11, 16)}`

/** What became of an edit: done, not needed, or waiting for somebody with more authority. */
export function editedText({ outcome, belief }: Edited, done: string, unchanged: string, style: Style): string {
  switch (outcome) {
    case 'edited':
      return `${style.green(done)}: ${called(belief)}.`
    case 'unchanged':
      return `${unchanged}: ${called(belief)}.`
    case 'proposed':
      return [
        `${style.yellow('Proposed')} ${called(belief)}: someone with more authority has to decide.`,
        `  A person decides with: credence proposals accept ${harmless(belief.id)}`,
      ].join('\n')
  }
}
