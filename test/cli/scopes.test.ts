import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox } from './sandbox.ts'

function git(cwd: string, ...args: readonly string[]): void {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')))
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']
  const { status, stderr } = spawnSync('git', [...identity, ...args], { cwd, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
}

function repository(path: string): string {
  mkdirSync(path, { recursive: true })
  git(path, 'init', '--quiet')
  git(path, 'commit', '--quiet', '--allow-empty', '--message', 'first')
  return path
}

describe('the project of the working directory', () => {
  it('is the scope for remembering and recalling, in every worktree', async () => {
    using place = createSandbox()
    const main = repository(join(place.work, 'ledger'))
    const worktree = join(place.work, 'fix-rounding')
    git(main, 'worktree', 'add', '--quiet', worktree)

    const remembered = await place.runWith({ cwd: main }, 'remember', 'Cached on 6380.', '--name', 'Redis')
    const there = await place.runWith({ cwd: worktree }, 'recall', 'redis?', '--json')
    const outside = await place.run('recall', 'redis?', '--near-misses', '--json')

    const scope = /in (project:ledger-[0-9a-f]{8})\./.exec(remembered.stdout)?.[1]
    expect(scope).toBeDefined()
    expect(JSON.parse(there.stdout)).toMatchObject({
      scopes: [scope, 'user:universal'],
      relevant: [{ belief: { name: 'Redis' } }],
    })
    expect(JSON.parse(outside.stdout)).toMatchObject({
      scopes: ['user:universal'],
      relevant: [],
      nearMisses: [{ reason: { kind: 'other-scope', scopes: [scope] } }],
    })
  })

  it('is not the scope of statements about the person, unless it is given', async () => {
    using place = createSandbox()
    const cwd = repository(join(place.work, 'ledger'))
    const remember = (...args: readonly string[]) => place.runWith({ cwd }, 'remember', ...args)

    const personal = await remember('I am allergic to peanuts.')
    const wish = await remember('Always answer in British English.')
    const work = await remember('We sort my invoices by date.')
    const named = await remember('I am on call in May.', '--scope', 'project:ledger')

    expect(personal.stdout).toContain('in user:universal.')
    expect(personal.stderr).toMatch(/To keep it in this one: --scope project:ledger-[0-9a-f]{8}\n/)
    expect(wish.stdout).toContain('in user:universal.')
    expect(work.stdout).toMatch(/in project:ledger-[0-9a-f]{8}\./)
    expect(named.stdout).toContain('in project:ledger.')
  })

  it('is never shared by two repositories whose folders have the same name', async () => {
    using place = createSandbox()
    const one = repository(join(place.work, 'one', 'api'))
    const other = repository(join(place.work, 'other', 'api'))
    await place.runWith({ cwd: one }, 'remember', 'Uses port 1.', '--name', 'the port')
    await place.runWith({ cwd: other }, 'remember', 'Uses port 2.', '--name', 'the port')

    const recalled = await Promise.all(
      [one, other].map((cwd) => place.runWith({ cwd }, 'recall', 'the port?', '--json')),
    )

    const contents = recalled.map(({ stdout }) =>
      JSON.parse(stdout).relevant.map((hit: { belief: { content: string } }) => hit.belief.content),
    )
    expect(contents).toEqual([['Uses port 1.'], ['Uses port 2.']])
  })

  it('has no effect if scopes are given, and a scope includes its ancestors', async () => {
    using place = createSandbox()
    const main = repository(join(place.work, 'ledger'))
    const here = (...argv: readonly string[]) => place.runWith({ cwd: main }, ...argv)

    const remembered = await here('remember', 'Tabs.', '--name', 'indent', '--scope', 'domain:code')
    const below = await here('recall', 'indent?', '--scope', 'domain:code/typescript', '--json')
    const beside = await here('recall', 'indent?', '--scope', 'domain:prose', '--json')

    expect(remembered.stdout).toContain('in domain:code.')
    expect(JSON.parse(below.stdout).relevant).toHaveLength(1)
    expect(JSON.parse(beside.stdout).relevant).toEqual([])
  })
})

describe('a repository whose directory was renamed', () => {
  const remembering = ['remember', 'Cached on 6380.', '--name', 'Redis'] as const

  it('gets a notice about beliefs of the same repository on another machine', async () => {
    using place = createSandbox()
    const here = repository(join(place.work, 'ledger'))
    const synced = ['--scope', 'project:ledger-0a1b2c3d']
    await place.json('remember', 'Cached on 6380.', '--name', 'Redis', ...synced)
    await place.json('remember', 'Cached on 6381.', '--name', 'Redis', '--scope', 'project:ledgers-0a1b2c3d')

    const { stderr } = await place.runWith({ cwd: here }, 'recall', 'Which port has Redis?')

    expect(stderr).toContain(
      'project:ledger-0a1b2c3d has 1 belief; no directory on this machine has used it. If it is the same project: credence init --attach project:ledger-0a1b2c3d\n',
    )
    expect(stderr).not.toContain('--attach project:ledgers')
  })

  it('gets no notice about its own scope, or about one with conversations only', async () => {
    using place = createSandbox()
    const here = repository(join(place.work, 'ledger'))
    await place.runWith({ cwd: here }, 'hear', 'The queue is called marlin.')
    await place.run('hear', 'The queue is called marlin.', '--scope', 'project:ledger-0a1b2c3d')

    const { stderr } = await place.runWith({ cwd: here }, 'recall', 'Which port has Redis?')

    expect(stderr).toContain('matches this message')
    expect(stderr).not.toContain('--attach')
  })

  it('gets a notice about the beliefs of its former path, and can attach them', async () => {
    using place = createSandbox()
    const before = repository(join(place.work, 'ledger'))
    const remembered = await place.runWith({ cwd: before }, ...remembering)
    const scope = /in (project:ledger-[0-9a-f]{8})\./.exec(remembered.stdout)?.[1] ?? ''
    const after = join(place.work, 'bookkeeping')
    renameSync(before, after)
    mkdirSync(join(after, 'src'))
    const here = (...argv: readonly string[]) => place.runWith({ cwd: join(after, 'src') }, ...argv)

    const status = await here('status')
    const recalled = await here('recall', 'redis?')
    const attached = await here('init', '--attach', scope)
    const again = await here('init', '--attach', scope)
    const found = await here('recall', 'redis?', '--json')

    const note = `${scope} has 1 belief; its directory, ${before}, is gone. If the project was renamed or moved: credence init --attach ${scope}\n`
    expect(remembered.stderr).not.toContain('--attach')
    expect(status.stderr).toContain(note)
    expect(recalled.stderr).toContain(note)
    expect(attached.stdout).toContain(`Attached ${scope}, with 1 belief`)
    expect(existsSync(join(after, '.credence.json'))).toBe(true)
    expect(again).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('.credence.json already exists.') })
    expect(JSON.parse(found.stdout)).toMatchObject({ scopes: [scope, 'user:universal'], relevant: [{}] })
    expect(found.stderr).toBe('')
  })

  it('gets the notice again when something is remembered, and not once it has its own beliefs', async () => {
    using place = createSandbox()
    const before = repository(join(place.work, 'ledger'))
    await place.runWith({ cwd: before }, ...remembering)
    const after = join(place.work, 'bookkeeping')
    renameSync(before, after)

    const first = await place.runWith({ cwd: after }, ...remembering)
    const second = await place.runWith({ cwd: after }, ...remembering)

    expect(first.stderr).toContain('credence init --attach project:ledger-')
    expect(second.stderr).toBe('')
  })

  it('is not confused with another repository, nor with one that still exists', async () => {
    using place = createSandbox()
    const gone = repository(join(place.work, 'old', 'ledger'))
    const there = repository(join(place.work, 'there', 'api'))
    git(gone, 'remote', 'add', 'origin', 'https://example.org/ledger.git')
    for (const cwd of [gone, there]) await place.runWith({ cwd }, ...remembering)
    renameSync(gone, join(place.work, 'away'))
    const other = repository(join(place.work, 'new', 'ledger'))
    git(other, 'remote', 'add', 'origin', 'https://example.org/another.git')
    const copy = repository(join(place.work, 'new', 'books'))
    git(copy, 'remote', 'add', 'origin', 'https://example.org/ledger.git')
    const api = repository(join(place.work, 'new', 'api'))

    const notes = await Promise.all(
      [other, copy, api].map(async (cwd) => (await place.runWith({ cwd }, 'status')).stderr),
    )

    expect(notes).toEqual(['', expect.stringContaining('--attach project:ledger-'), ''])
  })

  it('attaches only a scope that has beliefs', async () => {
    using place = createSandbox()
    const here = repository(join(place.work, 'ledger'))

    const refused = await place.runWith({ cwd: here }, 'init', '--attach', 'project:unknown')

    expect(refused).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('No belief is in the scope project:unknown.'),
    })
    expect(existsSync(join(here, '.credence.json'))).toBe(false)
  })
})
