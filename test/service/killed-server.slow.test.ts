import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/open-memory.ts'
import { openServer } from '../../src/open-server.ts'
import { postgresPrograms, sharedCluster } from '../../src/store/postgres/cluster.contract.ts'
import { createSandbox } from '../cli/sandbox.ts'
import { chance } from '../durability/durable-store.ts'
import { count } from '../full-counts.ts'
import { serving } from '../http/serving.ts'
import { losingProxy } from './losing-proxy.ts'

const seed = 20_261
const clients = 8
const kills = count(150)
const retriedOperations = count(1_000)
const maxRssMegabytes = 400
const maxLogMegabytes = 32

/** A belief with the state that its only writer expects. */
type Known = { readonly id: string; content: string; why: string; revisions: number }
type Answered = { readonly status: number; readonly body: Record<string, unknown> }
type Send = (method: string, path: string, body?: object) => Promise<Answered>

/**
 * A writer that changes only its own beliefs, repeats each change until it is acknowledged, and tracks the expected
 * state.
 */
class Client {
  readonly beliefs = new Map<string, Known>()
  readonly forgotten = new Set<string>()
  readonly superseded = new Set<string>()
  readonly turns = new Set<string>()
  operations = 0
  retries = 0
  readonly #name: string
  readonly #send: Send
  readonly #random: () => number

  constructor(
    name: string,
    ask: (path: string, init: RequestInit) => Promise<Response>,
    { random, withKeys = true }: { readonly random: () => number; readonly withKeys?: boolean },
  ) {
    this.#name = name
    this.#random = random
    this.#send = async (method, path, body) => {
      const headers: Record<string, string> = withKeys ? { 'idempotency-key': `${name}-${this.operations}` } : {}
      for (; ; this.retries += 1) {
        try {
          const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
          const response = await ask(path, init)
          const answered = { status: response.status, body: (await response.json()) as Answered['body'] }
          if (response.status !== 503) return answered
        } catch {
          // The connection was cut, so the outcome of the change is unknown.
        }
        await pause(20)
      }
    }
  }

  async change(): Promise<void> {
    this.operations += 1
    const choice = this.#random()
    const held = [...this.beliefs.values()]
    const known = held[Math.floor(this.#random() * held.length)]
    const text = `word ${this.#name}q${this.operations}z`
    if (known === undefined || choice < 0.5) return this.#create(text)
    if (choice < 0.7) return void (await this.#edit(known, text))
    if (choice < 0.8) return this.#correct(known, text)
    if (choice < 0.87) return this.#forget(known)
    if (choice < 0.93) return this.#editAndUndo(known, text)
    return this.#hear(text)
  }

  async #create(text: string): Promise<void> {
    const { belief } = await this.#acknowledged('POST', '/beliefs', { name: text, content: `Says ${text}.` })
    this.beliefs.set(belief.id, { id: belief.id, content: belief.content, why: '', revisions: 1 })
  }

  async #edit(known: Known, why: string): Promise<number> {
    const { event } = await this.#acknowledged('PATCH', `/beliefs/${known.id}`, { why })
    known.why = why
    known.revisions += 1
    return event
  }

  async #correct(known: Known, text: string): Promise<void> {
    const { belief } = await this.#acknowledged('POST', `/beliefs/${known.id}/correct`, { content: `Now ${text}.` })
    this.beliefs.delete(known.id)
    this.superseded.add(known.id)
    this.beliefs.set(belief.id, { id: belief.id, content: belief.content, why: belief.why, revisions: 1 })
  }

  async #forget(known: Known): Promise<void> {
    await this.#acknowledged('DELETE', `/beliefs/${known.id}`)
    this.beliefs.delete(known.id)
    this.forgotten.add(known.id)
  }

  async #editAndUndo(known: Known, text: string): Promise<void> {
    const { why } = known
    const event = await this.#edit(known, text)
    this.operations += 1
    await this.#acknowledged('POST', `/journal/${event}/undo`)
    known.why = why
    known.revisions += 1
  }

  async #hear(text: string): Promise<void> {
    const { turns } = await this.#acknowledged('POST', '/turns', { text: `A turn of ${text}.`, learn: 'nothing' })
    this.turns.add(turns[0]?.id ?? '')
  }

  async #acknowledged(method: string, path: string, body?: object) {
    const { status, body: answer } = await this.#send(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`)
    return answer as {
      belief: { id: string; content: string; why: string }
      event: number
      turns: readonly { id: string }[]
    }
  }
}

/** The acknowledged changes that are not stored exactly once. */
async function wrongIn(dir: string, writers: readonly Client[], store?: string): Promise<readonly string[]> {
  const memory = openMemory({ dir, ...(store === undefined ? {} : { server: () => openServer(dir, store) }) })
  const wrong: string[] = []
  const stored = new Map<string, { content: string; why: string; supersededBy: string | null }>()
  for await (const belief of memory.export()) stored.set(belief.id, belief)
  const turns = new Set<string>()
  for await (const { id } of memory.exportTurns()) turns.add(id)
  const expected = new Set(writers.flatMap((one) => [...one.beliefs.keys(), ...one.superseded]))
  for (const { id, content, why, revisions } of writers.flatMap((one) => [...one.beliefs.values()])) {
    const found = stored.get(id)
    if (found?.content !== content || found.why !== why || found.supersededBy !== null) {
      wrong.push(`${id} is ${JSON.stringify(found)}`)
      continue
    }
    const made = (await memory.history(id)).revisions.length
    if (made !== revisions) wrong.push(`${id} has ${made} revisions, not ${revisions}`)
  }
  for (const id of stored.keys()) if (!expected.has(id)) wrong.push(`${id} was never acknowledged, or was forgotten`)
  for (const id of writers.flatMap((one) => [...one.turns])) if (!turns.has(id)) wrong.push(`no turn ${id}`)
  const heard = writers.reduce((sum, one) => sum + one.turns.size, 0)
  if (turns.size !== heard) wrong.push(`${turns.size} turns, not ${heard}`)
  const head = (await memory.events({ limit: 1, hearing: true }))[0]?.number ?? 0
  const operations = writers.reduce((sum, one) => sum + one.operations, 0)
  if (head !== operations) wrong.push(`${head} changes in the journal, not ${operations}`)
  await memory.close()
  return wrong
}

/** Resident memory and open descriptors of a process, if the system reports them. */
function resourcesOf(pid: number): { readonly rss: number; readonly descriptors: number } | null {
  if (process.platform !== 'linux') return null
  const kilobytes = /^VmRSS:\s+(\d+)/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return { rss: Math.round(Number(kilobytes) / 1_024), descriptors: readdirSync(`/proc/${pid}/fd`).length }
}

const sumOf = (writers: readonly Client[], of: (one: Client) => number): number =>
  writers.reduce((sum, one) => sum + of(one), 0)

describe.each([
  { kind: 'SQLite', isThere: true },
  { kind: 'PostgreSQL', isThere: postgresPrograms !== null },
])('a server on $kind that is killed again and again', ({ kind, isThere }) => {
  const cluster = sharedCluster()

  it.skipIf(!isThere)(
    `neither loses nor duplicates what ${clients} clients were told, over ${kills} kills`,
    {
      timeout: 60_000 + kills * 20_000,
    },
    async () => {
      using place = createSandbox()
      const store = kind === 'SQLite' ? undefined : await (await cluster()).newDatabase()
      const dir = join(place.work, 'memory')
      const at = ['--dir', dir, ...(store === undefined ? [] : ['--store', store])]
      await place.json('init', ...at)
      const random = chance(seed)
      await using proxy = await losingProxy(() => random() < 0.05)
      // Created at the first start and then unchanged.
      const first = await serving(place, ...at)
      await first.stop()
      let isOver = false
      const ask = (path: string, init: RequestInit) =>
        fetch(`${proxy.url}/api/v1${path}`, {
          ...init,
          headers: { authorization: `Bearer ${first.token}`, 'content-type': 'application/json', ...init.headers },
        })
      const writers = Array.from(
        { length: clients },
        (_, index) => new Client(`c${index}`, ask, { random: chance(seed + index) }),
      )
      const writing = Promise.all(
        writers.map(async (writer) => {
          while (!isOver) await writer.change()
        }),
      )
      let maxRss = 0
      let maxLogBytes = 0
      try {
        for (let kill = 0; kill < kills; kill += 1) {
          await using server = await serving(place, ...at)
          proxy.passTo(server.port)
          // Waits for a number of changes, because the rate depends on the machine; the exact moment within the next
          // change is random.
          const until = sumOf(writers, (one) => one.operations) + Math.floor(15 * random())
          while (sumOf(writers, (one) => one.operations) < until) await Promise.race([pause(5), writing])
          await pause(20 * random())
          maxRss = Math.max(maxRss, resourcesOf(server.pid)?.rss ?? 0)
          await server.stop('SIGKILL')
          proxy.passTo(null)
          const log = statSync(join(dir, 'state', 'credence.db-wal'), { throwIfNoEntry: store === undefined })
          maxLogBytes = Math.max(maxLogBytes, log?.size ?? 0)
        }
      } finally {
        isOver = true
      }
      await using last = await serving(place, ...at)
      proxy.passTo(last.port)
      await writing
      const changeMore = async (): Promise<void> => {
        for (let turn = 0; turn < count(60); turn += 1) await Promise.all(writers.map((one) => one.change()))
      }
      await changeMore()
      const before = resourcesOf(last.pid)
      await changeMore()
      const used = resourcesOf(last.pid)
      const { code } = await last.stop()

      const doctor = await place.run('doctor', ...at)
      const mirror = await place.json('mirror', 'status', ...at)
      const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
      const shown = files.filter((name) => name.endsWith('.md') && !name.startsWith('state'))
      const text = shown.map((name) => readFileSync(join(dir, name), 'utf8')).join('\n')
      const current = writers.flatMap((one) => [...one.beliefs.values()])
      const leftover = files.filter((name) => /\.tmp|~$/u.test(name))
      console.log(
        `killed server on ${kind}: seed ${seed}, ${kills} kills, ${clients} clients, ${sumOf(writers, (one) => one.operations)} changes acknowledged, ${sumOf(writers, (one) => one.retries)} retries, ${proxy.lost()} answers cut; RSS at most ${maxRss} MB, last server ${before?.rss} to ${used?.rss} MB, descriptors ${before?.descriptors} to ${used?.descriptors}, log at most ${maxLogBytes} bytes, ${files.length} files, ${leftover.length} left over`,
      )
      expect(await wrongIn(dir, writers, store)).toEqual([])
      expect(code).toBe(0)
      expect(doctor, doctor.stdout).toMatchObject({ exitCode: 0 })
      expect(mirror).toMatchObject({ exists: true, isInSync: true, pendingEvents: 0, problem: null })
      expect(current.filter(({ content }) => text.split(content).length !== 2)).toEqual([])
      expect(Math.max(maxRss, used?.rss ?? 0)).toBeLessThan(maxRssMegabytes)
      expect(maxLogBytes).toBeLessThan(maxLogMegabytes * 1_024 * 1_024)
      expect(used?.descriptors ?? 0).toBeLessThanOrEqual((before?.descriptors ?? 0) + clients)
      expect(leftover.length).toBeLessThan(20)
    },
  )
})

describe('a change whose answer was lost', () => {
  const lossy = async (withKeys: boolean, operations: number) => {
    using place = createSandbox()
    await place.json('init', '--dir', 'memory')
    const random = chance(seed)
    await using proxy = await losingProxy(() => random() < 0.5)
    await using server = await serving(place, '--dir', 'memory')
    proxy.passTo(server.port)
    const ask = (path: string, init: RequestInit) =>
      fetch(`${proxy.url}/api/v1${path}`, {
        ...init,
        headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json', ...init.headers },
      })
    const writers = Array.from(
      { length: clients },
      (_, index) => new Client(`c${index}`, ask, { random: chance(seed + index), withKeys }),
    )
    let problem: unknown = null
    for (let turn = 0; turn < operations / clients && problem === null; turn += 1)
      await Promise.all(writers.map((one) => one.change())).catch((error: unknown) => {
        problem = error
      })
    const used = new Map<number, number>()
    const sendAgain = async (path: string, content: string): Promise<void> => {
      const headers = { 'idempotency-key': 'used-twice' }
      const { status } = await server.ask(path, { method: 'POST', headers, body: JSON.stringify({ content }) })
      used.set(status, (used.get(status) ?? 0) + 1)
    }
    await sendAgain('/beliefs', 'The first body of a key.')
    await sendAgain('/beliefs', 'Another body of the same key.')
    await server.stop()
    for (const writer of writers.slice(0, 1)) writer.operations += 1
    const wrong = (await wrongIn(join(place.work, 'memory'), writers)).filter((line) => !line.includes('never'))
    return { wrong, problem, lost: proxy.lost(), used: Object.fromEntries(used), writers }
  }

  it('is made once, however often it is sent, and a key with another body is a conflict', {
    timeout: 900_000,
  }, async () => {
    const { wrong, problem, lost, used, writers } = await lossy(true, retriedOperations)

    console.log(
      `lost answers: seed ${seed}, ${sumOf(writers, (one) => one.operations) - 1} changes, ${lost} answers cut, ${wrong.length} wrong`,
    )
    expect(problem).toBeNull()
    expect(wrong).toEqual([])
    expect(used).toEqual({ 201: 1, 409: 1 })
    expect(lost).toBeGreaterThan(retriedOperations / 4)
  })

  it('is made twice without a key, which this test would notice', { timeout: 120_000 }, async () => {
    const { wrong, problem } = await lossy(false, 100)

    expect(wrong.length > 0 || problem !== null).toBe(true)
  })
})
