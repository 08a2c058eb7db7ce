import type { Belief } from '../../beliefs/belief.ts'
import { lowConfidence, type Prelude } from './context.ts'

/** More than this many standing beliefs never fit; what is left out is the least recently confirmed. */
export const mostPreludeBeliefs = 40

/**
 * Standing instructions and preferences as prose: every statement in the person's own words, in the order given, as many as fit; then
 * what to do about each, where that still fits. What is not settled is left out.
 */
export function preludeOf(standing: readonly Belief[], maxCharacters: number): Prelude | null {
  const settled = standing.filter((belief) => belief.status !== 'exploratory')
  const lines: { belief: Belief; text: string }[] = []
  // Every line but the first costs a line break as well.
  let room = maxCharacters + 1
  for (const belief of settled) {
    const text = statementOf(belief)
    if (text.length + 1 > room) continue
    lines.push({ belief, text })
    room -= text.length + 1
  }
  if (lines.length === 0) return null
  for (const line of lines) {
    const why = line.belief.why === '' ? '' : ` ${asSentence(line.belief.why)}`
    if (why.length > room) continue
    line.text += why
    room -= why.length
  }
  return { text: lines.map(({ text }) => text).join('\n'), beliefIds: lines.map(({ belief }) => belief.id) }
}

function statementOf({ status, content, confidence }: Belief): string {
  const tendency = status === 'inferred' ? 'Tends to: ' : ''
  const doubt = confidence < lowConfidence ? ` (confidence ${confidence})` : ''
  return `${tendency}${asSentence(content)}${doubt}`
}

const asSentence = (text: string): string => {
  const flat = text.replace(/\s+/gu, ' ').trim()
  return /[.!?…:;"”')\]]$/u.test(flat) ? flat : `${flat}.`
}
