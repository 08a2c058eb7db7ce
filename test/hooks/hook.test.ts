import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { hookEvents, hookHosts } from '../../src/cli/hooks/hook-event.ts'
import { hookLogFile } from '../../src/cli/hooks/hook-log.ts'
import { endOf, workplace } from '../cli/workplace.ts'
import { claudeCodeOutput, codexOutput, cursorOutput } from './hosts.ts'

type Place = ReturnType<typeof workplace>

const ownDir = (place: Place): string => join(place.home, '.local', 'share', 'credence')
const logOf = (place: Place) =>
  readFileSync(hookLogFile(ownDir(place)), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

/**
 * Runs a hook in this process, as if the host had sent this and there were a minute left. What it leaves to a process of
 * its own runs afterwards, in this one too.
 */
const hook = async (place: Place, payload: unknown, ...argv: readonly string[]) => {
  const stdin = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const started: (readonly string[])[] = []
  const startDetached = async (words: readonly string[]) => void started.push(words)
  const ending = await place.runWith({ stdin, startedAt: performance.now() + 60_000, startDetached }, 'hook', ...argv)
  for (const words of started) await place.runWith({}, ...words)
  return { ...ending, started: started.length }
}

const prompted = (place: Place, prompt: string) => ({
  session_id: 's-1',
  transcript_path: null,
  cwd: place.work,
  hook_event_name: 'UserPromptSubmit',
  prompt,
})

/** What holds everywhere, and what holds in the project of the working directory. */
async function withMemory(place: Place): Promise<void> {
  writeFileSync(join(place.work, '.credence.json'), '{"scope": "project:ledger"}')
  await place.json('remember', 'Sessions live in Redis 7.', '--name', 'redis cache', '--alias', 'Redis')
  await place.json('remember', 'Every second Tuesday.', '--name', 'release train', '--pin')
  await place.json('remember', 'Answer briefly.', '--name', 'answer style', '--scope', 'user:universal')
}

describe('a hook at prompt submit', () => {
  it.each([
    ['claude-code', 'prompt-submit', claudeCodeOutput],
    ['claude-code', 'UserPromptSubmit', claudeCodeOutput],
    ['codex', 'UserPromptSubmit', codexOutput],
  ] as const)('tells %s at %s what the prompt names, in the form it wants', async (host, event, schema) => {
    using place = workplace()
    await withMemory(place)

    const { exitCode, stdout, stderr } = await hook(
      place,
      prompted(place, 'Why does Redis evict?'),
      event,
      '--host',
      host,
    )

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const said = schema.parse(JSON.parse(stdout))
    expect(said.hookSpecificOutput?.hookEventName).toBe('UserPromptSubmit')
    expect(said.hookSpecificOutput?.additionalContext).toContain('Sessions live in Redis 7.')
    // What always holds was said when the session began.
    expect(stdout).not.toContain('Tuesday')
    expect(stdout).not.toContain('briefly')
  })

  it('says nothing when the prompt names nothing, and lets Cursor go on', async () => {
    using place = workplace()
    await withMemory(place)
    const payload = { conversation_id: 'c', workspace_roots: [place.work], prompt: 'Hello there' }

    const claude = await hook(place, prompted(place, 'Hello there'), 'prompt-submit')
    const cursor = await hook(place, payload, 'beforeSubmitPrompt', '--host', 'cursor')

    expect(claude.stdout).toBe('')
    expect(cursorOutput.parse(JSON.parse(cursor.stdout))).toEqual({ continue: true })
  })

  it('learns from what the person said, as the person’s own words, and makes a memory for it', async () => {
    using place = workplace()

    const { stdout } = await hook(place, prompted(place, 'I prefer tabs over spaces in Go code.'), 'prompt-submit')
    const { items } = await place.json('beliefs')

    expect(stdout).toBe('')
    expect(items).toHaveLength(1)
    expect(items[0]).toMatchObject({ provenance: { actor: 'person', origin: 'claude-code', sourceId: 's-1' } })
    expect(logOf(place)).toMatchObject([
      { event: 'prompt-submit', outcome: 'no memory yet' },
      { event: 'learn', outcome: 'done', learned: 1 },
    ])
  })

  it('keeps what was said when the store cannot be asked, and learns it later', async () => {
    using place = workplace()
    await withMemory(place)
    const file = join(ownDir(place), 'state', 'credence.db')
    const whole = readFileSync(file)
    writeFileSync(file, 'this is no database, but long enough to look at')
    await hook(place, prompted(place, 'I prefer tabs over spaces in Go code.'), 'prompt-submit')
    writeFileSync(file, whole)

    await hook(place, { cwd: place.work }, 'stop')

    expect(JSON.stringify(await place.json('beliefs'))).toContain('tabs')
  })

  it('makes no memory where there is nothing to put into it', async () => {
    using place = workplace()

    await hook(place, prompted(place, 'What is the time?'), 'prompt-submit')

    expect(existsSync(join(ownDir(place), 'state', 'credence.db'))).toBe(false)
    expect(logOf(place)).toMatchObject([{ outcome: 'no memory yet' }])
  })

  it('leaves a plain statement to the end of the turn, when nobody waits', async () => {
    using place = workplace()
    await withMemory(place)

    const { started } = await hook(place, prompted(place, 'The API listens on port 8080.'), 'prompt-submit')
    const during = await place.json('beliefs')
    await hook(place, { cwd: place.work }, 'stop')
    const after = await place.json('beliefs')

    expect(started).toBe(0)
    expect(JSON.stringify(during)).not.toContain('8080')
    expect(JSON.stringify(after)).toContain('8080')
    expect(statSync(hookLogFile(ownDir(place))).mode & 0o077).toBe(0)
    expect(existsSync(join(ownDir(place), 'state', 'hook-unlearned.jsonl'))).toBe(false)
  })

  it('keeps what is left for later where its owner alone can read it', async () => {
    using place = workplace()

    await hook(place, prompted(place, 'The API listens on port 8080.'), 'prompt-submit')

    expect(statSync(join(ownDir(place), 'state', 'hook-unlearned.jsonl')).mode & 0o777).toBe(0o600)
  })

  it('learns nothing from commands and from what programs say', async () => {
    using place = workplace()

    for (const prompt of [
      '/remember I prefer tabs in Go code.',
      '<task-notification>I prefer tabs in Go code.</task>',
    ]) {
      await hook(place, prompted(place, prompt), 'prompt-submit')
    }

    expect(existsSync(join(ownDir(place), 'state', 'credence.db'))).toBe(false)
  })
})

describe('a hook at the start of a session', () => {
  it.each([
    ['claude-code', claudeCodeOutput],
    ['codex', codexOutput],
    ['cursor', cursorOutput],
  ] as const)('tells %s what always holds', async (host, schema) => {
    using place = workplace()
    await withMemory(place)

    const { stdout } = await hook(place, { cwd: place.work, source: 'compact' }, 'session-start', '--host', host)

    expect(schema.safeParse(JSON.parse(stdout)).success).toBe(true)
    expect(stdout).toContain('Answer briefly.')
    expect(stdout).toContain('Every second Tuesday.')
    expect(stdout).not.toContain('Redis')
  })
})

describe('hooks at stop and before compaction', () => {
  it.each(hookHosts)('say nothing to %s', async (host) => {
    using place = workplace()
    await withMemory(place)

    for (const event of ['stop', 'pre-compact']) {
      const { exitCode, stdout } = await hook(place, { cwd: place.work, prompt: 'Redis' }, event, '--host', host)
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
    }
  })

  it('learn what was kept before, which starts nothing where there is nothing', async () => {
    using place = workplace()
    await withMemory(place)
    const text = 'I prefer tabs over spaces in Go code.'
    const lesson = { text, directory: place.work, host: 'cursor', session: 's-1' }
    const file = join(ownDir(place), 'state', 'hook-unlearned.jsonl')
    writeFileSync(file, `${JSON.stringify(lesson)}\n{"text": "cut o`)

    const first = await hook(place, { cwd: place.work }, 'stop')
    const second = await hook(place, { cwd: place.work }, 'stop')

    const { items } = await place.json('beliefs')
    expect(JSON.stringify(items)).toContain('tabs')
    expect(JSON.stringify(items)).toContain('"origin":"cursor"')
    expect(existsSync(file)).toBe(false)
    expect([first.started, second.started]).toEqual([1, 0])
    expect(logOf(place)).toMatchObject([{ event: 'stop' }, { event: 'learn', learned: 1 }, { event: 'stop' }])
  })

  it('learn what a process that died had begun with, and leave alone what another is at', async () => {
    using place = workplace()
    await withMemory(place)
    const file = join(ownDir(place), 'state', 'hook-learning.jsonl')
    const lesson = {
      text: 'I prefer tabs over spaces in Go code.',
      directory: place.work,
      host: 'codex',
      session: 's-1',
    }
    writeFileSync(file, `${JSON.stringify(lesson)}\n`)

    await hook(place, { cwd: place.work }, 'stop')
    const during = await place.json('beliefs')
    const longAgo = new Date(Date.now() - 3_600_000)
    utimesSync(file, longAgo, longAgo)
    await hook(place, { cwd: place.work }, 'stop')
    const after = await place.json('beliefs')

    expect(JSON.stringify(during)).not.toContain('tabs')
    expect(JSON.stringify(after)).toContain('tabs')
    expect(existsSync(file)).toBe(false)
  })

  it('learn in the order in which things were said', async () => {
    using place = workplace()
    await withMemory(place)

    for (const port of ['8080', '9090']) {
      const said = JSON.stringify(prompted(place, `Remember that the API port is ${port}.`))
      await place.runWith({ stdin: said, startedAt: performance.now() + 60_000 }, 'hook', 'prompt-submit')
    }
    await hook(place, { cwd: place.work }, 'stop')

    const { items } = await place.json('beliefs', '--status', 'active')
    expect(JSON.stringify(items)).toContain('9090')
    expect(JSON.stringify(items)).not.toContain('8080')
  })
})

describe('a hook that is late', () => {
  it('answers all the same, and leaves what was said to be learned at the next stop', async () => {
    using place = workplace()
    await withMemory(place)
    const said = 'Why does Redis evict? I prefer tabs over spaces in Go code.'
    // So late that reading the input just succeeds.
    const late = { stdin: JSON.stringify(prompted(place, said)), startedAt: performance.now() - 100_000 }

    const { exitCode, stdout } = await place.runWith(late, 'hook', 'prompt-submit')
    const before = await place.json('beliefs')
    await hook(place, { cwd: place.work }, 'stop')
    const after = await place.json('beliefs')

    expect(exitCode).toBe(0)
    expect(stdout).toContain('Sessions live in Redis 7.')
    expect(JSON.stringify(before)).not.toContain('tabs')
    expect(JSON.stringify(after)).toContain('tabs')
    expect(logOf(place).map(({ event }) => event)).toEqual(['prompt-submit', 'stop', 'learn'])
  })
})

describe('where a hook stands', () => {
  it('is the repository of the directory in the payload, whichever directory it runs in', async () => {
    using place = workplace()
    const repository = join(place.path, 'ledger')
    mkdirSync(join(repository, '.git', 'refs'), { recursive: true })
    writeFileSync(join(repository, '.git', 'HEAD'), 'ref: refs/heads/main\n')
    mkdirSync(join(repository, 'src'))
    await place.runWith({ cwd: repository }, 'remember', 'Port 8080.', '--name', 'api port')

    const inside = await hook(place, { cwd: join(repository, 'src'), prompt: 'Which api port?' }, 'prompt-submit')
    const outside = await hook(place, { cwd: place.work, prompt: 'Which api port?' }, 'prompt-submit')

    expect(inside.stdout).toContain('Port 8080.')
    expect(outside.stdout).toBe('')
  })

  it('is what a .credence.json says, which can also switch hooks off', async () => {
    using place = workplace()
    await place.json('remember', 'Port 8080.', '--name', 'api port', '--scope', 'project:shared')
    const payload = { cwd: place.work, prompt: 'Which api port?' }
    const file = join(place.work, '.credence.json')

    writeFileSync(file, '{"scope": "project:shared"}')
    const on = await hook(place, payload, 'prompt-submit')
    writeFileSync(file, '{"scope": "project:shared", "enabled": false}')
    const off = await hook(place, payload, 'prompt-submit')
    writeFileSync(file, '{"scope": "project:shared", "enabeld": false}')
    const misspelt = await hook(place, payload, 'prompt-submit')

    expect(on.stdout).toContain('Port 8080.')
    expect(off).toMatchObject({ exitCode: 0, stdout: '' })
    expect(misspelt).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
    expect(logOf(place).map(({ outcome }) => outcome)).toEqual(['done', 'switched off', 'failed: invalid'])
  })
})

describe('whatever goes wrong, a hook', () => {
  it.each([
    ['broken JSON', '{"prompt": ', ['stop']],
    ['a list', '[]', ['stop']],
    ['nothing at all', '', ['prompt-submit']],
    ['no event', '{}', []],
    ['an unknown event', '{}', ['whenever']],
    ['an unknown host', '{}', ['stop', '--host', 'emacs']],
    ['an unknown option', '{}', ['stop', '--bogus']],
    ['one argument too many', '{}', ['stop', 'stop']],
    ['a scope that is none', '{}', ['stop', '--scope', 'x']],
  ] as const)('given %s ends with 0, says nothing and leaves a line', async (_case, stdin, argv) => {
    using place = workplace()
    await withMemory(place)

    const ending = await hook(place, stdin, ...argv)

    expect(ending).toEqual({ exitCode: 0, stdout: '', stderr: '', started: 0 })
    const log = logOf(place)
    expect(log).toHaveLength(1)
    expect(log[0].outcome).toMatch(/^failed: /)
  })

  it('ends with 0 over a broken store, and the host hears nothing', async () => {
    using place = workplace()
    await withMemory(place)
    writeFileSync(join(ownDir(place), 'state', 'credence.db'), 'this is no database, but long enough to look at')

    const ending = await hook(place, prompted(place, 'Why does Redis evict?'), 'prompt-submit')

    expect(ending).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
    expect(logOf(place).at(-1)).toMatchObject({ outcome: 'failed: unavailable' })
  })

  it('ends with 0 where it may not even write its log', async () => {
    using place = workplace()
    chmodSync(place.home, 0o500)

    const ending = await hook(place, '{', 'stop')

    expect(ending).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
    chmodSync(place.home, 0o700)
  })

  it('answers all the same where it cannot keep what was said', async () => {
    using place = workplace()
    await withMemory(place)
    // A directory in the place of the file.
    mkdirSync(join(ownDir(place), 'state', 'hook-unlearned.jsonl'))

    const { stdout, started } = await hook(place, prompted(place, 'We decided to use Redis 8.'), 'prompt-submit')

    expect(stdout).toContain('Sessions live in Redis 7.')
    expect(started).toBe(0)
  })

  it('never says a word that its host did not ask for, whatever comes in', async () => {
    using place = workplace()
    await withMemory(place)
    const schemas = { 'claude-code': claudeCodeOutput, codex: codexOutput, cursor: cursorOutput }
    const field = fc.oneof(fc.string(), fc.constantFrom('Redis', place.work), fc.jsonValue())
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string(), fc.dictionary(fc.constantFrom('cwd', 'prompt', 'workspace_roots', 'session_id'), field)),
        fc.constantFrom(...hookEvents),
        fc.constantFrom(...hookHosts),
        async (payload, event, host) => {
          const { exitCode, stdout } = await hook(place, payload, event, '--host', host)

          expect(exitCode).toBe(0)
          if (stdout !== '') expect(schemas[host].safeParse(JSON.parse(stdout)).success).toBe(true)
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('the log of hooks', () => {
  it('is private, bounded, and holds no word of what was said', async () => {
    using place = workplace()
    await withMemory(place)
    const file = hookLogFile(ownDir(place))
    writeFileSync(file, `${'x'.repeat(300_000)}\n`)

    await hook(place, prompted(place, 'Why does Redis evict canary-4711?'), 'prompt-submit')
    await hook(place, '{"prompt": "canary-4711', 'stop')

    expect(statSync(file).mode & 0o077).toBe(0)
    expect(statSync(file).size).toBeLessThan(1_000)
    expect(statSync(`${file}.1`).size).toBeGreaterThan(300_000)
    expect(readFileSync(file, 'utf8')).not.toMatch(/canary|Redis|evict/)
    expect(logOf(place)).toHaveLength(2)
  })
})

describe('the program itself', () => {
  it('leaves learning to a process that goes on when it has ended', { timeout: 60_000 }, async () => {
    using place = workplace()
    await withMemory(place)
    const isAnswered = () => existsSync(hookLogFile(ownDir(place))) && logOf(place).at(-1).outcome === 'done'

    // On a busy machine a hook may be too late even to hear what is said.
    for (let attempt = 0; attempt < 20 && !isAnswered(); attempt += 1) {
      const child = place.start(['hook', 'prompt-submit'])
      const ended = endOf(child)
      child.stdin.on('error', () => {})
      child.stdin.end(JSON.stringify(prompted(place, 'I prefer tabs over spaces in Go code.')))
      expect((await ended).exitCode).toBe(0)
    }

    const learner = expect.objectContaining({ event: 'learn', outcome: 'done', learned: expect.any(Number) })
    await vi.waitFor(() => expect(logOf(place)).toContainEqual(learner), { timeout: 30_000 })
    expect(JSON.stringify(await place.json('beliefs'))).toContain('tabs')
  })

  it('gives up on a host that never ends its input', { timeout: 20_000 }, async () => {
    using place = workplace()
    const child = place.start(['hook', 'prompt-submit'])
    const ended = endOf(child)
    child.stdin.write('{"prompt": "Redis')

    const { exitCode, stdout } = await ended

    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
    expect(logOf(place)).toMatchObject([{ outcome: 'failed: unavailable' }])
  })

  it('ends with 0 when its reader has gone', { timeout: 20_000 }, async () => {
    using place = workplace()
    await withMemory(place)
    const child = place.start(['hook', 'prompt-submit'])
    const ended = endOf(child)
    child.stdout.destroy()
    child.stdin.end(JSON.stringify(prompted(place, 'Why does Redis evict?')))

    expect((await ended).exitCode).toBe(0)
  })
})
