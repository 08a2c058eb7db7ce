import { describe, expect, it } from 'vitest'
import { postgresPrograms, sharedCluster, undurable } from '../../src/store/postgres/cluster.contract.ts'
import { createSandbox } from '../cli/sandbox.ts'
import { serving } from '../http/serving.ts'

const timeout = 300_000

/** Asserts that two server processes over one store share their tokens. `locations` are the options of each server. */
async function expectSharedTokens(
  place: ReturnType<typeof createSandbox>,
  locations: readonly string[][],
): Promise<void> {
  const [here = [], there = []] = locations
  await place.run('init', ...here)
  await place.run('people', 'add', 'ana', ...here)
  const { secret, token } = await place.json('token', 'create', 'ana', ...here)
  const other = await place.json('token', 'create', 'ana', ...here)
  await using one = await serving(place, ...here)
  await using two = await serving(place, ...there)
  const ask = async (server: typeof one, bearer: string) =>
    (await server.ask('/scopes', { headers: { authorization: `Bearer ${bearer}` } })).status
  const statuses = async () => [await ask(one, secret), await ask(two, secret), await ask(two, other.secret)]
  const remembered = await one.ask('/beliefs', {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}` },
    body: JSON.stringify({ name: 'deploys', content: 'Deploys happen on Tuesdays.' }),
  })
  const elsewhere = await two.ask('/search?q=deploys', { headers: { authorization: `Bearer ${secret}` } })

  const before = await statuses()
  const revoked = await one.ask(`/tokens/${token.id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${other.secret}` },
  })
  const afterRevoking = await statuses()
  await place.run('people', 'remove', 'ana', '--memory', 'keep', ...there)
  const afterRemoving = await statuses()

  expect(remembered.status).toBe(201)
  expect(await elsewhere.text()).toContain('Tuesdays')
  expect(before).toEqual([200, 200, 200])
  expect(revoked.status).toBe(200)
  expect(afterRevoking).toEqual([401, 401, 200])
  expect(afterRemoving).toEqual([401, 401, 401])
}

describe('a token that was revoked at one server is refused by another immediately', () => {
  it('over one SQLite file', { timeout }, async () => {
    using place = createSandbox()
    const dir = ['--dir', 'memory']
    await expectSharedTokens(place, [dir, dir])
  })

  it.skipIf(postgresPrograms === null)('over one PostgreSQL database', { timeout }, async () => {
    using place = createSandbox()
    const store = ['--store', await (await cluster()).newDatabase()]
    await expectSharedTokens(place, [
      [...store, '--dir', 'one'],
      [...store, '--dir', 'two'],
    ])
  })
})

const cluster = sharedCluster(undurable)
