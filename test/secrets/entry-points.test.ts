import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memoryFrom } from '../../src/memory/memory.ts'
import type { Author } from '../../src/memory/ports.ts'
import { openPorts } from '../../src/open-memory.ts'
import { createSandbox } from '../cli/sandbox.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

/** Split into parts, so that secret scanners do not report this repository. */
const secret = ['ghp', 'Zk3v8QmT1xYb7LrNw2PdHc5Fj9Gs4Ea6Ku0W'].join('_')
const agent: Author = { actor: 'agent', origin: 'codex' }

/** A memory in files, and a function that searches the files for bytes. */
function memoryInFiles() {
  const directory = temporaryDirectory()
  const dir = join(directory.path, 'memory')
  mkdirSync(dir)
  const ports = openPorts(dir)
  const memoryAs = (author: Author) =>
    memoryFrom(ports, { user: 'ada', scopes: ['user:universal'], agent: null, author })
  return { memoryAs, ports, isOnDisk: (text: string) => isIn(directory.path, text), ...disposing(directory) }
}

describe('a person who stores a secret at the command line', () => {
  const password = ['Zx81!!', 'kQ77pm'].join('')

  it.each([
    `The vault password is ${password} and the token is ${secret}.`,
    secret,
    `password: ${password}`,
    `Always use the password ${password} for staging.`,
  ])('gets a warning, and no name or alias contains it: %#', async (statement) => {
    using place = createSandbox()

    const { exitCode, stdout, stderr } = await place.run('remember', statement)

    expect(exitCode).toBe(0)
    expect(stderr).toMatch(/^warning: The statement seems to contain .* To remove it: credence forget b-\w+$/mu)
    for (const word of [password, 'Zx81', 'kQ77pm', secret]) expect(stdout).not.toContain(word)
    const [{ name, aliases, content }] = (await place.json('beliefs')).items
    for (const word of ['zx81', 'kq77pm', 'ghp', 'zk3v8'])
      expect([name, ...aliases].join(' ').toLowerCase()).not.toContain(word)
    expect(content).toBe(statement)
  })

  it('gets a warning in a correction too', async () => {
    using place = createSandbox()
    await place.run('remember', 'It is in the safe.', '--name', 'vault note')

    const { stderr } = await place.run('correct', 'vault note', `The password is ${password}.`)

    expect(stderr).toContain('warning: The statement seems to contain a password or key')
  })
})

const disposing = (directory: Disposable) => ({ [Symbol.dispose]: () => directory[Symbol.dispose]() })

const isIn = (directory: string, text: string): boolean =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .some((file) => statSync(file).isFile() && readFileSync(file).includes(text))

describe('a secret from an agent', () => {
  const statement = { name: 'deployment', content: 'Runs on Fridays.' }

  it.each([
    { name: `deployment ${secret}` },
    { content: `Use ${secret}.` },
    { why: `Use ${secret}.` },
    { aliases: [secret] },
    { type: 'relation' as const, participants: ['deployment', secret] },
    { type: 'relation' as const, relation: `uses ${secret}` },
    {
      type: 'preference' as const,
      subtype: 'expertise' as const,
      expertise: { domain: secret, depth: 'expert' as const },
    },
    { sourceId: secret },
    { model: secret },
    { content: `Use ${Buffer.from(secret).toString('base64')}.` },
  ])('is refused: %j', async (fields) => {
    using place = memoryInFiles()

    await expect(place.memoryAs(agent).remember({ ...statement, ...fields })).rejects.toMatchObject({ code: 'invalid' })

    expect(place.isOnDisk(secret)).toBe(false)
  })

  it('is not stored as the key of a request, which still has one effect', async () => {
    using place = memoryInFiles()

    const first = await place.memoryAs(agent).remember({ ...statement, key: secret })
    const again = await place.memoryAs(agent).remember({ ...statement, key: secret })

    expect(again.event).toBe(first.event)
    expect(place.isOnDisk('Runs on Fridays.')).toBe(true)
    expect(place.isOnDisk(secret)).toBe(false)
  })

  it.each(['user', 'assistant', 'tool'] as const)(
    'is masked in a turn of the %s and in all its fields',
    async (role) => {
      using place = memoryInFiles()
      const fields = { speaker: secret, session: secret, messageId: secret, host: secret }

      await place.memoryAs(agent).hear([{ text: `The reply was ${secret}, for the canary.`, role, ...fields }])

      expect(place.isOnDisk('for the canary.')).toBe(true)
      expect(place.isOnDisk(secret)).toBe(false)
    },
  )
})

describe('a secret in a file of beliefs', () => {
  const record = (name: string, actor: string) => ({
    name,
    content: `Use ${secret}.`,
    provenance: { actor, origin: 'x' },
  })

  it('is skipped with a warning, unless the person vouches for the file', async () => {
    using place = memoryInFiles()
    const memory = place.memoryAs({ actor: 'person', origin: 'cli' })

    const { added, warnings } = await memory.import(JSON.stringify([record('one', 'agent'), record('two', 'person')]))
    expect(added).toBe(0)
    expect(warnings).toMatchObject([expect.stringContaining('API key'), expect.stringContaining('API key')])
    expect(place.isOnDisk(secret)).toBe(false)

    const own = JSON.stringify([record('three', 'person')])
    expect(await memory.import(own, { trusted: true })).toMatchObject({ added: 1, warnings: [] })
  })
})

describe('a secret in the input of a hook', () => {
  it('never reaches the disk', async () => {
    using place = createSandbox()
    const payload = {
      session_id: secret,
      transcript_path: null,
      cwd: place.work,
      hook_event_name: 'UserPromptSubmit',
      prompt: `The build needs ${secret}, said the canary.`,
    }

    await place.runWith(
      { stdin: JSON.stringify(payload), startedAt: performance.now() + 60_000 },
      'hook',
      'prompt-submit',
      '--host',
      'claude-code',
    )
    expect(isIn(place.path, 'said the canary.')).toBe(true)
    expect(isIn(place.path, secret)).toBe(false)

    await place.runWith({}, 'hook', 'hear', '--host', 'claude-code')
    expect(isIn(place.path, 'said the canary.')).toBe(true)
    expect(isIn(place.path, secret)).toBe(false)
  })
})
