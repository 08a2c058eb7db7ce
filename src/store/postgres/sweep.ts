import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeAtomically } from '../../files/atomic-write.ts'
import type { PostgresConnection } from './connection.ts'
import type { Projections } from './projections.ts'

/** A transaction that was open during the last sweep may have an older time than the sweep. */
const overlap = "interval '10 minutes'"

/**
 * Brings the local copies of all owners up to date who have forgotten something since the last sweep of this directory, so that no
 * file has the text any more.
 */
export async function sweepForgotten(connection: PostgresConnection, projections: Projections): Promise<void> {
  const file = join(projections.directory, 'swept')
  const since = lastSweep(file)
  const [owners, [{ now } = { now: '' }]] = await connection.read((run) =>
    Promise.all([
      run<{ owner: string; forgotten: number }>(
        `SELECT owner, forgotten FROM credence.owners WHERE forgot_at >= $1::timestamptz - ${overlap}`,
        [since],
      ),
      run<{ now: string }>('SELECT now()::text AS now'),
    ]),
  )
  for (const { owner, forgotten } of owners)
    if (projections.has(owner))
      await projections.renewing(owner, async (projection) => {
        if (projection === null) return
        if (projection.records.head().number < forgotten) await projections.catchUp(projection)
        // Another program that was reading may have kept the file from being scrubbed at once.
        await projection.store.scrub()
      })
  projections.trim()
  // An older time means only that more owners are looked at.
  await writeAtomically(file, now, { existing: 'replace', durable: false })
}

function lastSweep(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // No sweep is known, so every owner is looked at.
    return '-infinity'
  }
}
