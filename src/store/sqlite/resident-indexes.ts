import type { Viewpoint } from '../../beliefs/belief-store.ts'
import type { ResidentView } from '../../search/form-index.ts'
import type { BeliefKind, Place, ResidentForm } from '../../search/resident/resident-forms.ts'
import { newestText, readText, type StoredText, unpackFlags } from '../belief-row.ts'
import { mostChanged, type ResidentIndex, ResidentIndexes } from '../resident/resident-indexes.ts'
import type { ChangedBeliefs } from './changed-beliefs.ts'
import type { Connection } from './connection.ts'

const rowsAtOnce = 100

type FormRow = {
  readonly key: string
  readonly current: number
  readonly scope: number
  readonly scope_name: string
  readonly agent: string
  readonly belief: string
  readonly ordinal: number
  readonly breaks: number
  readonly flags: number
  readonly reinforced: number
}

type ResidentOptions = {
  readonly connection: Connection
  readonly changes: ChangedBeliefs
  /** The limit for all users together. */
  readonly mostBytes: number
}

/** The form indexes of users in memory, made from the form table, and brought up to date from the journal. */
export function openResidentForms({ connection, changes, mostBytes }: ResidentOptions) {
  const start = async (userId: number) => {
    const count = 'SELECT sum(current + retired) FROM audiences WHERE user_id = ?'
    return { beliefs: connection.value<number | null>(count, [userId]) ?? 0, event: changes.newestEvent }
  }
  const indexes = new ResidentIndexes({ start, forms }, mostBytes)

  function* forms(userId: number): Generator<readonly ResidentForm[]> {
    const places = new Map<string, Place>()
    const kinds = new Map<number, BeliefKind>()
    let last: FormRow | undefined
    for (;;) {
      const after =
        last === undefined ? ['', -1, -1, '', ''] : [last.key, last.current, last.scope, last.agent, last.belief]
      const rows = connection.read(() => connection.all<FormRow>(nextForms, [userId, ...after, rowsAtOnce]))
      yield rows.map((row) => formOf(row, places, kinds))
      if (rows.length < rowsAtOnce) return
      last = rows.at(-1)
    }
  }

  /** False when too much has changed, so that the index is made again. */
  function bringUpToDate(userId: number, index: ResidentIndex): boolean {
    const { newestEvent } = changes
    const changed = connection.column<string>(
      `SELECT DISTINCT belief_id FROM events CROSS JOIN changes ON changes.event = events.number
       WHERE events.user_id = ? AND events.number > ? LIMIT ?`,
      [userId, index.event, mostChanged + 1],
    )
    if (index.event > newestEvent || changed.length > mostChanged) {
      indexes.drop(userId)
      return false
    }
    const beliefs = changed.map((id) => {
      const row = connection.get<StoredText>(newestText, [userId, id])
      return [id, row === undefined ? null : readText(id, row)] as const
    })
    index.update(new Map(beliefs), newestEvent)
    return true
  }

  return {
    /** Runs inside the caller's transaction. */
    view(userId: number, view: Viewpoint, population: () => Promise<number>): ResidentView | null {
      changes.catchUp()
      const index = indexes.find(userId)
      if (index === null) return null
      if (index.event !== changes.newestEvent && !bringUpToDate(userId, index)) return null
      return { link: (message) => index.link(message, view, population) }
    },
    close: () => indexes.close(),
  }
}

const nextForms = `SELECT key, forms.current, scope, scopes.name AS scope_name, agent, belief, ordinal, breaks, flags,
    reinforced
  FROM forms JOIN scopes ON scopes.id = forms.scope
  WHERE forms.user_id = ? AND (key, forms.current, scope, agent, belief) > (?, ?, ?, ?, ?)
  ORDER BY key, forms.current, scope, agent, belief LIMIT ?`

function formOf(row: FormRow, places: Map<string, Place>, kinds: Map<number, BeliefKind>) {
  const { key, belief, ordinal, breaks, flags, reinforced } = row
  const placeKey = `${row.current} ${row.scope} ${row.agent}`
  const agent = row.agent === '' ? null : row.agent.slice(1)
  const place = places.get(placeKey) ?? { scope: row.scope_name, agent, current: row.current === 1 }
  places.set(placeKey, place)
  const kind = kinds.get(flags) ?? unpackFlags(flags)
  kinds.set(flags, kind)
  return { key, beliefId: belief, place, kind, ordinal, breaks, reinforcedAt: reinforced }
}
