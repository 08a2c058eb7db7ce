import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { manifestOf } from '../../src/eval/pack/manifest.ts'
import type { CaseOutcome } from '../../src/eval/run/run.ts'
import {
  everythingExtractor,
  learningRunner,
  nothingExtractor,
  readLearningCases,
} from '../../src/eval/runners/learning/learning-runner.ts'
import { openPackFolder } from '../../src/eval/runners/runner.ts'
import type { Extractor } from '../../src/memory/learn/extraction.ts'
import { rulesExtractor } from '../../src/memory/learn/rules.ts'
import { ports } from '../recall/fixtures.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

const pack = 'packs/learning'
const load = (directory: string) => readLearningCases({ directory, manifest: manifestOf(directory) })
const cases = load(pack)

const runOn = async (extractor: Extractor): Promise<readonly CaseOutcome[]> => {
  const kind = learningRunner({ open: async () => extractor, openPorts: ports, version: '0', clock: () => 0 })
  const benchmark = await openPackFolder(pack, [kind])
  const wanted = new Set(cases.map(({ caseId }) => caseId))
  const outcomes: CaseOutcome[] = []
  const { signal } = new AbortController()
  for await (const outcome of benchmark.execute({ repeat: 0, seed: 1, wanted, jobs: 1, signal, folder: null }))
    outcomes.push(outcome)
  return outcomes
}

const expecting = new Set(cases.filter(({ learn }) => learn.length > 0).map(({ caseId }) => caseId))
const passed = (outcomes: readonly CaseOutcome[]): readonly string[] =>
  outcomes.filter(({ verdict }) => verdict === 'pass').map(({ caseId }) => caseId)

describe('the pack of messages', () => {
  it('has cases that expect a statement, and as many that expect none', () => {
    expect(expecting.size).toBeGreaterThanOrEqual(35)
    expect(cases.length - expecting.size).toBeGreaterThanOrEqual(35)
  })

  it('is passed by the rules, case by case', async () => {
    const outcomes = await runOn(rulesExtractor)

    expect(outcomes).toHaveLength(cases.length)
    expect(
      outcomes.filter(({ verdict }) => verdict !== 'pass').map(({ caseId, failures }) => [caseId, failures]),
    ).toEqual([])
  })

  it('is failed by an extractor that finds nothing, in every case with an expectation', async () => {
    expect(passed(await runOn(nothingExtractor)).filter((id) => expecting.has(id))).toEqual([])
  })

  it('is failed by an extractor that finds everything', async () => {
    expect(passed(await runOn(everythingExtractor)).length).toBeLessThan(cases.length * 0.1)
  })
})

describe('an invalid pack of messages is refused, with the place', () => {
  const changed = (change: (cases: readonly Record<string, unknown>[]) => unknown) => {
    const directory = temporaryDirectory()
    cpSync(pack, join(directory.path, 'p'), { recursive: true })
    const file = join(directory.path, 'p', 'cases.json')
    const value = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify(change(value)))
    return { directory, load: () => load(join(directory.path, 'p')) }
  }

  type Cases = readonly Record<string, unknown>[]
  const inFirst =
    (fields: object) =>
    ([first, ...others]: Cases): Cases => [{ ...first, ...fields }, ...others]

  it.each<readonly [string, (cases: Cases) => Cases, RegExp]>([
    ['an unknown key', inFirst({ learnt: [] }), /learnt/u],
    [
      'words that are not in the message',
      inFirst({ learn: [{ says: ['zzz'], outcome: 'remembered', about: 'work' }] }),
      /does not say "zzz"/u,
    ],
    [
      'an unlisted case',
      (list) => [...list, { ...list[0], caseId: 'other' }],
      /"other" of the case file is not listed/u,
    ],
    ['a missing case', (list) => list.slice(1), /not in the case file/u],
    ['another message', inFirst({ message: 'My main instrument is the viola. Yes.' }), /prompt of .* is not the one/u],
    ['no cases', () => [], /cases\.json/u],
  ])('for %s', (_what, change, message) => {
    const { directory, load } = changed(change)
    using _directory = directory

    expect(load).toThrow(message)
  })
})
