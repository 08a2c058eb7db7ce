import { actorKinds } from '../beliefs/belief.ts'
import { type TextRange, type Turn, type TurnRole, turnRoles } from '../beliefs/turn.ts'
import type { ExportedTurn, SessionSummary } from '../beliefs/turn-store.ts'
import type { TurnUnit, TurnView } from '../search/turns/turn-index.ts'

/** Tables store these numbers instead of names. */
export const roleCode = (role: TurnRole): number => turnRoles.indexOf(role)
export const originCode = (origin: Turn['origin']): number => actorKinds.indexOf(origin)
// The casts are safe, because only indexes into these lists are written.
export const roleOf = (code: number): TurnRole => turnRoles[code] as TurnRole
export const originOf = (code: number): Turn['origin'] => actorKinds[code] as Turn['origin']

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

/** A turn with its text. */
export type TurnRow = {
  readonly row: number
  readonly id: string
  readonly user: string
  readonly session: string
  readonly place: number
  readonly role: number
  readonly speaker: string | null
  readonly at: number
  readonly utc_offset: number | null
  readonly scope: string
  readonly host: string
  readonly origin: number
  readonly message_id: string | null
  readonly text: string
  /** As JSON. */
  readonly doubtful: string | null
}

export const turnOf = (row: TurnRow): Turn => ({
  id: row.id,
  user: row.user,
  session: row.session,
  index: row.place,
  role: roleOf(row.role),
  speaker: row.speaker,
  at: new Date(row.at).toISOString(),
  utcOffset: row.utc_offset,
  scope: row.scope,
  host: row.host,
  origin: originOf(row.origin),
  text: row.text,
  doubtful: row.doubtful === null ? null : (JSON.parse(row.doubtful) as TextRange[]),
})

export const exportedTurn = (row: TurnRow): ExportedTurn => ({ ...turnOf(row), messageId: row.message_id })

/** A page of an export, and the start of the next one. */
export const exportedPage = (rows: readonly TurnRow[], limit: number) => ({
  turns: rows.map(exportedTurn),
  next: rows.length < limit ? null : (rows.at(-1)?.row ?? null),
})

export type SessionRow = {
  readonly session: string
  readonly turns: number
  readonly first: number
  readonly last: number
  readonly utc_offset: number | null
  /** As JSON. */
  readonly scopes: string
  readonly hosts: string
}

export const sessionOf = (row: SessionRow, opening: string | null | undefined): SessionSummary => ({
  session: row.session,
  turns: row.turns,
  firstAt: new Date(row.first).toISOString(),
  lastAt: new Date(row.last).toISOString(),
  utcOffset: row.utc_offset,
  scopes: (JSON.parse(row.scopes) as string[]).sort(),
  hosts: (JSON.parse(row.hosts) as string[]).sort(),
  opening: (opening ?? '').toWellFormed(),
})

/** Whether a view has filters other than its scopes. */
export const isFiltered = ({ since, until, session, speaker, roles }: Omit<TurnView, 'scopes'>): boolean =>
  [since, until, session, speaker, roles].some((one) => one !== undefined)

/** The rows of all passages of turns. */
export const passageRows = (
  turns: readonly { readonly row: number; readonly passages: number }[],
): ReadonlySet<number> =>
  new Set(turns.flatMap(({ row, passages }) => Array.from({ length: passages }, (_, place) => row + place)))
