import type { Belief } from '../../beliefs/belief.ts'
import type { Turn } from '../../beliefs/turn.ts'
import { termsIn } from '../../search/turns/strength.ts'
import type { Ports } from '../ports.ts'
import { states } from '../recall/retired-quotes.ts'

/** Max turns to compare with one belief; those with the most words of the belief come first. */
const maxCompared = 500
/** Min share of a belief's words that a turn must contain to count as stating it. */
const minShared = 0.5

/** The turns that beliefs were learned from, and other turns that make the same statements, oldest first. */
export async function findTurnsStating(
  { store }: Pick<Ports, 'store'>,
  user: string,
  beliefs: readonly Belief[],
): Promise<readonly Turn[]> {
  const found = new Map<string, Turn>()
  for (const belief of beliefs) {
    const { sourceId } = belief.provenance
    const source = sourceId === null ? null : await store.getTurn(user, sourceId)
    if (source !== null) found.set(source.id, source)
    const terms = [...termsIn(belief.content)]
    const postings = await store.turnPostings({ user, scopes: null }, terms)
    const shared = new Map<number, number>()
    for (const { rows } of postings.terms.values()) for (const row of rows) shared.set(row, (shared.get(row) ?? 0) + 1)
    const likely = [...shared]
      .filter(([, count]) => count >= minShared * terms.length)
      .sort(([, a], [, b]) => b - a)
      .slice(0, maxCompared)
      .map(([row]) => row)
    for (const turn of (await store.turnsAt(user, likely)).values())
      if (states({ turn: turn.id, text: turn.text }, belief)) found.set(turn.id, turn)
  }
  return [...found.values()].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
}
