import { expect, it } from 'vitest'
import { count } from '../full-counts.ts'
import { attackPeople } from './people-under-attack.ts'

const [people, requests, seed] = [1_000, count(20_000), 19]

it(`${people} people with tokens see and change nothing of one another`, { timeout: 1_800_000 }, async () => {
  const { leaks, changed, own, shared, statuses, problems } = await attackPeople({ people, requests, seed })

  console.log(
    `people: seed ${seed}, ${people} people, ${requests} requests, ${leaks.length} foreign answers, ${changed.length} foreign effects, ${own} lines of their own, ${shared} of teams, statuses ${JSON.stringify(Object.fromEntries(statuses))}`,
  )
  expect(leaks).toEqual([])
  expect(changed).toEqual([])
  expect(problems).toEqual([])
  expect(statuses.get(500)).toBeUndefined()
  // Otherwise nothing was looked at.
  expect(Math.min(own, shared)).toBeGreaterThan(0)
})
