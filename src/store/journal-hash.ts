import { hash } from 'node:crypto'
import type { BeliefChange, Commit } from '../beliefs/journal.ts'
import type { NewTurn } from '../beliefs/turn.ts'

/** What the first event names as its predecessor. */
export const beforeFirst: Uint8Array = new Uint8Array(32)

export const saltBytes = 16

/** One change as the journal keeps it. `bodyHash` stays when the text is erased, so the chain still verifies. */
export type SealedChange = {
  readonly beliefId: string
  readonly version: number
  readonly outcome: BeliefChange['outcome']
  /** Null when the change left no text behind. */
  readonly bodyHash: Uint8Array | null
}

export type SealedEvent = Omit<Commit, 'changes' | 'turns' | 'forgottenTurns'> & { readonly number: number }

/** What an event did to one turn: kept it, with the hash of what was said, or forgot it. */
export type SealedTurn = { readonly id: string; readonly hash: Uint8Array | null }

/** The salt is erased together with the text, so that a forgotten text cannot be guessed from its hash. */
export const hashBody = (salt: Uint8Array, body: string): Uint8Array =>
  hash('sha256', Buffer.concat([salt, Buffer.from(body)]), 'buffer')

/** One hash over what an event did, in order. */
export const hashChanges = (changes: readonly SealedChange[], turns: readonly SealedTurn[] = []): Uint8Array =>
  hash(
    'sha256',
    JSON.stringify([
      ...changes.map(({ beliefId, version, outcome, bodyHash }) => [
        beliefId,
        version,
        outcome,
        bodyHash === null ? null : toHex(bodyHash),
      ]),
      ...turns.map((turn) => [turn.id, turn.hash === null ? null : toHex(turn.hash)]),
    ]),
    'buffer',
  )

/** Everything about a turn that its hash vouches for. Its place is not: that may change when earlier turns arrive. */
export const turnBody = (turn: Omit<NewTurn, 'index' | 'user'>): string => {
  const { id, session, role, speaker, at, scope, host, origin, messageId, text } = turn
  return JSON.stringify([id, session, role, speaker, at, scope, host, origin, messageId, text])
}

/** Binds an event to everything before it. */
export function hashEvent(event: SealedEvent, changesHash: Uint8Array, previous: Uint8Array): Uint8Array {
  const { number, user, kind, actor, origin, at, key, undoes } = event
  const fields = [number, user, kind, actor, origin, at, key?.value ?? null, key?.fingerprint ?? null, undoes]
  return hash('sha256', JSON.stringify([toHex(previous), fields, toHex(changesHash)]), 'buffer')
}

export const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
