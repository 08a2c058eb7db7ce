import { describe, expect, it } from 'vitest'
import { postgresPrograms, sharedCluster, undurable } from '../../src/store/postgres/cluster.contract.ts'
import { count } from '../full-counts.ts'
import { attackPeople } from './people-under-attack.ts'

const seed = 19

describe.each([
  { kind: 'SQLite', people: 1_000, requests: count(20_000), isThere: true },
  // More people and teams than local copies may be open at a time. Each person needs a local copy, so only a full run
  // has 1,000 people.
  {
    kind: 'PostgreSQL',
    people: Math.max(300, count(1_000)),
    requests: count(20_000),
    isThere: postgresPrograms !== null,
  },
])('on $kind', ({ kind, people, requests, isThere }) => {
  const cluster = sharedCluster(undurable)

  it.skipIf(!isThere)(
    `${people} people with tokens can neither see nor change each other's data`,
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
      // Guards the test: if the people never got their own or shared data in an answer, the attack would have tested nothing.
      expect(Math.min(own, shared)).toBeGreaterThan(0)
    },
  )
})
