import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { deafExtractor, greedyExtractor } from '../../src/eval/kinds/learning/control-extractors.ts'
import { brings } from '../../src/eval/kinds/learning/judge-learning.ts'
import { learningKind } from '../../src/eval/kinds/learning/learning-kind.ts'
import { readLearningCases } from '../../src/eval/kinds/learning/learning-pack.ts'
import { manifestOf } from '../../src/eval/pack/manifest.ts'
import { openBenchmark } from '../../src/eval/run/open-benchmark.ts'
import type { CaseOutcome } from '../../src/eval/run/run.ts'
import type { Extractor } from '../../src/memory/learn/candidate.ts'
import { learn } from '../../src/memory/learn/learn.ts'
import { rulesExtractor } from '../../src/memory/learn/rules.ts'
import { recall } from '../../src/memory/recall.ts'
import { person, workshop } from '../recall/beliefs-at-hand.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

const pack = 'packs/learning'
const load = (directory: string) => readLearningCases({ directory, manifest: manifestOf(directory) })
const cases = load(pack)

const runOn = async (extractor: Extractor): Promise<readonly CaseOutcome[]> => {
  const kind = learningKind({ open: async () => extractor, version: '0', clock: () => 0 })
  const benchmark = await openBenchmark(pack, [kind])
  const wanted = new Set(cases.map(({ caseId }) => caseId))
  const outcomes: CaseOutcome[] = []
  const { signal } = new AbortController()
  for await (const outcome of benchmark.execute({ repeat: 0, seed: 1, wanted, jobs: 1, signal, folder: null }))
    outcomes.push(outcome)
  return outcomes
}

const passed = (outcomes: readonly CaseOutcome[]): number => outcomes.filter(({ verdict }) => verdict === 'pass').length

describe('the pack of messages', () => {
  it('holds what was promised of it', () => {
    const silent = cases.filter(({ learn: expected }) => expected.length === 0)

    expect(cases.length).toBeGreaterThanOrEqual(80)
    expect(silent.length).toBeGreaterThanOrEqual(20)
    expect(new Set(cases.map(({ category }) => category)).size).toBeGreaterThanOrEqual(12)
  })

  it('is passed by the rules, case by case', async () => {
    const outcomes = await runOn(rulesExtractor)

    expect(outcomes).toHaveLength(cases.length)
    expect(
      outcomes.filter(({ verdict }) => verdict !== 'pass').map(({ caseId, failures }) => [caseId, failures]),
    ).toEqual([])
  })

  it('is failed by who takes nothing, and by who takes everything', async () => {
    for (const control of [deafExtractor, greedyExtractor])
      expect(passed(await runOn(control))).toBeLessThan(cases.length * 0.4)
  })

  it('asks questions that recall itself answers with the same belief', async () => {
    for (const { caseId, message, earlier, learn: expected } of cases) {
      const memory = workshop()
      const here = { user: 'ann', scopes: ['project:pack'] }
      for (const before of earlier)
        await learn(memory, { ...here, author: person, agent: null, view: here.scopes, text: before })
      const { taken } = await learn(memory, {
        ...here,
        author: person,
        agent: null,
        view: here.scopes,
        text: message,
        earlier,
      })
      for (const { says, askedWith, type } of expected) {
        // Open questions have a tier of their own.
        if (type === 'open_question') continue
        const found = taken.find(({ belief }) => says.every((words) => belief.content.includes(words)))
        for (const question of askedWith) {
          const { relevant } = await recall(memory, { ...here, message: question })

          expect([caseId, question, relevant.map(({ belief }) => belief.content)]).toEqual([
            caseId,
            question,
            expect.arrayContaining([found?.belief.content]),
          ])
          expect(found !== undefined && brings(question, found.belief)).toBe(true)
        }
      }
    }
  })
})

describe('a pack that is wrong is refused, with the place', () => {
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
    ['words that nobody says', inFirst({ learn: [{ says: ['zzz'], askedWith: ['q'] }] }), /nobody says "zzz"/u],
    [
      'an unlisted case',
      (list) => [...list, { ...list[0], caseId: 'other' }],
      /"other" of the case file is not listed/u,
    ],
    ['a missing case', (list) => list.slice(1), /not in the case file/u],
    ['another message', inFirst({ message: 'My main instrument is the viola. Yes.' }), /prompt of .* is not the one/u],
    ['no cases', () => [], /cases\.json/u],
  ])('%s', (_what, change, message) => {
    const { directory, load } = changed(change)
    using _directory = directory

    expect(load).toThrow(message)
  })
})
