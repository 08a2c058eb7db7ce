import { hash } from 'node:crypto'
import { actorKinds } from '../beliefs/belief.ts'
import { type NewTurn, type Turn, type TurnRole, turnRoles } from '../beliefs/turn.ts'
import { unitsOf } from '../search/turns/passages.ts'
import type { TurnUnit } from '../search/turns/turn-index.ts'
import { sealTurns } from './journal-chain.ts'

/** Computes everything about turns that does not need the store, so that it is locked for a shorter time. */
export const prepareTurns = (turns: readonly NewTurn[], random: (bytes: number) => Uint8Array) =>
  sealTurns(turns, random).map((sealed) => ({ ...sealed, units: unitsOf(sealed.turn.text) }))

export type PreparedTurn = ReturnType<typeof prepareTurns>[number]

/** Equal for turns with the same session, role and words. */
export const wordsKey = ({ session, role, text }: Pick<NewTurn, 'session' | 'role' | 'text'>): Buffer =>
  hash('sha256', JSON.stringify([session, role, text]), 'buffer').subarray(0, 8)

/** Tables hold these numbers in place of names. */
export const roleCode = (role: TurnRole): number => turnRoles.indexOf(role)
export const originCode = (origin: Turn['origin']): number => actorKinds.indexOf(origin)
// Only indexes of these lists are ever written.
export const roleOf = (code: number): TurnRole => turnRoles[code] as TurnRole
/** The units of a turn's row: one for each of its passages. */
export const unitsIn = ({ lengths, role, ...turn }: UnitRow): readonly TurnUnit[] =>
  lengths.split(',').map((length, passage) => ({
    row: turn.row + passage,
    first: turn.row,
    session: turn.session,
    place: turn.place,
    role: roleOf(role),
    speaker: turn.speaker,
    at: turn.at,
    length: Number(length),
    asks: turn.asks,
  }))

export type UnitRow = Omit<TurnUnit, 'first' | 'role' | 'length'> & { readonly role: number; readonly lengths: string }

export const originOf = (code: number): Turn['origin'] => actorKinds[code] as Turn['origin']
