import { readBody, type StoredBody } from './belief-row.ts'
import { type Committing, commitWithin } from './commit.ts'

type ToReview = StoredBody & { readonly user: string; readonly user_id: number }

/**
 * Turns what the old rules learned into candidates, one event for each user, so that it leaves contexts until a person
 * confirms it. Does nothing in a store where that has been done.
 */
export function reviewOldBeliefs(committing: Committing, now: () => Date): void {
  const { connection } = committing
  const isDone = (): boolean => connection.statement<[], unknown>('SELECT 1 FROM to_review LIMIT 1').get() === undefined
  if (connection.read(isDone)) return
  connection.write(() => {
    const rows = connection
      .statement<[], ToReview>(
        `SELECT users.name AS user, users.id AS user_id, beliefs.id, beliefs.crc, beliefs.body
         FROM to_review JOIN beliefs ON beliefs.user_id = to_review.user_id AND beliefs.id = to_review.belief
         JOIN users ON users.id = to_review.user_id ORDER BY users.id, beliefs.id`,
      )
      .all()
    const at = now().toISOString()
    for (const [user, own] of Map.groupBy(rows, (row) => row.user)) {
      const changes = own.map((row) => {
        const belief = readBody(row)
        const after = { ...belief, candidate: true, updatedAt: at, version: belief.version + 1 }
        return { beliefId: belief.id, expectedVersion: belief.version, outcome: 'present', after } as const
      })
      commitWithin(committing, {
        user,
        kind: 'review',
        actor: 'tool',
        origin: 'credence',
        at,
        key: null,
        undoes: null,
        changes,
      })
    }
    connection.statement<[]>('DELETE FROM to_review').run()
  })
}
