import type { Belief } from '../beliefs/belief.ts'
import type { BeliefStore } from '../beliefs/belief-store.ts'
import type { BeliefChange, Commit } from '../beliefs/journal.ts'
import type { NewTurn } from '../beliefs/turn.ts'
import type { TurnStore } from '../beliefs/turn-store.ts'
import type { FormIndex, FullText } from '../search/form-index.ts'
import type { MeaningIndex, TurnIndex } from '../search/turns/turn-index.ts'

export type AnyStore = BeliefStore & FormIndex & FullText & TurnStore & TurnIndex & MeaningIndex

const at = '2026-03-01T12:00:00.000Z'

/** One of Ada's beliefs, with defaults for all fields that a test does not set. */
export const sample = (fields: Partial<Belief> & { readonly id: string }): Belief => ({
  user: 'ada',
  agent: null,
  type: 'entity',
  subtype: null,
  name: `Name of ${fields.id}`,
  aliases: [],
  content: `What is true of ${fields.id}.`,
  why: '',
  scopes: ['project:ledger'],
  status: 'active',
  confidence: 1,
  pinned: false,
  editedByPerson: false,
  supersededBy: null,
  proposedFor: null,
  candidate: false,
  resolvedAt: null,
  resolvedBy: null,
  participants: [],
  relation: null,
  expertise: null,
  provenance: { actor: 'person', origin: 'test', sourceId: null, model: null, at },
  reinforcement: { count: 0, at },
  createdAt: at,
  updatedAt: at,
  version: 1,
  ...fields,
})

export const presentChange = (after: Belief, expectedVersion = after.version - 1): BeliefChange => ({
  beliefId: after.id,
  expectedVersion,
  outcome: 'present',
  after,
})

export const erasedChange = (belief: Belief, outcome: 'absent' | 'erased'): BeliefChange => ({
  beliefId: belief.id,
  expectedVersion: belief.version,
  outcome,
  after: null,
})

/** The next version of a belief, in which `fields` have changed. */
export const nextVersion = (belief: Belief, fields: Partial<Belief>): Belief => ({
  ...belief,
  ...fields,
  version: belief.version + 1,
})

export const commitOf = (changes: readonly BeliefChange[], fields: Partial<Commit> = {}): Commit => ({
  user: 'ada',
  kind: 'remember',
  actor: 'person',
  origin: 'test',
  at,
  key: null,
  undoes: null,
  changes,
  ...fields,
})

/** Deterministic salts, equal in every run and every store. */
export const fixedRandom = (bytes: number): Uint8Array =>
  Uint8Array.from({ length: bytes }, (_, at) => (at * 73 + 41) % 251)

let made = 0

/** One of Ada's turns, with defaults for all fields that a test does not set. */
export const sampleTurn = (text: string, fields: Partial<NewTurn> = {}): NewTurn => {
  made += 1
  return {
    id: `t-${made}`,
    user: 'ada',
    session: 's1',
    index: null,
    role: 'user',
    speaker: null,
    at: new Date(Date.UTC(2026, 4, 3, 10) + made * 3_600_000).toISOString(),
    utcOffset: null,
    scope: 'user:universal',
    host: 'test',
    origin: 'person',
    messageId: null,
    text,
    doubtful: [],
    ...fields,
  }
}
