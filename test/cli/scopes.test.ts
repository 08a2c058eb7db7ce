import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { workplace } from './workplace.ts'

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
  it('is where things are remembered and recalled, in every worktree', async () => {
    using place = workplace()
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

  it('is never shared by two repositories whose folders have the same name', async () => {
    using place = workplace()
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

  it('does not matter where scopes are given, and a scope sees those above it', async () => {
    using place = workplace()
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
