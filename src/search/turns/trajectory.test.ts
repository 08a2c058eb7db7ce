import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseQuestion } from './question.ts'
import { scoreSteps, stepOf } from './trajectory.ts'

const stepsOf = (texts: readonly string[]) => texts.map(stepOf)
const bestFirst = (texts: readonly string[], question: string): readonly number[] =>
  scoreSteps(stepsOf(texts), parseQuestion(question))
    .map(({ value }, place) => ({ value, place }))
    .sort((a, b) => b.value - a.value)
    .map(({ place }) => place)

const run = [
  'ls\n\nconfig.yaml main.py',
  'cat config.yaml\n\nretries: 2\ntimeout: 10',
  'pytest\n\nFAILED test_backoff: TimeoutError',
  'edit config.yaml: timeout: 30 instead of 10\n\nsaved',
  'cat config.yaml\n\nretries: 2\ntimeout: 30',
  'pytest\n\n4 passed',
]

describe('the steps of a trajectory', () => {
  it('consist of an action, an empty line and a result', () => {
    expect(stepOf('cat a.txt\n\none\n\ntwo', 4)).toEqual({ place: 4, action: 'cat a.txt', result: 'one\n\ntwo' })
    expect(stepOf('ls', 0)).toEqual({ place: 0, action: 'ls', result: '' })
  })

  it('are found by the action and by the new part of the result', () => {
    expect(bestFirst(run, 'Where did the backoff test fail?')[0]).toBe(2)
    expect(bestFirst(['a\n\nred\nblue', 'b\n\nred\nblue\nlobster', 'c\n\nred\nblue\nlobster'], 'lobster')[0]).toBe(1)
  })

  it('are found by their number and their position', () => {
    expect(bestFirst(run, 'What did step 4 show?')[0]).toBe(4)
    expect(bestFirst(run, 'What was the last result of pytest?')[0]).toBe(5)
    expect(bestFirst(run, 'What was the first result of pytest?')[0]).toBe(2)
    expect(bestFirst(run, 'Which step changed the timeout?')[0]).toBe(3)
    expect(bestFirst(run, 'Which pytest run came after step 3?')[0]).toBeGreaterThan(3)
  })

  it('are the last of several with the same result, if the question asks for the last time', () => {
    const edits = [
      'edit_file {"path":"config.yaml","new":"port: 9090"}\n\nOK',
      'run {"cmd":"npm start"}\n\nError: address already in use',
      'editFile {"path":"config.yaml","new":"port: 9191"}\n\nOK',
      'run {"cmd":"npm start"}\n\nlistening',
      'read_file {"path":"config.yaml"}\n\nport: 9191',
      ...Array.from({ length: 20 }, (_, number) => `read_file {"path":"docs/${number}.md"}\n\nhello`),
    ]
    expect(bestFirst(edits, 'When did I last change config.yaml, and what happened?')[0]).toBe(2)
    expect(bestFirst(edits, 'When did I last read config.yaml?')[0]).toBe(4)
  })

  it('have finite scores, for any steps and any question', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 12 }), fc.string(), (texts, question) =>
        scoreSteps(stepsOf(texts), parseQuestion(question)).every(({ value }) => Number.isFinite(value)),
      ),
    )
  })
})
