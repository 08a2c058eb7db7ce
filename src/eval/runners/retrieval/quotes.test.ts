import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { belief, openStore, staticCase, systemsFor, tickingClock } from '../../../../test/eval/sample-corpus.ts'
import { temporaryDirectory } from '../../../../test/temporary-directory.ts'
import { bm25System } from '../../system/bm25.ts'
import { everythingSystem, oracleUnderTest } from '../../system/controls.ts'
import { emptyAnswer, type SystemTurn } from '../../system/system.ts'
import { underTest } from '../../system/under-test.ts'
import { checkExpectations, type Expectations } from './expectations.ts'
import { type Pack, readPack } from './pack.ts'
import { runPack } from './run-pack.ts'

const kayak = 'I rented a kayak near Voss in Norway.'
const turn = { user: 'ann', scope: 'domain:boats', session: 's1', role: 'user', at: '2026-05-03T10:00:00.000Z' }
const turns = [
  { ...turn, id: 't-kayak', index: 0, text: kayak },
  { ...turn, id: 't-choir', index: 0, session: 's2', text: 'My sister sings in a choir.' },
  { ...turn, id: 't-paste', index: 0, session: 's3', origin: 'document', text: 'Kayak rental in Norway: 40 euros.' },
]
const question = 'Where did I rent that kayak in Norway?'

function packOf(directory: string, expectations: unknown, given: unknown = turns): Pack {
  const place = (name: string, value: unknown): string => {
    const file = join(directory, name)
    writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value))
    return file
  }
  return readPack({
    kind: 'retrieval',
    id: 'p',
    title: 'P',
    beliefsFile: place('beliefs.json', [belief('b-anchor')]),
    casesFile: place('cases.json', [staticCase('a', question, expectations)]),
    turnsFile: place('turns.json', given),
  })
}

const ours = () => bm25System({ openStore, version: 'test' })
const parts = { ours, clock: tickingClock() }
const verdictOf = async (expectations: Expectations, system = underTest(ours(), parts)) => {
  using directory = temporaryDirectory()
  const [outcome] = (await runPack(packOf(directory.path, expectations), system)).outcomes
  return [outcome?.verdict, ...(outcome?.failures ?? [])]
}
const include = (...quotes: readonly { turn: string; text?: string }[]) => ({ quotes: { mustInclude: [...quotes] } })
const exclude = (...quotes: readonly { turn: string; text?: string }[]) => ({ quotes: { mustExclude: [...quotes] } })

describe('expectations about quotes', () => {
  it.each([
    ['the expected turn is quoted', include({ turn: 't-kayak' }), ['pass']],
    ['the quote has the expected words', include({ turn: 't-kayak', text: 'NEAR  voss' }), ['pass']],
    [
      'the expected turn is missing',
      include({ turn: 't-choir' }),
      ['fail', 'quotes: t-choir was expected, but not quoted.'],
    ],
    [
      'the quote has other words',
      include({ turn: 't-kayak', text: 'paddle' }),
      ['fail', 'quotes: t-kayak was quoted, but without the expected words.'],
    ],
    [
      'a forbidden turn is quoted',
      exclude({ turn: 't-kayak' }),
      ['fail', 'quotes: t-kayak was quoted, but must not be.'],
    ],
    ['a forbidden turn is quoted with other words', exclude({ turn: 't-kayak', text: 'paddle' }), ['pass']],
    ['a pasted text is not quoted', exclude({ turn: 't-paste' }), ['pass']],
  ])('are judged: %s', async (_what, expectations, verdict) => {
    expect(await verdictOf(expectations)).toEqual(verdict)
  })

  it('are met by the oracle, and not by a system that quotes nothing', async () => {
    const wanted = include({ turn: 't-choir', text: 'choir' })

    expect(await verdictOf(wanted, oracleUnderTest(ours))).toEqual(['pass'])
    expect(await verdictOf(wanted, underTest(everythingSystem(), parts))).toContain('fail')
  })

  it('count a turn that another system returns as a quote, under its own id', async () => {
    const heard: SystemTurn[] = []
    const searching = {
      ...everythingSystem(),
      hear: async (given: readonly SystemTurn[]) => void heard.push(...given),
      recall: async () => ({ ...emptyAnswer, relevant: heard.slice(0, 1).map(({ id }) => ({ id, score: null })) }),
    }

    const verdict = await verdictOf(
      { ...include({ turn: 't-kayak', text: 'Voss' }), relevantBeliefs: { shouldOnlyInclude: [] } },
      underTest(searching, parts),
    )

    expect(verdict).toEqual(['pass'])
    expect(heard.map(({ id }) => id)).not.toContain('t-kayak')
  })

  it('count as expectations of a case', () => {
    const empty = { prelude: null, pinned: [], relevant: [], questions: [] }

    expect(checkExpectations(include({ turn: 't-kayak' }), empty)).toHaveLength(1)
    expect(checkExpectations(exclude({ turn: 't-kayak' }), empty)).toEqual([])
  })

  it('leave no words of turns in an outcome', async () => {
    using directory = temporaryDirectory()
    const pack = packOf(directory.path, include({ turn: 't-kayak', text: 'paddle' }))

    const run = await runPack(pack, await systemsFor(directory.path).open('bm25'), { explain: true })

    expect(JSON.stringify(run.outcomes)).toContain('t-kayak')
    expect(JSON.stringify(run.outcomes)).not.toMatch(/Voss|paddle/u)
  })
})

describe('a turn file', () => {
  it.each([
    ['is not JSON', '[{', 'turns.json: not JSON'],
    ['is not a list', {}, 'turns.json: value: '],
    ['lacks a field', [{ ...turns[0], text: undefined }], 'turns.json: 0.text: '],
    ['has an invalid role', [{ ...turns[0], role: 'robot' }], 'turns.json: 0.role: '],
    ['has a duplicate id', [turns[0], turns[0]], 'the id "t-kayak" is used more than once'],
    ['lacks the expected turn', [turns[1]], 'expect.quotes: there is no turn "t-kayak"'],
  ])('is refused if it %s', (_what, given, problem) => {
    using directory = temporaryDirectory()

    expect(() => packOf(directory.path, include({ turn: 't-kayak' }), given)).toThrow(problem)
  })
})
