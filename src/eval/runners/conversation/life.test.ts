import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../../../test/temporary-directory.ts'
import { contextScores } from './conversation-runner.ts'
import { life } from './life.ts'
import type { SuiteAnswer, SuiteConversation, SuiteQuestion } from './suite.ts'

const history = [
  { session: 'old', role: 'user', at: '2026-01-01T10:00:00+01:00', text: 'The code of the gate is 1188.' },
  { session: 'old', role: 'assistant', at: '2026-01-01T10:01:00+01:00', text: 'Noted.' },
  {
    session: 'old',
    role: 'user',
    at: '2026-01-01T10:02:00+01:00',
    text: 'I open the gate for the plumber with that code.',
  },
  { session: 'new', role: 'user', at: '2026-02-01T10:00:00+01:00', text: 'Since today the gate opens with 4711.' },
]
const old = 's1-0'
const dependent = 's1-2'
const newest = 's2-0'
const change = { goldTurns: [{ session: 'new', index: 0 }], earlier: [{ session: 'old', index: 0 }] }
const message = (kind: string, fields: object = {}) => ({ id: kind, kind, message: 'The gate?', ...fields })
const messages = [
  message('told-once', { goldTurns: change.goldTurns }),
  message('changed', change),
  message('presupposed', change),
  message('dependent', { ...change, dependent: [{ session: 'old', index: 2 }] }),
  message('unrelated'),
]

function write(
  folder: string,
  { lines = history as readonly object[], asked = messages as readonly object[] } = {},
): string {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'history.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'))
  writeFileSync(join(folder, 'questions.json'), JSON.stringify(asked))
  return folder
}

function readLife(given: Parameters<typeof write>[1] = {}): SuiteConversation {
  using directory = temporaryDirectory()
  const [conversation] = [...life.read(write(directory.path, given))]
  return conversation as SuiteConversation
}

const turn = (id: string, isEarlier = false) => ({
  id,
  session: id.slice(0, 2),
  text: 'x'.repeat(50),
  characters: 50,
  isEarlier,
})
const shows = (...shown: ReturnType<typeof turn>[]): SuiteAnswer => ({ found: shown, standing: [], shown })

describe('the files of a life', () => {
  it('contain turns with neutral names, and messages that are asked a day after the last turn', () => {
    const { turns, questions } = readLife()

    expect(turns.map(({ id }) => id)).toEqual(['s1-0', 's1-1', dependent, newest])
    expect(questions.map(({ group, expectsSilence }) => [group, expectsSilence])).toEqual([
      ['told-once', false],
      ['changed', false],
      ['presupposed', false],
      ['dependent', false],
      ['unrelated', true],
    ])
    expect(questions[1]?.askedAt).toBe('2026-02-02T09:00:00.000Z')
    expect(questions[1]?.gold).toMatchObject({ turns: new Set([newest]), earlier: new Set([old]) })
  })

  it('can combine several folders, with ids that begin with the name of the folder', () => {
    using directory = temporaryDirectory()
    write(join(directory.path, 'ann'))
    write(join(directory.path, 'bo'))

    const lives = [...life.read(directory.path)]

    expect(lives.map(({ id }) => id)).toEqual(['ann', 'bo'])
    expect(lives[1]?.questions[0]?.id).toBe('bo-told-once')
  })

  it.each([
    ['a message without a turn to recall', { asked: [message('told-once')] }, /goldTurns must be empty for/u],
    [
      'a turn to recall for an empty answer',
      { asked: [message('never-told', change)] },
      /goldTurns must be empty for/u,
    ],
    [
      'a change without an outdated turn',
      { asked: [message('changed', { goldTurns: change.goldTurns })] },
      /earlier must/u,
    ],
    ['a dependent message without a dependent turn', { asked: [message('dependent', change)] }, /dependent must/u],
    ['an unknown kind', { asked: [message('forgotten', change)] }, /kind/u],
    [
      'an unknown turn',
      { asked: [message('told-once', { goldTurns: [{ session: 'new', index: 7 }] })] },
      /turn 7 of new/u,
    ],
    ['two messages with one id', { asked: [messages[0] as object, messages[0] as object] }, /used twice/u],
    ['a time without an offset', { lines: [{ ...history[0], at: '2026-01-01T10:00:00' }] }, /at/u],
  ])('are refused because of %s', (_, given, error) => {
    expect(() => readLife(given)).toThrow(error)
  })

  it('are requested if they are missing', () => {
    using directory = temporaryDirectory()

    expect(() => [...life.read(directory.path)]).toThrow(/no history.jsonl in this folder/u)
  })
})

describe('the scores of a life', () => {
  const { questions } = readLife()
  const of = (kind: string): SuiteQuestion => questions.find(({ group }) => group === kind) as SuiteQuestion
  const scores = (kind: string, answer: SuiteAnswer) => {
    const question = of(kind)
    return { ...life.score(question, answer, readLife()), ...contextScores(question, answer) }
  }

  it('count a message as missed if no right quote is shown, and as a false fire if any quote is shown without need', () => {
    expect(scores('told-once', shows(turn(newest)))).toMatchObject({ missed: 0, falseFire: null })
    expect(scores('told-once', shows(turn(old)))).toMatchObject({ missed: 1 })
    expect(scores('told-once', shows())).toMatchObject({ missed: 1, lines: 0, characters: 0 })
    expect(scores('unrelated', shows())).toMatchObject({ missed: null, falseFire: 0 })
    expect(scores('unrelated', shows(turn(old), turn(newest)))).toMatchObject({
      falseFire: 1,
      lines: 2,
      characters: 100,
    })
  })

  it('count an outdated turn that is shown without the newest', () => {
    expect(scores('changed', shows(turn(old)))).toMatchObject({ outdated: 1, newest: 0 })
    expect(scores('changed', shows(turn(old), turn(newest)))).toMatchObject({ outdated: 0, newest: 0 })
    expect(scores('changed', shows(turn(newest), turn(old)))).toMatchObject({ outdated: 0, newest: 1 })
    expect(scores('changed', shows())).toMatchObject({ outdated: 0, newest: 0 })
  })

  it('require the correction for a message that presupposes the old value', () => {
    expect(scores('presupposed', shows(turn(newest)))).toMatchObject({ corrected: 1 })
    expect(scores('presupposed', shows(turn(old, true)))).toMatchObject({ corrected: 0 })
  })

  it('require a mark at a statement that depends on the old value, or the change itself', () => {
    expect(scores('dependent', shows(turn(dependent)))).toMatchObject({ marked: 0 })
    expect(scores('dependent', shows(turn(dependent, true)))).toMatchObject({ marked: 1 })
    expect(scores('dependent', shows(turn(dependent), turn(newest)))).toMatchObject({ marked: 1 })
    expect(scores('dependent', shows())).toMatchObject({ marked: 0 })
  })

  it('count the evidence within a number of characters of the ranking', () => {
    expect(scores('changed', shows(turn(newest)))).toMatchObject({ 'within@100': 1 })
    expect(scores('changed', shows(turn(old), turn(dependent), turn(newest)))).toMatchObject({
      'within@100': 0,
      'within@300': 1,
      'within@3000': 1,
    })
    expect(scores('changed', shows(turn(old)))).toMatchObject({ 'within@3000': 0 })
    expect(scores('unrelated', shows(turn(old)))).toMatchObject({ 'within@100': null })
  })

  it('do not apply to a system that only searches', () => {
    const answer = { ...shows(turn(newest)), shown: null }

    expect(scores('changed', answer)).not.toHaveProperty('missed')
    expect(scores('changed', answer)).toMatchObject({ 'any@1': 1, 'newest-found': 1 })
  })
})
