import { describe, expect, it } from 'vitest'
import { postgresPrograms, sharedCluster, undurable } from '../../src/store/postgres/cluster.contract.ts'
import { count } from '../full-counts.ts'
import { attackPeople } from './people-under-attack.ts'

const [people, requests, seed] = [1_000, count(20_000), 19]

describe.each([
  { kind: 'SQLite', isThere: true },
  { kind: 'PostgreSQL', isThere: postgresPrograms !== null },
])('on $kind', ({ kind, isThere }) => {
  const cluster = sharedCluster(undurable)

  it.skipIf(!isThere)(
    `${people} people with tokens see and change nothing of one another`,
    {
      timeout: 3_600_000,
    },
    async () => {
      const store = kind === 'SQLite' ? undefined : await (await cluster()).newDatabase()

      const { leaks, changed, own, shared, statuses, problems } = await attackPeople({ people, requests, seed, store })

      console.log(
        `people on ${kind}: seed ${seed}, ${people} people, ${requests} requests, ${leaks.length} foreign answers, ${changed.length} foreign effects, ${own} lines of their own, ${shared} of teams, statuses ${JSON.stringify(Object.fromEntries(statuses))}`,
      )
      expect(leaks).toEqual([])
      expect(changed).toEqual([])
      expect(problems).toEqual([])
      expect(statuses.get(500)).toBeUndefined()
      // Otherwise nothing was looked at.
      expect(Math.min(own, shared)).toBeGreaterThan(0)
    },
  )
})
