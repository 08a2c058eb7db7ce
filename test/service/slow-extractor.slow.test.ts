import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Belief } from '../../src/beliefs/belief.ts'
import type { Extractor } from '../../src/memory/learn/extraction.ts'
import { type Memory, memoryFrom } from '../../src/memory/memory.ts'
import type { Author, Ports } from '../../src/memory/ports.ts'
import { count } from '../full-counts.ts'
import { person, ports } from '../recall/fixtures.ts'

const seed = 19
const schedules = count(5_000)
const scopes = ['domain:code']
const user = 'ann'

/** Calls that arrive while a model is still learning from an earlier message. */
const step = fc.constantFrom('learn', 'learn-rules', 'add', 'edit', 'correct', 'forget', 'reject', 'confirm')
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

/** Every call of the store waits for the scheduler, so that calls of several changes interleave in any order. */
function scheduledStore(made: Ports, scheduler: fc.Scheduler): Ports {
  const store = new Proxy(made.store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return async (...given: unknown[]) => {
        await scheduler.schedule(Promise.resolve(), String(name))
        return value.apply(target, given)
      }
    },
  })
  return { ...made, store }
}

/** A model that returns the whole message as one statement, when the scheduler allows it. */
const slowModel = (scheduler: fc.Scheduler): Extractor => ({
  name: 'slow',
  model: 'openai:slow',
  extract: async ({ text }) => {
    await scheduler.schedule(Promise.resolve(), 'model')
    const span = { start: 0, end: text.length }
    const found = { kind: 'model', content: text, span, type: 'entity', subtype: null, about: 'work' } as const
    return { findings: [{ ...found, name: 'staging port' }], refused: [] }
  },
})

type Expected = {
  /** The aliases that acknowledged edits added, by belief. */
  readonly whys: Map<string, Set<string>>
  readonly forgotten: Set<string>
  readonly retired: Set<string>
  readonly learned: Set<string>
  readonly edits: Map<string, number>
}

async function perform(
  {
    memory,
    extractor,
    targets,
    expected,
  }: { memory: Memory; extractor: Extractor; targets: readonly Belief[]; expected: Expected },
  what: Step,
  number: number,
): Promise<void> {
  const target = targets[number % targets.length] as Belief
  const text = `The staging port is ${5_000 + (number % 4)}.`
  switch (what) {
    case 'learn':
    case 'learn-rules': {
      const { taken } = await memory.learn(
        what === 'learn' ? text : `Remember that the staging port is ${5_000 + (number % 4)}.`,
        what === 'learn' ? { extractor } : {},
      )
      for (const { belief } of taken) expected.learned.add(belief.id)
      return
    }
    case 'add':
      expected.learned.add((await memory.remember({ name: `item ${number}`, content: `Added ${number}.` })).belief.id)
      return
    case 'edit': {
      const { belief } = await memory.edit(target.id, { addAliases: [`alias ${number}q`] })
      expected.whys.set(belief.id, (expected.whys.get(belief.id) ?? new Set()).add(`alias ${number}q`))
      return
    }
    case 'correct': {
      const { belief } = await memory.correct(target.id, { content: `Corrected ${number}.` })
      expected.retired.add(target.id)
      expected.learned.add(belief.id)
      return
    }
    case 'forget': {
      const { beliefIds } = await memory.forget(target.id)
      for (const id of beliefIds) expected.forgotten.add(id)
      return
    }
    case 'reject':
      expected.forgotten.add((await memory.reject(target.id)).beliefId)
      return
    case 'confirm':
      await memory.confirm(target.id)
  }
}

/**
 * Runs the steps concurrently, in the order that the scheduler chooses; returns the changes that the store lost or
 * brought back.
 */
async function wrongAfter(
  steps: readonly Step[],
  scheduler: fc.Scheduler,
  spoil: (ports: Ports) => Ports,
): Promise<readonly string[]> {
  const made = ports()
  const author: Author = person
  const plain = memoryFrom(made, { user, scopes, agent: null, author })
  const targets: Belief[] = []
  for (const port of [5_000, 5_001])
    targets.push(
      (await plain.remember({ name: `staging port ${port}`, content: `The staging port is ${port}.` })).belief,
    )
  const candidate = await plain.learn('The staging port is 5003.', {
    extractor: { ...slowModel(scheduler), extract: async (heard) => unscheduled(heard.text) },
  })
  for (const { belief } of candidate.taken) targets.push(belief)
  const memory = memoryFrom(spoil(scheduledStore(made, scheduler)), { user, scopes, agent: null, author })
  const expected: Expected = {
    whys: new Map(),
    forgotten: new Set(),
    retired: new Set(),
    learned: new Set(),
    edits: new Map(),
  }
  const extractor = slowModel(scheduler)
  const running = steps.map((what, number) =>
    perform({ memory, extractor, targets, expected }, what, number).catch((error: unknown) => {
      // A change to a deleted or already decided item is refused. That is not a lost update.
      if ((error as { code?: string }).code === undefined) throw error
    }),
  )
  await scheduler.waitFor(Promise.all(running))
  const wrong: string[] = []
  const stored = new Map(
    (await made.store.list({ user }, { limit: 1_000, offset: 0 })).items.map((one) => [one.id, one]),
  )
  for (const id of expected.forgotten) {
    const found = stored.get(id)
    if (found !== undefined && found.supersededBy === null && !expected.learned.has(id)) wrong.push(`${id} is back`)
  }
  for (const id of expected.retired) if (stored.get(id)?.supersededBy === null) wrong.push(`${id} is current again`)
  for (const [id, aliases] of expected.whys) {
    const found = stored.get(id)
    for (const alias of aliases)
      if (found !== undefined && !found.aliases.includes(alias)) wrong.push(`${id} lost ${alias}`)
  }
  for (const id of expected.learned) if (!stored.has(id) && !expected.forgotten.has(id)) wrong.push(`${id} is lost`)
  for (const { supersededBy, id } of stored.values())
    if (supersededBy !== null && !stored.has(supersededBy) && !expected.forgotten.has(supersededBy))
      wrong.push(`${id} points nowhere`)
  return wrong
}

const unscheduled = (text: string) => ({
  findings: [
    {
      kind: 'model',
      content: text,
      span: { start: 0, end: text.length },
      type: 'entity',
      subtype: null,
      about: 'work',
      name: 'staging port',
    } as const,
  ],
  refused: [],
})

describe('a slow model', () => {
  it(`loses no update and restores nothing, over ${schedules} schedules`, { timeout: 600_000 }, async () => {
    let steps = 0

    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(step, { minLength: 3, maxLength: 8 }), async (scheduler, some) => {
        steps += some.length
        expect(await wrongAfter(['learn', ...some], scheduler, (made) => made)).toEqual([])
      }),
      { numRuns: schedules, seed },
    )

    console.log(`slow extractor: seed ${seed}, ${schedules} schedules, ${steps} changes while a model learns`)
  })

  it('is detected if the store accepts a change of an older version', { timeout: 120_000 }, async () => {
    /** Plants a fault: every change applies to the current version, as if it had just been read. */
    const blind = (made: Ports): Ports => ({
      ...made,
      store: new Proxy(made.store, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name)
          if (name !== 'commit') return value
          const commit: Ports['store']['commit'] = async (given) => {
            const changes = []
            for (const one of given.changes) {
              const version = (await target.get(user, one.beliefId))?.version ?? 0
              changes.push(
                one.after === null
                  ? { ...one, expectedVersion: version }
                  : { ...one, expectedVersion: version, after: { ...one.after, version: version + 1 } },
              )
            }
            return target.commit({ ...given, changes: changes as typeof given.changes })
          }
          return commit
        },
      }),
    })

    const run = fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(step, { minLength: 3, maxLength: 8 }), async (scheduler, some) => {
        expect(await wrongAfter(['learn', 'edit', ...some], scheduler, blind)).toEqual([])
      }),
      { numRuns: 500, seed },
    )

    await expect(run).rejects.toThrow(/is lost|lost alias|is back|current again/u)
  })
})
