import type { Turn } from '../../../beliefs/turn.ts'
import { notFound, nullIfNotFound } from '../../../errors.ts'
import type { Memory } from '../../../memory/memory.ts'

/** Answers about the belief that a reference names, or about the turn if no belief has that name or id. */
export async function resolveBeliefOrTurn<Result>(
  memory: Memory,
  reference: string,
  { belief, turn }: { readonly belief: () => Promise<Result>; readonly turn: (found: Turn) => Promise<Result> },
): Promise<Result> {
  if (!reference.startsWith('t-')) return belief()
  // Ids of turns begin with "t-", but a belief may be called "t-shirt", so beliefs are tried first.
  const about = await nullIfNotFound(belief)
  if (about !== null) return about
  const found = await nullIfNotFound(() => memory.turn(reference))
  if (found !== null) return turn(found)
  throw notFound(
    `There is no belief or turn "${reference.slice(0, 80)}".`,
    'List beliefs with `credence beliefs` and turns with `credence conversations`, or look for words with `credence search`.',
  )
}
