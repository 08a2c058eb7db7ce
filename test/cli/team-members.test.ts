import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openMemory } from '../../src/index.ts'
import { createSandbox } from './sandbox.ts'

const here = ['--dir', 'memory'] as const

/** Ana owns the team platform, Ben reads it, Cleo is not a member. Each has their own memory. */
async function team() {
  const place = createSandbox()
  const as = async (user: string, ...argv: readonly string[]) => {
    const { exitCode, stdout, stderr } = await place.run(...argv, ...here, '--user', user)
    return { exitCode, stdout, stderr }
  }
  for (const name of ['ana', 'ben', 'cleo']) await place.json('people', 'add', name, ...here)
  await place.json('team', 'create', 'platform', '--owner', 'ana', ...here)
  await place.json('team', 'add-member', 'platform', 'ben', '--role', 'reader', ...here)
  const told = await as(
    'ana',
    'remember',
    'Deploys happen on Tuesdays.',
    '--name',
    'deploys',
    '--scope',
    'team:platform',
  )
  await as('ana', 'remember', 'I find deploys exciting.', '--name', 'deploy', '--scope', 'user:universal')
  return { place, as, told, [Symbol.dispose]: () => place[Symbol.dispose]() }
}

it('a member recalls, searches and reads the beliefs of the team, with their author; others do not', async () => {
  using at = await team()

  const [ana, ben, cleo] = await Promise.all(
    ['ana', 'ben', 'cleo'].map((user) => at.as(user, 'recall', 'When are deploys?', '--render')),
  )
  const found = await at.as('ben', 'search', 'Tuesdays')
  const listed = await at.as('ben', 'beliefs', '--scope', 'team:platform')
  const named = await at.as('ben', 'recall', 'When are deploys?', '--scope', 'team:platform')
  const elsewhere = await at.as('ben', 'recall', 'When are deploys?', '--scope', 'domain:code')
  const why = await at.as('ben', 'why', 'When are deploys?', 'deploys')
  const history = await at.as('ben', 'history', 'deploys')
  const exported = await at.as('ben', 'export', '--scope', 'team:platform')

  expect(at.told).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('team:platform') })
  expect(ana?.stdout).toContain('(team platform, from ana) deploys: Deploys happen on Tuesdays.')
  expect(ana?.stdout).toContain('exciting')
  expect(ben?.stdout).toContain('(team platform, from ana) deploys: Deploys happen on Tuesdays.')
  expect(ben?.stdout).not.toContain('exciting')
  expect(cleo?.stdout).not.toContain('Tuesdays')
  for (const { stdout } of [found, listed, named, history, exported]) expect(stdout).toContain('Tuesdays')
  expect(why.stdout).toContain('is recalled')
  expect(elsewhere.stdout).not.toContain('Tuesdays')
})

it('a member sees their teams in the list of their own memory', async () => {
  using at = await team()

  const status = await at.as('ben', 'status')
  const beliefs = await at.as('ben', 'beliefs')
  const alone = await at.as('cleo', 'status')

  expect(status.stdout).toMatch(/^teams +platform \(reader\)$/mu)
  expect(beliefs.stderr).toContain('`credence beliefs --scope team:platform`')
  expect(alone.stdout).not.toContain('teams')
})

it('a reader changes nothing, writers and owners only what their role allows, and others are refused', async () => {
  using at = await team()
  const scope = ['--scope', 'team:platform'] as const

  const reader = await at.as('ben', 'remember', 'Deploys happen on Fridays.', ...scope)
  const stranger = await at.as('cleo', 'remember', 'Deploys happen on Fridays.', ...scope)
  const listing = await at.as('cleo', 'recall', 'deploys', ...scope)
  const unnamed = await at.place.run('search', 'deploys', ...scope, ...here)
  await at.place.json('team', 'add-member', 'platform', 'ben', '--role', 'writer', ...here)
  const writer = await at.as('ben', 'correct', 'deploys', 'Deploys happen on Mondays.')
  const forgetting = await at.as('ben', 'forget', 'deploys', '--yes')
  // Ana's own memory also has a belief with this name, so she names the scope.
  const owner = await at.as('ana', 'forget', 'deploys', '--yes', ...scope)

  expect(reader).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('reader of the team "platform"') })
  for (const refused of [stranger, listing, unnamed])
    expect(refused).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('not a member of a team "platform"') })
  expect(writer.exitCode).toBe(0)
  expect(forgetting).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('this needs owner') })
  expect(owner.exitCode).toBe(0)
  expect((await at.as('ana', 'beliefs', ...scope)).stdout).toBe('')
  expect((await at.as('ana', 'beliefs')).stdout).toContain('exciting')
})

it('review lists waiting decisions of teams too; an owner decides, and undoes with the scope of the team', async () => {
  using at = await team()
  const scope = ['--scope', 'team:platform'] as const
  await at.as('ana', 'correct', 'deploys', 'Deploys happen on Fridays.', '--as', 'agent:bot', ...scope)

  const lists = await Promise.all(['review', 'status'].map(async (command) => (await at.as('ana', command)).stdout))
  const filtered = await at.as('ana', 'review', ...scope)
  const own = await at.as('ana', 'review', '--scope', 'user:universal')
  const byReader = await at.as('ben', 'review', 'accept', 'deploys')
  const byOwner = await at.as('ana', 'review', 'accept', 'deploys', ...scope)
  const events = await at.as('ana', 'history', ...scope)
  const undoneByReader = await at.as('ben', 'undo', ...scope)
  const undoneByOwner = await at.as('ana', 'undo', ...scope)

  expect(lists).toEqual([expect.stringContaining('Fridays'), expect.stringContaining('1 proposal')])
  expect(filtered.stdout).toContain('Fridays')
  expect(own.stdout).not.toContain('Fridays')
  expect(byReader).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('this needs owner') })
  expect(byOwner.stdout).toContain('Accepted')
  expect(events.stdout).toContain('accept')
  expect(undoneByReader).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('this needs owner') })
  expect(undoneByOwner.stdout).toContain('team:platform')
  expect((await at.as('ben', 'recall', 'When are deploys?')).stdout).toContain('Tuesdays')
  expect((await at.as('ana', 'beliefs')).stdout).toContain('exciting')
})

it('a message that shares only words with a belief of the team gets it as a suggestion', async () => {
  using at = await team()

  const { exitCode, stderr } = await at.as('ben', 'recall', 'What happens on Tuesdays?')

  expect(exitCode).toBe(0)
  expect(stderr).toContain('deploys')
})

it('a hook gives a member the lines of the team, and stores their messages in their own memory', async () => {
  using at = await team()
  // New beliefs in this project belong to the team.
  writeFileSync(join(at.place.work, '.credence.json'), '{"scope": "team:platform", "dir": "memory"}')
  await at.place.run('trust', '.credence.json')
  const stdin = JSON.stringify({
    session_id: 's-1',
    cwd: at.place.work,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'Remember that the pager for deploys is blue.',
  })
  const started: (readonly string[])[] = []
  const env = { CREDENCE_USER: 'ana' }
  const circumstances = {
    stdin,
    env,
    startedAt: performance.now() + 60_000,
    startDetached: async (argv: readonly string[]) => void started.push(argv),
  }

  const { stdout } = await at.place.runWith(circumstances, 'hook', 'prompt-submit')
  for (const argv of started) await at.place.runWith({ env }, ...argv)

  expect(stdout).toContain('Deploys happen on Tuesdays.')
  expect((await at.as('ana', 'search', 'pager', '--in', 'turns')).stdout).toContain('is blue')
  expect((await at.as('ana', 'beliefs', '--scope', 'user:universal')).stdout).toContain('pager')
  expect((await at.as('ben', 'search', 'pager')).stdout).not.toContain('is blue')
})

it('a running program notices that a member was removed', async () => {
  using at = await team()
  const dir = join(at.place.work, 'memory')
  const memory = openMemory({ dir, user: 'ben' })

  const before = await memory.recall('When are deploys?')
  await at.place.json('team', 'remove-member', 'platform', 'ben', ...here)
  const after = await memory.recall('When are deploys?')
  await memory.close()

  expect(before.relevant.map(({ belief }) => belief.user)).toEqual(['team:platform'])
  expect(after.relevant).toEqual([])
})

it('without people, team: is a scope like any other', async () => {
  using place = createSandbox()

  await place.json('remember', 'Tabs, not spaces.', '--name', 'indentation', '--scope', 'team:home', ...here)

  expect((await place.run('recall', 'indentation', '--scope', 'team:home', ...here)).stdout).toContain('Tabs')
})
