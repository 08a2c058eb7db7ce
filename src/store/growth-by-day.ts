import type { GrowthDay } from '../beliefs/recall-counts.ts'
import { localDay } from '../local-time.ts'

/** The number of beliefs that one author first remembered in one scope at the time `at`. */
export type GrowthRow = Omit<GrowthDay, 'day'> & { readonly at: string }

/** Adds up the counts of each day, in the time zone of the process, which a database does not know. `rows` must be oldest first. */
export function growthByDay(rows: readonly GrowthRow[]): readonly GrowthDay[] {
  const days = new Map<string, GrowthDay>()
  for (const { at, beliefs, ...row } of rows) {
    const day = localDay(at)
    const key = JSON.stringify([day, row.actor, row.origin, row.scope])
    days.set(key, { day, ...row, beliefs: (days.get(key)?.beliefs ?? 0) + beliefs })
  }
  return [...days.values()]
}
