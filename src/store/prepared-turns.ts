import { hash } from 'node:crypto'
import type { NewTurn } from '../beliefs/turn.ts'
import { unitsOf } from '../search/turns/passages.ts'
import { sealTurns } from './journal-chain.ts'

/** Computes everything about turns that does not need the store, so that it is locked for a shorter time. */
export const prepareTurns = (turns: readonly NewTurn[], random: (bytes: number) => Uint8Array) =>
  sealTurns(turns, random).map((sealed) => ({ ...sealed, units: unitsOf(sealed.turn.text) }))

export type PreparedTurn = ReturnType<typeof prepareTurns>[number]

/** Equal for turns with the same session, role and words. */
export const wordsKey = ({ session, role, text }: Pick<NewTurn, 'session' | 'role' | 'text'>): Buffer =>
  hash('sha256', JSON.stringify([session, role, text]), 'buffer').subarray(0, 8)
