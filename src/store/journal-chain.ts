import { hash } from 'node:crypto'
import type { BeliefChange, Commit } from '../beliefs/journal.ts'
import type { NewTurn } from '../beliefs/turn.ts'
import type { CheckedChange } from './checked-commit.ts'

/** The predecessor hash of the first event. */
export const beforeFirst: Uint8Array = new Uint8Array(32)

const saltBytes = 16

/** One change as the journal records it. `bodyHash` stays when the text is erased, so the chain still verifies. */
export type SealedChange = {
  readonly beliefId: string
  readonly version: number
  readonly outcome: BeliefChange['outcome']
  /** Null when the change left no text behind. */
  readonly bodyHash: Uint8Array | null
}

export type SealedEvent = Omit<Commit, 'changes' | 'turns' | 'forgottenTurns'> & { readonly number: number }

/** What an event did to one turn: kept it, with the hash of its text, or forgot it. */
export type SealedTurn = { readonly id: string; readonly hash: Uint8Array | null }

/** A change with the salt and the text to store. */
export type WrittenChange = SealedChange & { readonly salt: Uint8Array | null; readonly body: string | null }

/** Hashes the text of each change. The salts of a whole commit are drawn at once. */
export function sealChanges(
  changes: readonly CheckedChange[],
  random: (bytes: number) => Uint8Array,
): readonly WrittenChange[] {
  const saltAt = drawSalts(changes.length, random)
  return changes.map(({ beliefId, expectedVersion, outcome, after }, index) => {
    if (after === null) return { beliefId, version: expectedVersion, outcome, bodyHash: null, salt: null, body: null }
    const [salt, body] = [saltAt(index), JSON.stringify(after)]
    return { beliefId, version: after.version, outcome, bodyHash: hashBody(salt, body), salt, body }
  })
}

export function sealTurns(turns: readonly NewTurn[], random: (bytes: number) => Uint8Array) {
  const saltAt = drawSalts(turns.length, random)
  return turns.map((turn, index) => {
    const salt = saltAt(index)
    return { id: turn.id, turn, salt, hash: hashBody(salt, turnBody(turn)) }
  })
}

export const forgotten = (ids: readonly string[]): readonly SealedTurn[] => ids.map((id) => ({ id, hash: null }))

function drawSalts(count: number, random: (bytes: number) => Uint8Array): (index: number) => Uint8Array {
  const salts = random(saltBytes * count)
  return (index) => salts.subarray(index * saltBytes, (index + 1) * saltBytes)
}

/** The salt is erased together with the text, so that a forgotten text cannot be guessed from its hash. */
export const hashBody = (salt: Uint8Array, body: string): Uint8Array =>
  hash('sha256', Buffer.concat([salt, Buffer.from(body)]), 'buffer')

/** One hash over everything that an event did, in order. */
export const hashChanges = (changes: readonly SealedChange[], turns: readonly SealedTurn[] = []): Uint8Array => {
  const hexOrNull = (bytes: Uint8Array | null): string | null => (bytes === null ? null : toHex(bytes))
  const rows = [
    ...changes.map(({ beliefId, version, outcome, bodyHash }) => [beliefId, version, outcome, hexOrNull(bodyHash)]),
    ...turns.map((turn) => [turn.id, hexOrNull(turn.hash)]),
  ]
  return hash('sha256', JSON.stringify(rows), 'buffer')
}

/** The fields of a turn that its hash covers. `index` is not covered: it may change when earlier turns arrive. */
export const turnBody = (turn: Omit<NewTurn, 'index' | 'user'>): string => {
  const { id, session, role, speaker, at, scope, host, origin, messageId, text } = turn
  return JSON.stringify([id, session, role, speaker, at, scope, host, origin, messageId, text])
}

/** The hash of an event covers the hash of its predecessor, and so everything before it. */
export function hashEvent(event: SealedEvent, changesHash: Uint8Array, previous: Uint8Array): Uint8Array {
  const { number, user, kind, actor, origin, at, key, undoes } = event
  const fields = [number, user, kind, actor, origin, at, key?.value ?? null, key?.fingerprint ?? null, undoes]
  return hash('sha256', JSON.stringify([toHex(previous), fields, toHex(changesHash)]), 'buffer')
}

export const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/**
 * The event that undid `number`, or null. An undo that was itself undone does not count, so that a redone event can be
 * undone again. `undosOf` gives the events that undo an event, newest first.
 */
export function undoneBy(number: number, undosOf: (number: number) => readonly number[]): number | null {
  return undosOf(number).find((undo) => undoneBy(undo, undosOf) === null) ?? null
}
