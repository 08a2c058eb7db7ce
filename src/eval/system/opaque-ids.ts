import { createHash } from 'node:crypto'
import type { BeliefRecord } from '../../memory/transfer/belief-record.ts'
import type { Answer, BeliefUpdate } from './system.ts'

/** Turns ids of a case file into ids that tell nothing, and back. */
export type OpaqueIds = {
  hideBelief(belief: BeliefRecord): BeliefRecord
  hideUpdate(update: BeliefUpdate): BeliefUpdate
  revealAnswer(answer: Answer): Answer
}

/**
 * Ids in fixtures often say what a belief is about, and sometimes which case it serves. A system under test gets hashes
 * instead, salted with `salt`, which must be something the system does not see.
 */
export function opaqueIds(ids: Iterable<string>, salt: string): OpaqueIds {
  const hidden = new Map(
    [...ids].map((id) => [id, `m-${createHash('sha256').update(`${salt}\n${id}`).digest('hex').slice(0, 20)}`]),
  )
  const revealed = new Map([...hidden].map(([id, opaque]) => [opaque, id]))

  const hide = (id: string): string => hidden.get(id) ?? opaqueStranger(id)
  const hideOrNull = (id: string | null): string | null => (id === null ? null : hide(id))
  // An id nobody gave out is noise; the prefix keeps it from passing for the belief it may be named after.
  const reveal = (id: string): string => revealed.get(id) ?? `unknown:${id}`
  const revealAll = (all: readonly string[]): readonly string[] => [...new Set(all)].map(reveal)

  /** A participant may be a name instead of an id; names stay. */
  const hideParticipant = (participant: string): string => hidden.get(participant) ?? participant
  const opaqueStranger = (id: string): string =>
    `m-${createHash('sha256').update(`${salt}\nstranger\n${id}`).digest('hex').slice(0, 20)}`

  const hideBelief = (belief: BeliefRecord): BeliefRecord => ({
    ...belief,
    id: hide(belief.id),
    supersededBy: hideOrNull(belief.supersededBy),
    proposedFor: hideOrNull(belief.proposedFor),
    resolvedBy: hideOrNull(belief.resolvedBy),
    participants: belief.participants.map(hideParticipant),
    // Where a belief came from names files, sessions and turns of the fixture.
    provenance: { ...belief.provenance, origin: 'corpus', sourceId: null },
  })

  return {
    hideBelief,
    hideUpdate: (update) =>
      update.kind === 'create'
        ? { kind: 'create', belief: hideBelief(update.belief) }
        : { ...update, beliefId: hide(update.beliefId) },
    revealAnswer: (answer) => ({
      ...answer,
      pinned: revealAll(answer.pinned),
      questions: revealAll(answer.questions),
      relevant: withoutRepeats(answer.relevant).map((hit) => ({ ...hit, id: reveal(hit.id) })),
      ...(answer.nearMisses === undefined
        ? {}
        : {
            nearMisses: answer.nearMisses.map((miss) => ({
              id: reveal(miss.id),
              reason: revealIn(miss.reason, revealed),
            })),
          }),
    }),
  }
}

/** The same belief twice is one belief, at its best place. */
export function withoutRepeats<Hit extends { readonly id: string }>(hits: readonly Hit[]): readonly Hit[] {
  const seen = new Set<string>()
  return hits.filter(({ id }) => !seen.has(id) && seen.add(id) !== null)
}

/** A reason for a person may name another belief. */
const revealIn = (text: string, revealed: ReadonlyMap<string, string>): string =>
  text.replace(/\bm-[0-9a-f]{20}\b/gu, (id) => revealed.get(id) ?? id)
