import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import list from '../scripts/mutants.json' with { type: 'json' }

it('the planted faults of npm run test:mutants match the sources, and their tests exist', () => {
  const stale = list.mutants.filter(
    ({ file, from, tests }) =>
      !existsSync(file) ||
      readFileSync(file, 'utf8').split(from).length !== 2 ||
      !tests.every((test) => existsSync(test)),
  )

  expect(list.mutants.length).toBeGreaterThan(60)
  expect(stale.map(({ id }) => id)).toEqual([])
})
