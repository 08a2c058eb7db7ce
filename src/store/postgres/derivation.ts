import { unitsOf } from '../../search/turns/passages.ts'
import { isAsWritten, parseBody } from '../belief-row.ts'
import { deriveBelief } from '../derived-belief.ts'
import { type ChangeRow, damagedJournal } from '../journal-rows.ts'
import { BeliefRows, beliefTables } from './belief-rows.ts'
import type { Run } from './connection.ts'
import { readTurns } from './turn-lookups.ts'
import { TurnIndex } from './turn-writes.ts'

const pageSize = 500

/** The last change of each belief of an owner that is there now. */
export async function* newestTexts(run: Run, owner: string): AsyncGenerator<ChangeRow> {
  for (let last = ''; ; ) {
    const page = await run<ChangeRow>(
      `SELECT event, belief, version, outcome, body_hash, salt, body FROM credence.changes AS newest
       WHERE owner = $1 AND belief > $2 AND outcome = 'present' AND event = (
         SELECT max(event) FROM credence.changes WHERE owner = $1 AND belief = newest.belief)
       ORDER BY belief LIMIT ${pageSize}`,
      [owner, last],
    )
    yield* page
    if (page.length < pageSize) return
    last = page.at(-1)?.belief ?? last
  }
}

/** Every turn of an owner that has a text, in the order of the rows. */
export async function* storedTurns(
  run: Run,
  owner: string,
): AsyncGenerator<Awaited<ReturnType<typeof readTurns>>[number]> {
  for (let last = -1; ; ) {
    const page = await readTurns(run, `turns.row > $2 ORDER BY turns.row LIMIT ${pageSize}`, [owner, last])
    yield* page
    if (page.length < pageSize) return
    last = page.at(-1)?.row ?? last
  }
}

/** Empties the derived tables of an owner and fills them from the journal and the turns, in the caller's transaction. */
export async function deriveOwner(run: Run, owner: string, analysis: number): Promise<void> {
  const emptied = [...beliefTables, 'turn_postings', 'turn_speakers', 'turn_scopes']
  await Promise.all(emptied.map((table) => run(`DELETE FROM credence.${table} WHERE owner = $1`, [owner])))
  let rows = new BeliefRows()
  let collected = 0
  for await (const change of newestTexts(run, owner)) {
    if (change.body === null || !isAsWritten(change)) throw damagedJournal('PostgreSQL', change)
    rows.add(deriveBelief(parseBody(change.body)), change.body, 1)
    collected += 1
    if (collected % pageSize > 0) continue
    await Promise.all(rows.write(run, owner))
    rows = new BeliefRows()
  }
  await Promise.all(rows.write(run, owner))
  await deriveTurns(run, owner)
  await run('UPDATE credence.owners SET analysis = $2 WHERE owner = $1', [owner, analysis])
}

async function deriveTurns(run: Run, owner: string): Promise<void> {
  let index = new TurnIndex()
  let lengths: { row: number; lengths: string }[] = []
  const write = async (): Promise<void> => {
    const update = `UPDATE credence.turns SET lengths = rows.lengths FROM unnest($2::integer[], $3::text[]) AS rows (row, lengths)
      WHERE turns.owner = $1 AND turns.row = rows.row`
    const values = [owner, lengths.map(({ row }) => row), lengths.map((one) => one.lengths)]
    await Promise.all([...index.write(run, owner), run(update, values)])
    index = new TurnIndex()
    lengths = []
  }
  for await (const turn of storedTurns(run, owner)) {
    const units = unitsOf(turn.text)
    index.add({ row: turn.row, turn, units, step: 1 })
    lengths.push({ row: turn.row, lengths: units.map(({ length }) => length).join(',') })
    if (lengths.length === pageSize) await write()
  }
  await write()
}
