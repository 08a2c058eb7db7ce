import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, vi } from 'vitest'
import { password, postgresPrograms, sharedCluster, undurable } from '../../src/store/postgres/cluster.contract.ts'
import { createSandbox, endOf } from '../cli/sandbox.ts'
import { serving } from '../http/serving.ts'
import { stdioClient } from '../mcp/stdio-clients.ts'
import { says, scriptedUpstream } from '../proxy/scripted-upstream.ts'

const timeout = 300_000
type Place = ReturnType<typeof createSandbox>

/** Runs the real program, whose output must never contain the password. */
async function credence(place: Place, env: Readonly<Record<string, string>>, argv: readonly string[], stdin = '') {
  const child = place.start(argv, { env })
  child.stdin.end(stdin)
  const ending = await endOf(child)
  expect(ending.stdout + ending.stderr).not.toContain(password)
  return ending
}

const inMemory = ['--dir', 'm', '--scope', 'project:a']

describe.skipIf(postgresPrograms === null)('With a PostgreSQL store', () => {
  const cluster = sharedCluster(undurable)
  const newStore = async () => (await cluster()).newDatabase()
  const expectNoFile = (place: Place): void => {
    expect(existsSync(join(place.work, 'm', 'state', 'credence.db'))).toBe(false)
  }

  it('two servers answer with beliefs that the other has just learned, and MEMORY.md has them', {
    timeout,
  }, async () => {
    using place = createSandbox()
    const store = await newStore()
    const env = { CREDENCE_STORE: store }
    await credence(place, env, ['init', ...inMemory.slice(0, 2)])
    await using one = await serving(place, ...inMemory, '--store', store)
    await using other = await serving(place, '--dir', 'n', '--scope', 'project:a', '--store', store)
    const recalled = async (server: typeof one) => {
      const body = JSON.stringify({ message: 'When is the ferry crossing?', scopes: ['project:a'] })
      const context = await (await server.ask('/recall', { method: 'POST', body })).text()
      return /Ferry at \d+/u.exec(context)?.[0]
    }

    for (let hour = 6; hour < 12; hour += 1) {
      const [writer, reader] = hour % 2 === 0 ? [one, other] : [other, one]
      const content = `Ferry at ${hour}.`
      const body = JSON.stringify({ name: 'ferry crossing', type: 'entity', content })
      if (hour === 6) expect((await writer.ask('/beliefs', { method: 'POST', body })).status).toBe(201)
      else
        expect(await credence(place, env, ['correct', 'ferry crossing', content, ...inMemory])).toMatchObject({
          exitCode: 0,
        })
      // Often enough that each server has its index in memory.
      for (let time = 0; time < 4; time += 1) {
        expect(await recalled(reader)).toBe(`Ferry at ${hour}`)
        expect(await recalled(writer)).toBe(`Ferry at ${hour}`)
      }
    }
    await credence(place, env, ['mirror', 'sync', '--dir', 'm'])

    expect(readFileSync(join(place.work, 'm', 'MEMORY.md'), 'utf8')).toContain('Ferry at 11.')
    expect((await one.stop()).errors + (await other.stop()).errors).not.toContain(password)
    expectNoFile(place)
  })

  it('a server does not start on a store that it cannot use', { timeout }, async () => {
    using place = createSandbox()
    const store = await newStore()
    const serve = (address: string) => credence(place, {}, ['serve', '--port', '0', '--dir', 'm', '--store', address])

    const wrong = await serve(store.replace(password, 'wrong'))
    await credence(place, { CREDENCE_STORE: store }, ['init', '--dir', 'm'])
    const database = store.split('/').at(-1)
    await (await cluster()).query(`INSERT INTO credence.migrations VALUES (99, 'from the future')`, database)
    const newer = await serve(store)

    expect(wrong).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('does not let the user') })
    expect(newer).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('has schema 99') })
  })

  it('MCP remembers and searches, with --store and with CREDENCE_STORE', { timeout }, async () => {
    using place = createSandbox()
    const store = await newStore()
    const text = (result: unknown): string => JSON.stringify(result)
    const writer = await stdioClient(place, { mode: 'modern', options: [...inMemory, '--store', store] })
    const said = { statement: 'The lock of the boathouse is 4711.', names: ['boathouse lock'] }
    expect((await writer.callTool({ name: 'memory_remember', arguments: said })).isError).not.toBe(true)
    await writer.close()
    const reader = await stdioClient(place, { mode: 'modern', options: inMemory, env: { CREDENCE_STORE: store } })

    const found = await reader.callTool({ name: 'memory_search', arguments: { query: 'boathouse lock' } })
    await reader.close()

    expect(text(found)).toContain('4711')
    expectNoFile(place)
  })

  it('hooks recall, and store messages', { timeout }, async () => {
    using place = createSandbox()
    const env = { CREDENCE_STORE: await newStore(), CREDENCE_DIR: join(place.work, 'm') }
    await credence(place, env, [
      'remember',
      'Sessions live in Redis 7.',
      '--name',
      'Redis',
      '--scope',
      'user:universal',
    ])
    // Runs the hook in this process with a minute to answer: on a busy machine, connecting may take longer than a host
    // waits.
    const started: (readonly string[])[] = []
    const hook = (prompt: string) => {
      const event = { session_id: 's-1', transcript_path: null, cwd: place.work, hook_event_name: 'UserPromptSubmit' }
      const startDetached = async (argv: readonly string[]) => void started.push(argv)
      const stdin = JSON.stringify({ ...event, prompt })
      return place.runWith(
        { env, stdin, startDetached, startedAt: performance.now() + 60_000 },
        'hook',
        'prompt-submit',
      )
    }

    await hook('The harbour office closes at noon.')
    const recalled = await hook('Is Redis used?')
    for (const argv of started) await credence(place, env, argv)

    expect(recalled.stdout).toContain('Redis 7')
    expect((await credence(place, env, ['conversations', 'show', 's-1'])).stdout).toContain('closes at noon')
    expectNoFile(place)
  })

  it('the proxy adds recalled context, and stores messages', { timeout }, async () => {
    using place = createSandbox()
    const env = { CREDENCE_STORE: await newStore() }
    await using upstream = await scriptedUpstream()
    upstream.script(says('Noted.'))
    const remembered = ['remember', 'The kayak is blue.', '--name', 'kayak', ...inMemory]
    await credence(place, env, remembered)
    const argv = ['proxy', '--upstream', upstream.url, '--port', '0', '--json', ...inMemory]
    const child = place.start([...argv, '--store', env.CREDENCE_STORE])
    let printed = ''
    for await (const line of createInterface({ input: child.stdout })) {
      printed += line
      if (line === '}') break
    }
    const { url } = JSON.parse(printed) as { url: string }

    // On a busy machine the memory may take longer than a request waits for it.
    await vi.waitFor(
      async () => {
        const content = 'Which colour has the kayak?'
        const body = JSON.stringify({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content }] })
        const response = await fetch(`${url}/v1/messages`, { method: 'POST', body })
        await response.text()
        expect(response.headers.get('x-credence-memory')).toBe('added')
      },
      { timeout: 60_000, interval: 100 },
    )
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    await exit

    expect(upstream.requests.at(-1)?.bytes.toString()).toContain('The kayak is blue.')
    expect((await credence(place, env, ['conversations', ...inMemory])).stdout).toContain('colour')
    expectNoFile(place)
  })
})
