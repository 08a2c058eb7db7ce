import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/open-memory.ts'
import { createSandbox } from '../cli/sandbox.ts'
import { chance } from '../durability/durable-store.ts'
import { count } from '../full-counts.ts'
import { serving } from '../http/serving.ts'

const seed = 39
const beliefs = count(20_000)
const scope = 'domain:load'

/** Requests per second, sent even if earlier ones are unanswered, and the number of seconds. */
const phases = [
  { name: 'ramp', perSecond: 10, seconds: count(30) },
  { name: 'sustain', perSecond: 20, seconds: count(60) },
  { name: 'burst', perSecond: 1_000, seconds: 1 },
  { name: 'recover', perSecond: 10, seconds: count(30) },
] as const
type Phase = (typeof phases)[number]['name']

type Outcome = {
  readonly phase: Phase
  readonly kind: 'recall' | 'add' | 'revise'
  readonly status: number
  readonly retryAfter: string | null
  readonly tookMs: number
}

const named = (number: number): string => `service s${number}q`

describe('a server under requests that arrive at a rate', () => {
  it('answers them or returns Retry-After, and loses no acknowledged write', {
    timeout: 900_000,
  }, async () => {
    using place = createSandbox()
    const dir = join(place.path, 'memory')
    const memory = openMemory({ dir, scopes: [scope] })
    const lines = Array.from({ length: beliefs }, (_, index) =>
      JSON.stringify({ name: named(index), content: `Listens on port ${10_000 + index}.`, scopes: [scope] }),
    )
    await memory.import(lines.join('\n'))
    const revisable: string[] = []
    for (const { id } of (await memory.list({ limit: 500 })).items) revisable.push(id)
    await memory.close()
    await using server = await serving(place, '--dir', dir, '--scope', scope)
    const random = chance(seed)
    const outcomes: Outcome[] = []
    const added = new Map<string, string>()
    const revised = new Map<string, string[]>()
    let sent = 0

    const post = async (path: string, method: string, body: object): Promise<Response> =>
      server.ask(path, { method, body: JSON.stringify(body) })
    const arrive = async (phase: Phase): Promise<void> => {
      sent += 1
      const draw = random()
      const kind = draw < 0.8 ? 'recall' : draw < 0.95 ? 'add' : 'revise'
      const text = `arrival a${sent}q`
      const id = revisable[Math.floor(random() * revisable.length)] as string
      const known = named(Math.floor(random() * beliefs))
      const started = performance.now()
      const response = await {
        recall: () => post('/recall', 'POST', { message: `On which port is ${known}?`, leftOut: false }),
        add: () => post('/beliefs', 'POST', { name: text, content: `Came as ${text}.` }),
        revise: () => post(`/beliefs/${id}`, 'PATCH', { why: text }),
      }[kind]()
      const answer = (await response.json()) as {
        readonly belief?: { readonly id: string }
        readonly context?: { readonly relevant: readonly { readonly belief: { readonly name: string } }[] }
      }
      const { status } = response
      outcomes.push({
        phase,
        kind,
        status,
        retryAfter: response.headers.get('retry-after'),
        tookMs: performance.now() - started,
      })
      if (kind === 'recall' && status === 200) expect(JSON.stringify(answer.context)).toContain(known)
      if (kind === 'add' && status === 201) added.set(answer.belief?.id ?? '', text)
      if (kind === 'revise' && status === 200) revised.set(id, [...(revised.get(id) ?? []), text])
    }
    for (const { name, perSecond, seconds } of phases) {
      const started = performance.now()
      const open: Promise<void>[] = []
      while (open.length < perSecond * seconds) {
        const due = Math.min(perSecond * seconds, Math.floor(((performance.now() - started) / 1_000) * perSecond) + 1)
        while (open.length < due) open.push(arrive(name))
        await pause(5)
      }
      await Promise.all(open)
    }
    const { code } = await server.stop()

    const after = openMemory({ dir, scopes: [scope] })
    const stored = new Map<string, { readonly name: string; readonly why: string; readonly version: number }>()
    for await (const belief of after.export()) stored.set(belief.id, belief)
    await after.close()
    const doctor = await place.run('doctor', '--dir', dir)
    const of = (phase: Phase): readonly Outcome[] => outcomes.filter((one) => one.phase === phase)
    for (const { name } of phases)
      console.log(`arrival rate: seed ${seed}, ${beliefs} beliefs, ${name} ${summary(of(name))}`)
    expect(code).toBe(0)
    expect(outcomes).toHaveLength(phases.reduce((sum, { perSecond, seconds }) => sum + perSecond * seconds, 0))
    for (const phase of ['ramp', 'sustain', 'recover'] as const)
      expect(of(phase).filter(({ status }) => status >= 300)).toEqual([])
    const turnedAway = of('burst').filter(({ status }) => status >= 300)
    expect(turnedAway.filter(({ status, retryAfter }) => ![429, 503].includes(status) || retryAfter === null)).toEqual(
      [],
    )
    expect([...added].filter(([id, name]) => stored.get(id)?.name !== name)).toEqual([])
    expect(stored.size).toBe(beliefs + added.size)
    // Every acknowledged revision has added a version, and the stored reason comes from one of them.
    const lost = [...revised].filter(([id, whys]) => {
      const belief = stored.get(id)
      return belief?.version !== 1 + whys.length || !whys.includes(belief.why)
    })
    expect(lost).toEqual([])
    expect(doctor).toMatchObject({ exitCode: 0 })
  })

  it('returns Retry-After while too many requests are open, and answers again when they are done', async () => {
    using place = createSandbox()
    await using server = await serving(place, '--demo')
    const head = `POST /api/v1/recall HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`
    const open = Array.from({ length: 300 }, () => connect(server.port, '127.0.0.1'))
    for (const socket of open) socket.on('error', () => {}).write(head)

    let refused = await server.ask('/health')
    while (refused.status === 200) refused = await server.ask('/health')
    for (const socket of open) socket.destroy()
    let again = await server.ask('/health')
    while (again.status === 429) again = await server.ask('/health')

    expect({ status: refused.status, retryAfter: refused.headers.get('retry-after') }).toEqual({
      status: 429,
      retryAfter: '1',
    })
    expect(again.status).toBe(200)
    await server.stop()
  })
})

function summary(outcomes: readonly Outcome[]): string {
  const statuses: Record<number, number> = {}
  for (const { status } of outcomes) statuses[status] = (statuses[status] ?? 0) + 1
  const times = (kinds: readonly Outcome['kind'][]): string => {
    const sorted = outcomes
      .filter(({ kind, status }) => kinds.includes(kind) && status < 300)
      .map(({ tookMs }) => tookMs)
      .toSorted((a, b) => a - b)
    const at = (share: number): string => `${Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)}`
    return `p50/p95/p99 ${at(0.5)}/${at(0.95)}/${at(0.99)} ms`
  }
  return `${outcomes.length} requests ${JSON.stringify(statuses)}; recall ${times(['recall'])}; writes ${times(['add', 'revise'])}`
}
