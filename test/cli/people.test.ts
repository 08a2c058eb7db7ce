import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createSandbox } from './sandbox.ts'

const here = ['--dir', 'memory'] as const

it('people, tokens and teams are created, listed and removed; the file never contains a token', async () => {
  using place = createSandbox()
  const json = (...argv: readonly string[]) => place.json(...argv, ...here)

  const added = await json('people', 'add', 'ana')
  await json('people', 'add', 'ben')
  const agent = await json('token', 'create', 'ana', '--agent', '--scope', 'domain:code', '--label', 'laptop')
  const admin = await json('token', 'create', '--admin')
  await json('team', 'create', 'platform', '--owner', 'ana')
  await json('team', 'add-member', 'platform', 'ben', '--role', 'reader')
  const state = join(place.work, 'memory', 'state')
  const files = readdirSync(state)
    .filter((name) => name.startsWith('credence.db'))
    .map((name) => readFileSync(join(state, name), 'latin1'))

  expect(added).toMatchObject({ person: { name: 'ana' }, token: { kind: 'person', person: 'ana' } })
  expect(agent.token).toMatchObject({ kind: 'agent', person: 'ana', scopes: ['domain:code'], label: 'laptop' })
  expect(admin.token).toMatchObject({ kind: 'admin', person: null })
  for (const { secret } of [added, agent, admin]) expect(files.join('')).not.toContain(secret.slice(9))
  expect(files.join('')).toContain('laptop')
  expect((await json('people', 'list')).map(({ name }: { name: string }) => name)).toEqual(['ana', 'ben'])
  expect(await json('team', 'list')).toMatchObject([
    {
      name: 'platform',
      members: [
        { person: 'ana', role: 'owner' },
        { person: 'ben', role: 'reader' },
      ],
    },
  ])
  await json('token', 'revoke', admin.token.id)
  await json('team', 'remove-member', 'platform', 'ben')
  await json('people', 'remove', 'ana', '--memory', 'keep')
  const listed = (await json('token', 'list')) as { kind: string; person: string | null; revokedAt: string | null }[]
  expect(listed.filter(({ revokedAt }) => revokedAt === null)).toMatchObject([{ kind: 'person', person: 'ben' }])
  expect(listed.filter(({ revokedAt }) => revokedAt !== null)).toMatchObject([{ kind: 'admin' }])
  expect(await json('team', 'list')).toMatchObject([{ name: 'platform', members: [] }])
})

it('reports the error and the next step', async () => {
  using place = createSandbox()
  const ending = async (...argv: readonly string[]) => {
    const { exitCode, stderr } = await place.run(...argv, ...here)
    return `${exitCode} ${stderr.split('\n')[0]}`
  }
  await place.run('remember', 'I like tea.', ...here)
  await place.run('people', 'add', 'ana', ...here)

  const { stderr: next } = await place.run('people', 'add', 'ben', ...here)
  expect(next).toContain('The token is shown only now.')
  expect(await ending('people', 'add', 'ana')).toBe('3 error: There is a person "ana" already.')
  expect(await ending('people', 'add', 'Ana Maria')).toContain('3 error: "Ana Maria" is not the name of a person.')
  expect(await ending('people', 'add', 'local')).toBe('3 error: "local" has a memory already.')
  expect(await ending('people', 'remove', 'ana')).toContain('2 error: --memory: A value is needed.')
  expect(await ending('people', 'remove', 'nobody', '--memory', 'keep')).toBe('3 error: There is no person "nobody".')
  expect(await ending('token', 'create')).toContain('2 error: <person> is missing.')
  expect(await ending('token', 'create', 'ana', '--admin')).toContain('2 error: --admin takes no person.')
  expect(await ending('token', 'create', 'ana', '--agent', '--admin')).toContain('2 error: --agent and --admin')
  expect(await ending('token', 'create', 'ana', '--scope', 'domain:code')).toContain(
    '3 error: A token of the kind person',
  )
  expect(await ending('token', 'create', 'nobody')).toBe('3 error: There is no person "nobody".')
  expect(await ending('token', 'revoke', 't-1')).toBe('3 error: There is no token "t-1".')
  expect(await ending('team', 'create', 'platform')).toContain('2 error: A team needs an owner.')
  expect(await ending('team', 'add-member', 'platform', 'ana')).toBe('3 error: There is no team "platform".')
})

it('gives a memory to a person only with the option, and erases it only with the option', async () => {
  using place = createSandbox()
  await place.run('remember', 'The canary sings.', ...here)
  await place.run('mirror', 'sync', ...here)

  const taken = await place.json('people', 'add', 'local', '--take-over', ...here)
  const mirror = () => readFileSync(join(place.work, 'memory', 'MEMORY.md'), 'utf8')
  const before = [(await place.run('beliefs', ...here)).stdout, mirror()]
  await place.run('people', 'remove', 'local', '--memory', 'erase', ...here)
  const after = [(await place.run('beliefs', ...here)).stdout, mirror()]

  expect(taken.token.kind).toBe('person')
  expect(before.map((text) => text.includes('canary'))).toEqual([true, true])
  expect(after.map((text) => text.includes('canary'))).toEqual([false, false])
})

it('lists and creates nothing if there is no memory', async () => {
  using place = createSandbox()

  for (const group of ['people', 'token', 'team'])
    expect(await place.run(group, 'list')).toMatchObject({ exitCode: 0, stdout: '' })
  expect(readdirSync(place.home)).toEqual([])
})
