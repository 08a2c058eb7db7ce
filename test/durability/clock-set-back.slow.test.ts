import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { MemoryError } from '../../src/errors.ts'
import { type Memory, memoryFrom } from '../../src/memory/memory.ts'
import { count } from '../full-counts.ts'
import { complaintsOf, openStore, temporaryDirectory } from './durable-store.ts'

const hour = 3_600_000
const standpoint = {
  user: 'ada',
  scopes: ['project:ledger'],
  agent: null,
  author: { actor: 'person', origin: 'test' },
} as const

const names = ['harbour', 'lighthouse', 'anchor'] as const
const name = fc.constantFrom(...names)
const content = fc.constantFrom('Painted red.', 'Painted green.', 'Closed on Mondays.')
/** Few keys, so that many requests are repeated, some with different content. */
const key = fc.constantFrom('k1', 'k2', 'k3', 'k4')
const operation = fc.oneof(
  fc.record({ kind: fc.constant('remember'), name, content, key }),
  fc.record({ kind: fc.constant('correct'), name, content, key }),
  fc.record({ kind: fc.constant('pin'), name, key }),
  fc.record({ kind: fc.constant('hear'), name, key }),
  fc.record({ kind: fc.constant('forget'), name, key }),
  fc.record({ kind: fc.constant('undo') }),
)
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never

function carryOut(memory: Memory, one: Operation): Promise<object> {
  if (!('name' in one)) return memory.undo()
  // A key belongs to one kind of request, as in a program that retries.
  const options = { key: `${one.kind}-${one.key}` }
  if ('content' in one && one.kind === 'remember')
    return memory.remember({ name: one.name, content: one.content, ...options })
  if ('content' in one) return memory.correct(one.name, { content: one.content, ...options })
  if (one.kind === 'pin') return memory.pin(one.name, options)
  if (one.kind === 'forget') return memory.forget(one.name, options)
  return memory.hear({ text: `Look at the ${one.name}.`, role: 'user', session: 's', messageId: one.key })
}

/** The result of a script, without times: the answer to each operation, the journal, every belief, and recall. */
async function played(script: readonly Operation[], jumps: readonly number[]) {
  using directory = temporaryDirectory()
  const file = join(directory.path, 'credence.db')
  let time = Date.parse('2026-03-01T12:00:00.000Z')
  let ids = 0
  const store = openStore(file)
  const now = (): Date => {
    time += 1_000
    return new Date(time)
  }
  const newId = (): string => {
    ids += 1
    return `id-${ids}`
  }
  const memory = memoryFrom({ store, now, newId }, standpoint)
  const answers: string[] = []
  for (const [index, one] of script.entries()) {
    time += jumps[index] ?? 0
    try {
      const answer = await carryOut(memory, one)
      answers.push('event' in answer ? `event ${JSON.stringify(answer.event)}` : 'done')
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error
      answers.push(`${error.code} ${error.message}`)
    }
  }
  const events = await memory.events({ limit: 100, hearing: true })
  const { items } = await memory.list({ limit: 100 })
  const recalled = await memory.recall(`What about the ${names.join(', the ')}?`)
  const histories = []
  for (const { id } of items) {
    const { chain } = await memory.history(id)
    histories.push([id, chain.map((link) => link.id)])
  }
  await memory.close()
  const isBack = events.some(({ at }, index) => at < (events[index + 1]?.at ?? ''))
  return {
    isBack,
    complaints: await complaintsOf(file),
    told: {
      answers,
      events: events.map(({ number, kind }) => `${number} ${kind}`),
      beliefs: items
        .map(({ id, content, status, pinned, version }) => [id, content, status, pinned, version].join())
        .sort(),
      histories: histories.map(String).sort(),
      recalled: [...recalled.pinned, ...recalled.relevant.map(({ belief }) => belief)].map(({ id }) => id).sort(),
    },
  }
}

it('setting the clock back by an hour or a year changes only the times', { timeout: 1_800_000 }, async () => {
  const { seed } = fc.readConfigureGlobal()
  const sums = { scripts: 0, operations: 0, wentBack: 0 }
  const jump = fc.constantFrom(0, -hour, -365 * 24 * hour, 365 * 24 * hour)
  const script = fc.array(fc.tuple(operation, jump), { minLength: 4, maxLength: 16 })
  const law = fc.asyncProperty(script, async (steps) => {
    const operations = steps.map(([one]) => one)

    const steady = await played(operations, [])
    const jumping = await played(
      operations,
      steps.map(([, by]) => by),
    )

    expect(jumping.told).toEqual(steady.told)
    expect(jumping.complaints).toEqual([])
    expect(steady.isBack).toBe(false)
    sums.scripts += 1
    sums.operations += steps.length
    sums.wentBack += jumping.isBack ? 1 : 0
  })
  await fc.assert(law, { numRuns: count(300) })
  // Guards the test itself: times in the journal must really run backwards.
  expect(sums.wentBack).toBeGreaterThan(sums.scripts / 2)
  console.log(`Clock set back, seed ${seed}: ${JSON.stringify(sums)}.`)
})
