import { expect, it } from 'vitest'
import { createSandbox } from '../cli/sandbox.ts'
import { call } from './served-memory.ts'
import { stdioClient } from './stdio-clients.ts'

it('an agent of a member finds and writes beliefs of the team over stdio, as long as the person is a member', async () => {
  using place = createSandbox()
  const here = ['--dir', 'memory'] as const
  for (const name of ['ana', 'ben']) await place.json('people', 'add', name, ...here)
  await place.json('team', 'create', 'platform', '--owner', 'ana', ...here)
  const told = [
    'Deploys happen on Tuesdays.',
    '--name',
    'deploys',
    '--scope',
    'team:platform',
    '--user',
    'ana',
  ] as const
  await place.json('remember', ...told, ...here)
  const client = await stdioClient(place, { mode: 'modern', options: [...here, '--user', 'ben'] })
  const search = () => call(client, 'memory_search', { query: 'When are deploys?' })
  const remember = () =>
    call(client, 'memory_remember', { statement: 'The pager is blue.', names: ['pager'], where: 'team:platform' })

  try {
    expect((await search()).value.beliefs).toEqual([])
    expect((await remember()).text).toContain('not a member')
    await place.json('team', 'add-member', 'platform', 'ben', '--role', 'reader', ...here)
    expect((await search()).value.beliefs).toMatchObject([{ content: 'Deploys happen on Tuesdays.' }])
    expect((await remember()).text).toContain('reader of the team')
    await place.json('team', 'add-member', 'platform', 'ben', '--role', 'writer', ...here)
    expect((await remember()).value).toMatchObject({ belief: { scopes: ['team:platform'] } })
    expect((await place.run('recall', 'the pager', '--user', 'ana', '--render', ...here)).stdout).toContain(
      'from the agent ben/mcp:test-agent',
    )
    await place.json('team', 'remove-member', 'platform', 'ben', ...here)
    expect((await search()).value.beliefs).toEqual([])
  } finally {
    await client.close()
  }
})
