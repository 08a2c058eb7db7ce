import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../../../test/temporary-directory.ts'
import { inMemory } from '../../../store/sqlite/database.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import type { CaseOutcome } from '../../run/run.ts'
import { summariseCases } from '../../score/figures.ts'
import type { HearingSystem } from '../../system/system.ts'
import { openPackFolder } from '../runner.ts'
import { conversationRunner } from './conversation-runner.ts'
import { loCoMo } from './locomo.ts'
import { longMemEval } from './longmemeval.ts'
import { rankingsSystem } from './rankings.ts'
import type { Suite } from './suite.ts'
import { openTurnSystem } from './turn-systems.ts'

const packs = fileURLToPath(new URL('../../../../packs', import.meta.url))
const directory = temporaryDirectory()
afterAll(() => directory[Symbol.dispose]())
const suites = ['longmemeval', 'longmemeval-pooled', 'locomo', 'beam', 'ama-bench', 'factconsolidation']

const open = (name: string): Promise<HearingSystem> => {
  let last = 0
  return openTurnSystem(name, {
    open: async () => ({
      store: openSqliteStore({ file: inMemory, random: randomBytes }),
      newId: () => `b-${++last}`,
      dispose: async () => {},
    }),
    openEmbedder: () => Promise.reject(new Error('No test needs a model.')),
    version: 'test',
  })
}

async function outcomesOf(suite: string, system: string, ablation?: string): Promise<readonly CaseOutcome[]> {
  const kind = conversationRunner({ open, data: undefined, clock: () => 0 })
  const benchmark = await openPackFolder(join(packs, suite), [kind], { system, ablation })
  const request = { repeat: 0, seed: 1, jobs: 1, signal: new AbortController().signal, folder: null }
  const wanted = new Set(benchmark.cases.map(({ id }) => id))
  const outcomes: CaseOutcome[] = []
  for await (const outcome of benchmark.execute({ ...request, wanted })) outcomes.push(outcome)
  return outcomes
}

function rankingsFile(lines: readonly unknown[]): string {
  const file = join(directory.path, 'theirs.jsonl')
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return file
}

const figuresOf = (outcomes: readonly CaseOutcome[]) => {
  const { metrics, intervals, counts } = summariseCases(outcomes)
  return { metrics, intervals, counts }
}

describe.each(suites)('the rankings of a run of %s', (suite) => {
  it.each(['credence', 'bm25-sessions'])(
    'by %s score like the run itself, and fail if search is off',
    async (system) => {
      const own = await outcomesOf(suite, system)
      const file = rankingsFile(own.map(({ ranking }) => ranking))

      const scored = await outcomesOf(suite, rankingsSystem(file))
      const without = await outcomesOf(suite, rankingsSystem(file), 'search off')

      expect(figuresOf(scored)).toEqual(figuresOf(own))
      expect(figuresOf(without)).not.toEqual(figuresOf(own))
    },
  )
})

describe('a file of rankings', () => {
  const whole = async () => (await outcomesOf('locomo', 'credence')).map(({ ranking }) => ranking as Line)
  type Line = { question: string; ranking: string[] }

  it.each<readonly [string, (lines: Line[]) => readonly unknown[], RegExp]>([
    ['an unknown id', ([one, ...rest]) => [{ ...one, ranking: ['answer_1'] }, ...rest], /:1: "answer_1" is not a doc/u],
    [
      'a duplicate id',
      ([one, two, ...rest]) => [one, { ...two, ranking: ['s1-0', 's1-0'] }, ...rest],
      /:2: "s1-0" .*twice/u,
    ],
    ['sessions and turns', ([one, ...rest]) => [{ ...one, ranking: ['s1', 's1-0'] }, ...rest], /:1: .* not both/u],
    [
      'more ids than documents',
      ([one, ...rest]) => [{ ...one, ranking: Array(999).fill('s1') }, ...rest],
      /:1: 999 ids/u,
    ],
    ['a field with labels', ([one, ...rest]) => [{ ...one, evidence: ['s1-0'] }, ...rest], /:1: .*evidence/u],
    ['a duplicate question', ([one, ...rest]) => [one, ...rest, one], /already ranked in line 1/u],
    ['lengths for some ids', ([one, ...rest]) => [{ ...one, lengths: [9] }, ...rest], /:1: 1 lengths? for \d+ ids/u],
    ['a passage without characters', ([one, ...rest]) => [{ ...one, lengths: [0] }, ...rest], /:1: lengths\.0/u],
    [
      'a shown line without words',
      ([one, ...rest]) => [{ ...one, shown: [{ turn: 's1-0', text: ' ' }] }, ...rest],
      /:1: shown\.0\.text/u,
    ],
    ['an unknown question', (lines) => [...lines, { question: 'other', ranking: [] }], /no question "other"/u],
    ['a question left out', (lines) => lines.slice(1), /1 of \d+ questions have no line/u],
    ['invalid JSON', (lines) => [lines[0], 'x'], /:2: /u],
  ])('with %s is refused, with the line number', async (_fault, edit, message) => {
    const file = rankingsFile(edit(await whole()))

    await expect(outcomesOf('locomo', rankingsSystem(file))).rejects.toThrow(message)
  })

  it('counts the length of a passage once if the passage is a whole session', async () => {
    const lines = (await outcomesOf('longmemeval', 'bm25-sessions')).map(({ ranking }) => ranking as Line)
    const scored = async (length: number) => {
      const file = rankingsFile(lines.map((line) => ({ ...line, lengths: line.ranking.map(() => length) })))
      return figuresOf(await outcomesOf('longmemeval', rankingsSystem(file))).metrics
    }

    expect(await scored(50)).toMatchObject({ 'any@1': 1, 'within@100': 1 })
    expect(await scored(150)).toMatchObject({ 'any@1': 1, 'within@100': 0, 'within@300': 1 })
  })

  it('that does not exist is refused', async () => {
    await expect(outcomesOf('locomo', rankingsSystem('/nowhere/at-all.jsonl'))).rejects.toThrow('no such file')
  })
})

describe('strict all@5', () => {
  const turns = ['s1-0', 's1-1', 's2-0'].map((id) => ({ id, session: id.slice(0, 2), characters: 1 }))
  const gold = { turns: new Set(['s1-0', 's2-0']), sessions: new Set(['s1', 's2']) }
  const question = { id: 'q', text: 'q', askedAt: '', group: 'multi-hop', gold, expectsSilence: false }
  const scoresOf = (suite: Suite, found: typeof turns) =>
    suite.score(question, { found, standing: [], shown: null }, { id: 'c', turns: [], questions: [] })

  it.each<readonly [string, Suite, string, string]>([
    ['LongMemEval', longMemEval, 'all@5', 'turn-all@5'],
    ['LoCoMo', loCoMo, 'session-all@5', 'all@5'],
  ])('of %s is 1 only if all of the evidence is found, by session and by turn', (_name, suite, ofSessions, ofTurns) => {
    expect(scoresOf(suite, turns)).toMatchObject({ [ofSessions]: 1, [ofTurns]: 1 })
    expect(scoresOf(suite, turns.slice(1))).toMatchObject({ [ofSessions]: 1, [ofTurns]: 0 })
    expect(scoresOf(suite, turns.slice(2))).toMatchObject({ [ofSessions]: 0, [ofTurns]: 0 })
  })
})
