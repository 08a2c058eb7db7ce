import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openMemory, shadowRecall } from '../../src/index.ts'
import { createSandbox } from '../cli/sandbox.ts'
import { count } from '../full-counts.ts'
import { servingWith } from '../http/serving.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

const canaries = Array.from({ length: count(1_000) }, (_, number) => `Canary-${number.toString(36)}-Éy${number * 7919}`)
const words = Array.from({ length: count(10_000) }, (_, number) => `word${number}`)

/** The encodings in which a text might have been stored. */
const formsOf = (text: string): readonly string[] => {
  const bytes = Buffer.from(text)
  return [text, text.toLowerCase(), bytes.toString('base64'), bytes.toString('hex'), encodeURIComponent(text)]
}

it('shadow records contain no word of a message or a belief, and no hash that a dictionary finds', async () => {
  using directory = temporaryDirectory()
  const dir = join(directory.path, 'memory')
  const plain = openMemory({ dir })
  for (const canary of canaries.slice(0, 50)) await plain.remember({ name: canary, content: `It is ${canary}.` })
  const memory = shadowRecall(plain, { dir, sessionKey: 'opaque' })
  for (const canary of canaries) await memory.recall(`What about ${canary}?`)
  for (const word of words.slice(0, 20)) await memory.recall(word)
  await memory.close()

  const root = join(dir, 'state', 'evals', 'shadow')
  const records = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
  const all = records.join('\n')

  // On a slow disk records beyond the first hundred may be dropped.
  expect(records.length).toBeGreaterThanOrEqual(100)
  expect(records.some((record) => JSON.parse(record).recalledMemoryCount > 0)).toBe(true)
  expect(canaries.flatMap(formsOf).filter((form) => all.includes(form))).toEqual([])
  const hashes = (word: string): readonly string[] =>
    [word, `text\0${word}`].map((text) => createHash('sha256').update(text).digest('hex'))
  expect(words.flatMap(hashes).filter((hash) => all.includes(hash))).toEqual([])
  // The same search finds a text that was stored.
  const leaky = all + formsOf(canaries[3] ?? '')[2]
  expect(canaries.flatMap(formsOf).filter((form) => leaky.includes(form))).toHaveLength(1)
})

/** The files of a memory that contain text on purpose: the store, MEMORY.md with its merge bases, and the hooks' queue. */
const filesWithText = /^(?:state\/credence\.db|[^/]*\.md$|state\/mirror|state\/hook-queue\/)/u

it('no log, metric, shadow record or report contains a word of a message or a belief, even after errors', {
  timeout: 600_000,
}, async () => {
  using place = createSandbox()
  const dir = join(place.work, 'memory')
  const env = { CREDENCE_EVAL_SHADOW_MODE_ENABLED: 'true', CREDENCE_EVAL_HARNESS_ENABLED: 'true', CREDENCE_DIR: dir }
  const run = (stdin: string, ...argv: readonly string[]) => place.runWith({ env, stdin }, ...argv)
  await run('', 'init')
  const server = await servingWith(env, place, '--dir', dir)
  expect(server.dir).toBe(dir)
  const post = (path: string, body: string) => server.ask(path, { method: 'POST', body })
  const agent = { authorization: `Bearer ${readFileSync(join(dir, 'state', 'agent-token'), 'utf8').trim()}` }
  const statuses: number[] = []
  for (const canary of canaries) {
    const asked = [
      post('/beliefs', JSON.stringify({ name: canary, content: `It is ${canary}.`, scopes: ['user:universal'] })),
      post('/recall', JSON.stringify({ message: `What about ${canary}?`, scopes: ['user:universal'] })),
      server.ask('/recall', {
        method: 'POST',
        headers: agent,
        body: JSON.stringify({ message: `And ${canary}?`, scopes: ['user:universal'] }),
      }),
      post('/recall', `{"message": "${canary}", `),
      post('/recall', JSON.stringify({ [canary]: canary })),
      server.ask(`/search?query=${encodeURIComponent(canary)}`),
      server.ask(`/beliefs/${encodeURIComponent(canary)}`),
    ]
    statuses.push(...(await Promise.all(asked)).map(({ status }) => status))
  }
  for (const canary of canaries.slice(0, 10)) {
    const prompt = JSON.stringify({ prompt: `What about ${canary}?`, session_id: canary, cwd: place.work })
    await run(prompt, 'hook', 'prompt-submit')
    await run(prompt.slice(0, -5), 'hook', 'prompt-submit')
    await run('', 'recall', `What about ${canary}?`, '--scope', 'user:universal')
    await run('', 'correct', canary, canary)
  }
  const figures = await Promise.all(
    ['/health', '/growth', '/hosts'].map(async (path) => (await server.ask(path)).text()),
  )
  const reports = [
    await run('', 'shadow', 'status', '--json'),
    await run('', 'benchmark', 'status', '--json'),
    await run('', 'doctor', '--json'),
  ].map(({ stdout, stderr }) => stdout + stderr)
  const { errors } = await server.stop()

  const files = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
  const others = files.filter((name) => !filesWithText.test(name))
  const written = others.map((name) => `${name}\n${readFileSync(join(dir, name), 'latin1')}`)
  const all = [...written, ...figures, ...reports, errors].join('\n')
  const found = canaries.flatMap(formsOf).filter((form) => all.includes(form) || all.includes(latin(form)))
  console.log(`${statuses.length} requests, ${others.length} files besides the store: ${found.length} texts found`)
  expect(new Set(statuses)).toEqual(new Set([200, 201, 400, 404]))
  expect(others).toContain('state/hook.log')
  expect(others.filter((name) => name.includes('evals/shadow/')).length).toBeGreaterThan(50)
  expect(found).toEqual([])
  const kept = files.filter((name) => filesWithText.test(name)).map((name) => readFileSync(join(dir, name), 'latin1'))
  expect(kept.join('').includes(latin(canaries[0] ?? ''))).toBe(true)
})

/** A text in the encoding in which files are searched: one character per byte. */
const latin = (text: string): string => Buffer.from(text).toString('latin1')
