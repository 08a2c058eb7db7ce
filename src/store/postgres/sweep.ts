import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeAtomically } from '../../files/atomic-write.ts'
import type { PostgresConnection } from './connection.ts'
import type { Projections } from './projections.ts'

/** The overlap of two sweeps. A transaction that is open during a sweep commits after it, but with an earlier time. */
const overlap = "interval '10 minutes'"

/** Updates the local copies of owners who forgot something since the last sweep of this directory, so that no file contains that text. */
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
      await projections.withRenewal(owner, async (projection) => {
        if (projection === null) return
        if (projection.records.head().number < forgotten) await projections.catchUp(projection)
        // Scrubs again, because a program that was reading may have prevented it before.
        await projection.store.scrub()
      })
  projections.trim()
  // Need not be durable: with an older time, the next sweep only checks more owners.
  await writeAtomically(file, now, { existing: 'replace', durable: false })
}

function lastSweep(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // No sweep is known, so every owner is checked.
    return '-infinity'
  }
}
