import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ConnectHost } from '../../src/cli/connect/hosts.ts'
import { hostPlace, installedHost, type pinned } from './host-place.ts'
import { type ModelReply, type ModelRequest, type ScriptedModel, scriptedModel } from './scripted-model.ts'

type Place = ReturnType<typeof hostPlace>

/** A host, and the way to run it without a person and without a network. */
export type HostUnderTest = {
  readonly host: ConnectHost
  readonly installed: keyof typeof pinned
  /** `url`: the URL of its model; `home`: its home directory. */
  readonly env: (url: string, home: string) => Readonly<Record<string, string>>
  /** The configuration files that the person already has for the host, by their paths below the home directory. */
  readonly files: (url: string) => Readonly<Record<string, string>>
  /** The command that runs one turn in a separate process. */
  readonly turn: (prompt: string) => readonly [string, ...string[]]
  /** Options of `connect`. */
  readonly connect?: readonly string[]
  /** Commands of the host that rewrite its configuration. */
  readonly rewrites: readonly (readonly [string, ...string[]])[]
  /** The parts of the files that must be the same with and without Credence, after the host has rewritten them. */
  readonly compared: (home: string) => unknown
  /** The reply of a model that wants to call a tool of Credence that is not listed yet. */
  readonly call?: (tool: string, input: object) => ModelReply
  /** Whether prompts and answers are stored, and learned from, without the model calling a tool. */
  readonly keepsTurns: boolean
  /** A call of the host's shell and the options that allow it, if the host has hooks before tool calls. */
  readonly shell?: (command: string) => { readonly call: ModelReply; readonly options: readonly string[] }
}

const statement = 'our staging port is 5433'
const order = `Remember that ${statement}.`
const question = 'Which staging port do we use?'
const answer = 'Certainly, at once.'

const maxCalls = 10

/**
 * Searches the memory once the conversation contains the question, until it answers with hits and their strengths. If turns are not
 * stored, lets the memory remember the person's request.
 */
function scriptFor({ call, keepsTurns }: HostUnderTest): (request: ModelRequest) => ModelReply {
  let calls = 0
  return ({ conversation, results, tools }) => {
    const asks = conversation.includes(question) && !results.includes('strength')
    const orders = !keepsTurns && conversation.includes(order) && !results.includes('outcome')
    calls += 1
    if (calls > maxCalls || !(asks || orders)) return { text: answer }
    const wanted = asks ? 'memory_search' : 'memory_remember'
    const input = asks ? { query: 'staging port' } : { name: 'staging port', content: statement }
    const tool = tools.find((name) => name.endsWith(wanted))
    if (tool === undefined) return call?.(wanted, input) ?? { text: answer }
    const [name = tool, namespace] = tool.split('.').reverse()
    return { call: { name, ...(namespace === undefined ? {} : { namespace }), input } }
  }
}

/** The tests of every host. Skipped, with a printed reason, if the host cannot be installed. */
export function describeHost(name: string, tested: HostUnderTest): void {
  const programs = installedHost(tested.installed)
  const { host } = tested

  const open = async () => {
    const model = await scriptedModel(scriptFor(tested))
    return { model, place: placed(tested, model, programs ?? '') }
  }
  const connect = async (place: Place) => {
    const { exitCode, stdout, stderr } = await place.credence('connect', host, '--yes', ...(tested.connect ?? []))
    expect(exitCode, stderr).toBe(0)
    return stdout
  }
  const turn = async (place: Place, cwd: string, prompt: string) => {
    const [program, ...args] = tested.turn(prompt)
    const ending = await place.runIn(cwd, program, ...args)
    expect(ending.exitCode, `${ending.stdout}\n${ending.stderr}`).toBe(0)
    await place.allHeard()
  }

  const recallsWhatWasSaid = async () => {
    const { model, place } = await open()
    await using _model = model
    using _place = place
    const work = place.repository('ledger')
    const elsewhere = place.repository('garden')
    await connect(place)

    await turn(place, work, order)
    await turn(place, work, 'My name is Dana.')
    const first = model.requests.length
    await turn(place, work, question)
    const second = model.requests.length
    await turn(place, elsewhere, 'Good morning to you.')

    const asked = model.requests.slice(first, second).filter(({ conversation }) => conversation.includes(question))
    expect(asked.some(({ conversation, results }) => results === '' && conversation.includes(statement))).toBe(true)
    expect(asked.at(-1)?.results).toContain(statement)
    const others = model.requests.slice(second).map(({ conversation }) => conversation)
    expect(others.some((text) => text.includes('My name is Dana'))).toBe(true)
    expect(others.some((text) => text.includes('5433'))).toBe(false)
    const { items } = await place.credenceJson('beliefs', '--scope', 'user:universal')
    expect(items.map(({ content }: { content: string }) => content)).toEqual(['My name is Dana.'])
    const turns = await place.credenceJson('export', '--turns')
    const texts = (role: string) => turns.filter((one: { role: string }) => one.role === role)
    expect(texts('user').map(({ text }: { text: string }) => text)).toEqual([
      order,
      'My name is Dana.',
      question,
      'Good morning to you.',
    ])
    expect(texts('assistant')).toMatchObject(Array.from({ length: 4 }, () => ({ text: answer })))
    // The host's own history has the same turns, so importing it adds none.
    await place.credence('import', 'chats')
    expect(await place.credenceJson('export', '--turns')).toEqual(turns)
    const { hosts } = await place.credenceJson('connect', host, '--status')
    expect(hosts[0]).toMatchObject({
      connected: 'yes',
      lastHook: { outcome: 'done' },
      lastCall: { tool: 'memory_search' },
    })
  }

  const recallsWhatWasRemembered = async () => {
    const { model, place } = await open()
    await using _model = model
    using _place = place
    await connect(place)

    await turn(place, place.repository('ledger'), order)
    const { items } = await place.credenceJson('review')
    // An agent can only propose beliefs that apply everywhere.
    await place.credence('review', 'accept', items[0]?.belief.id)
    const first = model.requests.length
    await turn(place, place.repository('garden'), question)

    expect(items).toMatchObject([{ belief: { content: statement, scopes: ['user:universal'] } }])
    const asked = model.requests.slice(first).filter(({ conversation }) => conversation.includes(question))
    expect(asked[0]?.conversation).toContain(statement)
    expect(asked[0]?.conversation).not.toContain(order)
    expect(asked.at(-1)?.results).toContain(statement)
    expect(await place.credenceJson('export', '--turns')).toEqual([])
    const { hosts } = await place.credenceJson('connect', host, '--status')
    expect(hosts[0]).toMatchObject({ connected: 'yes', lastCall: { tool: 'memory_search' } })
  }

  describe.skipIf(programs === null)(name, () => {
    it('confirms the connection with its own check', async () => {
      const { model, place } = await open()
      await using _model = model
      using _place = place

      const stdout = await connect(place)
      const { hosts } = await place.credenceJson('connect', host, '--status')

      expect(stdout).toContain('confirms it')
      expect(hosts).toMatchObject([{ host, connected: 'yes', version: { version: expect.stringMatching(/^\d/) } }])
    })

    if (tested.keepsTurns) it('gives its model the turns of another process, and its tools', recallsWhatWasSaid)
    else it('gives its model the beliefs of another process, and its tools', recallsWhatWasRemembered)

    it.skipIf(tested.shell === undefined)('gives its model the beliefs about a command that it runs', async () => {
      const { call = { text: answer }, options = [] } = tested.shell?.('echo made > pool.txt') ?? {}
      await using model = await scriptedModel(({ results, conversation }) =>
        results === '' && conversation.includes('Make a pool') ? call : { text: answer },
      )
      using place = placed(tested, model, programs ?? '')
      const text = 'Bash {"command":"echo made > pool.txt"}\nExit code 1\npool.txt: disk quota exceeded'
      const step = { role: 'tool', session: 'a', at: '2026-05-03T10:00:00Z', text }
      writeFileSync(join(place.work, 'steps.jsonl'), JSON.stringify(step))
      await place.credence('import', 'chats', 'steps.jsonl', '--scope', 'user:universal')
      await connect(place)

      const [program, ...args] = tested.turn('Make a pool.')
      await place.runIn(place.work, program, ...args, ...options)

      const { conversation = '' } = model.requests.at(-1) ?? {}
      expect(conversation).toContain('This command failed on 2026-05-03 with')
      expect(conversation).not.toContain('hook success')
      expect(existsSync(join(place.work, 'pool.txt'))).toBe(true)
    })

    it('has its original files after --remove, even if it rewrote them in between', async () => {
      const { model, place } = await open()
      await using _model = model
      using _place = place
      using control = placed(tested, model, programs ?? '')
      const paths = Object.keys(tested.files(model.url)).map((path) => join(place.home, path))
      const textsOf = () => paths.map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : null))
      const before = textsOf()

      await connect(place)
      await place.credence('connect', host, '--remove', '--yes')
      const restored = textsOf()
      await connect(place)
      for (const [program, ...args] of tested.rewrites) {
        for (const one of [place, control]) {
          const { exitCode, stdout, stderr } = await one.runIn(one.work, program, ...args)
          expect(exitCode, `${stdout}\n${stderr}`).toBe(0)
        }
      }
      await place.credence('connect', host, '--remove', '--yes')

      expect(restored).toEqual(before)
      expect(tested.compared(place.home)).toEqual(tested.compared(control.home))
    })
  })
}

function placed(tested: HostUnderTest, model: ScriptedModel, programs: string): Place {
  const place = hostPlace(programs, (home) => tested.env(model.url, home))
  for (const [path, text] of Object.entries(tested.files(model.url))) {
    mkdirSync(dirname(join(place.home, path)), { recursive: true })
    writeFileSync(join(place.home, path), text)
  }
  return place
}
