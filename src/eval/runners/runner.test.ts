import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { manifestExample } from '../../../test/harness/example-documents.ts'
import type { CaseOutcome } from '../run/run.ts'
import { defineRunner, executeInOrder, runnerOf } from './runner.ts'

const signal = new AbortController().signal

describe('running cases concurrently', () => {
  it('yields results in order, and never runs more items at a time than allowed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(3), { maxLength: 30 }), fc.integer({ min: 1, max: 8 }), async (delays, jobs) => {
        let underWay = 0
        let max = 0
        const work = async (ticks: number, index: number): Promise<number> => {
          underWay += 1
          max = Math.max(max, underWay)
          for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve()
          underWay -= 1
          return index
        }
        const found: number[] = []

        const items = delays.map((delay, index) => ({ delay, index }))
        for await (const index of executeInOrder(items, { jobs, signal }, (one) => work(one.delay, one.index)))
          found.push(index)

        expect(found).toEqual(delays.map((_, index) => index))
        expect(max).toBeLessThanOrEqual(jobs)
      }),
    )
  })

  it('starts no more cases after an interrupt, and yields those that were started', async () => {
    const interrupt = new AbortController()
    const begun: number[] = []
    const found: number[] = []
    const work = async (item: number): Promise<number> => {
      begun.push(item)
      if (item === 3) interrupt.abort()
      return item
    }

    for await (const item of executeInOrder([1, 2, 3, 4, 5, 6], { jobs: 2, signal: interrupt.signal }, work))
      found.push(item)

    expect(begun).toEqual([1, 2, 3])
    expect(found).toEqual([1, 2, 3])
  })

  it('rethrows the error of a case', async () => {
    const iterator = executeInOrder([1, 2], { jobs: 2, signal }, async (item) => {
      if (item === 1) throw new Error('broken')
      return item
    })

    await expect(iterator.next()).rejects.toThrow('broken')
  })
})

describe('a kind of pack', () => {
  const place = {
    directory: '/packs/mine',
    manifest: { ...manifestExample, schemaVersion: 1 as const, benchmarkType: 'standard' as const },
  }
  const closed: string[] = []
  const parrot = defineRunner({
    name: 'parrot',
    defaultSystem: 'polly',
    read: () => ({
      cases: [{ id: 'case-1', prompt: 'p', expectsSomething: true, words: [] }],
      warnings: [],
      isShuffled: false,
    }),
    open: async (system) => ({
      name: system,
      version: '1',
      says: 'hello',
      close: async () => void closed.push(system),
    }),
    ablate: { 'voice off': (bird) => ({ ...bird, says: '' }) },
    execute: async function* ({ cases }, { says }, { wanted }): AsyncGenerator<CaseOutcome> {
      for (const { id } of cases.filter((one) => wanted.has(one.id))) {
        const failures = says === '' ? ['silent'] : []
        yield { caseId: id, verdict: says === '' ? 'fail' : 'pass', scores: {}, returned: [], failures, timings: {} }
      }
    },
  })

  const verdicts = async (ablation?: string) => {
    const open = await parrot.read(place).open('polly', { explain: false, ablation })
    const found: string[] = []
    const request = { repeat: 0, seed: 1, wanted: new Set(['case-1']), jobs: 1, signal, folder: null }
    for await (const { verdict } of open.execute(request)) found.push(verdict)
    return { name: open.tested.name, found }
  }

  it('consists of two functions: one reads the pack, the other runs and scores it', async () => {
    expect(await verdicts()).toEqual({ name: 'polly', found: ['pass'] })
  })

  it('can be run with a part switched off, which its name shows', async () => {
    expect(await verdicts('voice off')).toEqual({ name: 'polly (voice off)', found: ['fail'] })
    expect(parrot.ablations).toEqual(['voice off'])
  })

  it('refuses an unknown ablation', async () => {
    await expect(verdicts('wings off')).rejects.toMatchObject({
      code: 'invalid',
      message: 'Packs of the kind parrot have no ablation "wings off".',
      hint: 'Use voice off.',
    })
  })

  it('is found by the runner of a manifest', () => {
    const running = (runner: string | undefined) => ({ ...place, manifest: { ...place.manifest, runner } })

    expect(runnerOf(running('parrot'), [parrot])).toBe(parrot)
    expect(() => runnerOf(running('crow'), [parrot])).toThrow('runner is "crow"')
    expect(() => runnerOf(running(undefined), [parrot])).toThrow('names no runner')
  })
})
