import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { ChatRequest } from '../../src/models/chat-model.ts'
import { modelFrom, openChatModel } from '../../src/models/open-chat-model.ts'
import { createSandbox } from '../cli/sandbox.ts'
import { chance } from '../durability/durable-store.ts'
import { count } from '../full-counts.ts'
import { fails, type ScriptedReply, says, scriptedEndpoint } from '../models/scripted-endpoint.ts'

const seed = 34
const failures = count(500)
const dialects = ['openai', 'anthropic'] as const
type Dialect = (typeof dialects)[number]

const request = (text = 'Hello', signal = AbortSignal.timeout(30_000)): ChatRequest => ({
  messages: [{ role: 'user', text }],
  signal,
})

/** Keys in the usual formats; the last has an unknown format. */
const canaryKeys = (): readonly string[] =>
  ['sk-proj-', 'sk-ant-api03-', 'gsk_', 'key-', 'local.'].map(
    (start) => `${start}CANARY${randomBytes(12).toString('hex')}`,
  )

/** Everything that a log could print about a value: its messages, causes, properties and stacks. */
const printed = (value: unknown): string =>
  `${inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true })}\n${JSON.stringify(value)}\n${String(value)}`

/** Whether a text contains a key, or its secret part. */
const leaks = (text: string, key: string): boolean => text.includes(key) || text.includes(key.slice(-16))

/** Failures of an endpoint, most of which repeat the received key. */
const failureReplies = (key: string): readonly ScriptedReply[] => [
  ...[400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 529].flatMap((status): ScriptedReply[] => [
    fails(status, `The key ${key} is not known.`),
    { kind: 'raw', status, body: { error: `Bearer ${key}` } },
    { kind: 'raw', status, body: { message: `${'x'.repeat(290)}${key}` } },
    { kind: 'raw', status, body: { message: `[${key}][${key}]` } },
    { kind: 'raw', status, body: `<html>${key}</html>`, headers: { 'x-key': key, 'retry-after': key } },
  ]),
  ...[301, 302, 303, 307, 308].map(
    (status): ScriptedReply => ({
      kind: 'raw',
      status,
      headers: { location: `http://127.0.0.1:9/${key}` },
    }),
  ),
  { kind: 'raw', status: 200, body: `no JSON ${key}` },
  { kind: 'raw', status: 200, body: { [key]: key } },
  {
    kind: 'raw',
    status: 200,
    body: { choices: [{ message: { content: { [key]: key } } }], content: [{ type: key }, key] },
  },
  { kind: 'raw', status: 200, body: { choices: key, content: key } },
  { kind: 'cut', when: 'before' },
  { kind: 'cut', when: 'middle' },
]

const urlOf = (endpoint: { openaiUrl: string; anthropicUrl: string }, dialect: Dialect): string =>
  dialect === 'openai' ? endpoint.openaiUrl : endpoint.anthropicUrl

describe('the key of a model', () => {
  it(`is in no error, over ${failures} failures of an endpoint`, { timeout: 300_000 }, async () => {
    const random = chance(seed)
    let key = ''
    await using endpoint = await scriptedEndpoint(() => {
      const ways = failureReplies(key)
      return ways[Math.floor(random() * ways.length)] as ScriptedReply
    })
    const leaking: string[] = []
    let refused = 0

    for (let turn = 0; turn < failures; turn += 1) {
      const keys = canaryKeys()
      key = keys[turn % keys.length] as string
      const dialect = dialects[turn % 2] as Dialect
      const model = modelFrom(`${dialect}:some-model@${urlOf(endpoint, dialect)}`, key)
      const outcome = await model.reply(request()).catch((error: unknown) => {
        refused += 1
        return error
      })
      if (outcome instanceof Error && leaks(printed(outcome), key)) leaking.push(printed(outcome))
    }

    console.log(`model keys: seed ${seed}, ${failures} failures, ${refused} errors, ${leaking.length} with the key`)
    expect(endpoint.requests).toHaveLength(failures)
    expect(refused).toBeGreaterThan(failures * 0.9)
    expect(leaking).toEqual([])
    // Guards the test: the search finds a key that is planted in a cause.
    expect(leaks(printed(new Error('no', { cause: new Error(key) })), key)).toBe(true)
  })

  it.each([
    ['a line break', 'CANARY-first\nsecond-line-of-it'],
    ['a letter that a header cannot contain', 'CANARY-first…second-line-of-it'],
    ['a control character', 'CANARY-first\u0007second-line-of-it'],
  ])('is refused with the name of its variable, without being shown, with %s in it', async (_what, key) => {
    await using endpoint = await scriptedEndpoint([says('Hi!')])
    const open = async () =>
      openChatModel(`openai:some-model@${endpoint.openaiUrl}`, { CREDENCE_MODEL_KEY: key }).reply(request())

    const error = await open().catch((thrown: unknown) => thrown)

    expect(error).toMatchObject({ code: 'invalid', message: expect.stringContaining('CREDENCE_MODEL_KEY') })
    expect(printed(error)).not.toMatch(/CANARY|second-line/u)
    expect(endpoint.requests).toEqual([])
  })

  it('is in no output and no file of the command line', { timeout: 120_000 }, async () => {
    using place = createSandbox()
    const keys = canaryKeys()
    const [openai = '', anthropic = '', , , other = ''] = keys
    let turn = 0
    // Failures that repeat `other`, the only key that the endpoint receives. Failures that would be retried are left
    // out, because the retries take too long.
    const ways = failureReplies(other).filter((one) => one.kind === 'raw' && one.status < 429)
    await using endpoint = await scriptedEndpoint(() => {
      turn += 1
      return ways[(turn * 7) % ways.length] as ScriptedReply
    })
    const env = { OPENAI_API_KEY: openai, ANTHROPIC_API_KEY: anthropic, CREDENCE_MODEL_KEY: other }
    const outputs: string[] = []
    const run = async (...argv: readonly string[]): Promise<void> => {
      for (const more of [[], ['--json']]) {
        const { stdout, stderr } = await place.runWith({ env }, ...argv, '--dir', 'memory', ...more)
        outputs.push(stdout, stderr)
      }
    }

    await run('hear', 'My dentist is Dr. Lee.')
    for (let asked = 0; asked < count(60); asked += 1) {
      const dialect = dialects[asked % 2] as Dialect
      const spec = `${dialect}:some-model@${urlOf(endpoint, dialect)}`
      await run('review', '--extractor', spec, '--turns', '1')
    }
    for (const command of ['status', 'doctor', 'list', 'log']) await run(command)

    const files = readdirSync(place.path, { recursive: true, encoding: 'utf8' })
      .map((name) => join(place.path, name))
      .filter((path) => statSync(path).isFile())
    const isLeaking = (text: string): boolean => keys.some((key) => leaks(text, key))
    console.log(
      `model keys: ${turn} requests by the command line, ${outputs.length} outputs, ${files.length} files read`,
    )
    expect(turn).toBeGreaterThanOrEqual(2 * count(60))
    expect(outputs.filter(isLeaking)).toEqual([])
    expect(files.filter((path) => isLeaking(readFileSync(path, 'latin1')))).toEqual([])
  })
})

const elsewhere = ['169.254.169.254', '2852039166', '0xA9FEA9FE', '0251.0376.0251.0376', '[::ffff:169.254.169.254]']
const hosts = [
  ...elsewhere,
  '[fd00:ec2::254]',
  'metadata.google.internal',
  '10.0.0.1',
  '192.168.0.1',
  '0.0.0.0',
  '0',
  '[::]',
  '[::ffff:7f00:1]',
  '127.0.0.1.nip.io',
  'localhost.example.com',
  '127.example.com',
  'localhost@example.com',
  '127.0.0.1@example.com',
  'user:pass@127.0.0.1',
  'example.com#@127.0.0.1',
  'example.com?@127.0.0.1',
  'example.com\\@127.0.0.1',
  'ⓛocalhost.test',
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  'LOCALHOST',
  '１２７.0.0.1',
  '[::1]',
  '127.0.0.1%2eexample.com',
]
const forms = hosts.flatMap((host) => ['http', 'https', 'HTTP'].map((protocol) => `${protocol}://${host}/v1`))
const odd = ['file:///etc/passwd', 'ftp://127.0.0.1/', 'gopher://127.0.0.1/', '//127.0.0.1/', 'ws://127.0.0.1/']

describe('the endpoint of a model', () => {
  it('gets a key only over https or on this machine, in every form of a URL', async () => {
    const env = { OPENAI_API_KEY: 'canary-openai', ANTHROPIC_API_KEY: 'canary-anthropic' }
    const asked: { readonly form: string; readonly url: URL; readonly headers: string }[] = []
    let refused = 0

    for (const form of [...forms, ...odd]) {
      for (const dialect of dialects) {
        const recording: typeof fetch = async (input, init) => {
          asked.push({ form, url: new URL(String(input)), headers: JSON.stringify(init?.headers) })
          expect(init?.redirect).toBe('manual')
          return new Response('{}', { status: 400 })
        }
        await (async () => openChatModel(`${dialect}:m@${form}`, env, recording).reply(request()))().catch(() => {
          refused += 1
        })
      }
    }

    const isHere = ({ hostname }: URL): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/u.test(hostname)
    const isOwn = ({ hostname }: URL): boolean => /^api\.(?:openai|anthropic)\.com$/u.test(hostname)
    console.log(
      `model endpoints: ${forms.length + odd.length} forms of a URL, ${refused - asked.length} of ${2 * (forms.length + odd.length)} refused, ${asked.length} asked`,
    )
    expect(asked.filter(({ url }) => url.protocol !== 'https:' && !isHere(url))).toEqual([])
    expect(asked.filter(({ url, headers }) => !isHere(url) && !isOwn(url) && headers.includes('canary'))).toEqual([])
    expect(asked.filter(({ url }) => isOwn(url)).map(({ form }) => form)).toEqual([])
    expect(asked.some(({ url, headers }) => isHere(url) && headers.includes('canary'))).toBe(true)
  })

  it.each(dialects)(
    'is never changed by a redirect, or by an address in a message or an answer, over %s',
    async (dialect) => {
      await using other = await scriptedEndpoint(() => says('Got it.'))
      const otherUrl = urlOf(other, dialect)
      const statuses = [301, 302, 303, 307, 308]
      await using endpoint = await scriptedEndpoint((_asked, index) => {
        const status = statuses[index]
        return status === undefined
          ? { kind: 'answer', text: `See ${otherUrl}`, model: `m@${otherUrl}` }
          : { kind: 'raw', status, headers: { location: `${otherUrl}/messages` } }
      })
      const spec = `${dialect}:m@${urlOf(endpoint, dialect)}`
      const model = modelFrom(spec, 'canary-key')

      for (const _status of statuses)
        await expect(model.reply(request())).rejects.toMatchObject({ code: 'unavailable' })
      await model.reply(request(`Use the model at ${otherUrl}, base_url=${otherUrl}`))
      await model.reply(request())

      expect(other.requests).toEqual([])
      expect(endpoint.requests).toHaveLength(statuses.length + 2)
      // A client that followed redirects would be detected.
      await using redirecting = await scriptedEndpoint(() => ({
        kind: 'raw',
        status: 307,
        headers: { location: `${otherUrl}/messages` },
      }))
      const careless: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'follow' })
      await modelFrom(`${dialect}:m@${urlOf(redirecting, dialect)}`, 'canary-key', careless)
        .reply(request())
        .catch(() => {})
      expect(other.requests).toHaveLength(1)
    },
  )
})
