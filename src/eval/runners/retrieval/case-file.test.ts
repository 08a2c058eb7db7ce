import { describe, expect, it } from 'vitest'
import { staticCase } from '../../../../test/eval/sample-corpus.ts'
import { readRetrievalCases, readSessionCases } from './case-file.ts'

const turn = (turnIndex: number, fields: Readonly<Record<string, unknown>> = {}) => ({
  turnIndex,
  label: 'drift',
  scope: ['domain:boats'],
  userMessage: `message ${turnIndex}`,
  expect: { relevantBeliefs: { shouldOnlyInclude: [] } },
  ...fields,
})
const session = (...turns: unknown[]) => ({ caseId: 's', description: 'A session.', turns })
const silence = { relevantBeliefs: { shouldOnlyInclude: [] } }

describe('a file of cases', () => {
  it('is read in the published format', () => {
    const value = [
      staticCase('ts', 'TS strict mode', silence, {
        category: 'Alias resolution',
        userId: 'bob',
        budget: { maxBeliefs: 8, maxPinnedFacts: 2, maxQuestions: 1 },
        notes: 'why it is here',
      }),
    ]

    const { cases, warnings } = readRetrievalCases('cases.json', value)

    expect(warnings).toEqual([])
    expect(cases).toEqual([
      {
        id: 'ts',
        caseId: 'ts',
        turnIndex: null,
        group: 'Alias resolution',
        description: 'About ts.',
        user: 'bob',
        scopes: ['domain:boats'],
        message: 'TS strict mode',
        budget: { maxBeliefs: 8, maxPinned: 2, maxQuestions: 1 },
        expect: silence,
        updates: [],
      },
    ])
  })

  it('treats keys that begin with an underscore as notes, at any depth', () => {
    const noted = { _note: 'x', relevantBeliefs: { shouldOnlyInclude: [], _why: 'y' } }

    const { cases, warnings } = readRetrievalCases('cases.json', [staticCase('a', 'q', noted, { _author: 'z' })])

    expect(warnings).toEqual([])
    expect(cases[0]?.expect).toEqual(silence)
  })

  it('warns of an unknown expectation with its file and position, and never counts it as satisfied', () => {
    const value = [staticCase('a', 'q', { ...silence, topicRetrieval: { shouldRetrieveTurns: [] } })]

    const { cases, warnings } = readRetrievalCases('cases.json', value)

    expect(warnings).toEqual(['cases.json: case "a", expect.topicRetrieval: no such expectation; it was not checked.'])
    expect(cases[0]?.expect).toEqual(silence)
  })

  it('names the right place for a misplaced expectation', () => {
    const misplaced = { relevantBeliefs: { shouldOnlyInclude: [], pinnedFacts: { mustInclude: ['p'] } } }

    const { cases, warnings } = readSessionCases('sessions.json', [session(turn(0), turn(1, { expect: misplaced }))])

    expect(warnings).toEqual([
      'sessions.json: case "s", turns[1].expect.relevantBeliefs.pinnedFacts: pinnedFacts belongs directly under expect, not here; it was not checked.',
    ])
    expect(cases[0]?.turns[1]?.expect).toEqual(silence)
  })

  it('warns of an unknown limit or field', () => {
    const { warnings } = readRetrievalCases('c.json', [
      staticCase('a', 'q', silence, { budget: { maxTokens: 5 }, weight: 2 }),
    ])

    expect(warnings).toEqual([
      'c.json: case "a", budget.maxTokens: no such field; it was not checked.',
      'c.json: case "a", weight: no such field; it was not checked.',
    ])
  })

  it.each([
    ['one object', {}, /contains one object, not a list/u],
    ['an empty file', [], /contains no cases/u],
    ['a case without an id', [{ ...staticCase('a', 'q', silence), caseId: undefined }], /case 1, caseId: /u],
    ['a case without expectations', [{ caseId: 'a', scope: ['x:y'], query: 'q' }], /case "a", expect: /u],
    ['a query that is not a string', [staticCase('a', 7 as unknown as string, silence)], /case "a", query: /u],
    [
      'an invalid list',
      [staticCase('a', 'q', { pinnedFacts: { mustInclude: 'p' } })],
      /expect.pinnedFacts.mustInclude: /u,
    ],
    ['an invalid count', [staticCase('a', 'q', { relevantBeliefs: { maxCount: -1 } })], /maxCount: /u],
    [
      'a pair of three',
      [staticCase('a', 'q', { relevantBeliefs: { orderedBefore: [['x', 'y', 'z']] } })],
      /orderedBefore/u,
    ],
    [
      'an invalid scope',
      [staticCase('a', 'q', silence, { scope: ['boats'] })],
      /case "a", scope\[0\]: must be a scope/u,
    ],
    ['no scope', [staticCase('a', 'q', silence, { scope: [] })], /case "a", scope: /u],
    [
      'a duplicate id',
      [staticCase('a', 'q', silence), staticCase('a', 'r', silence)],
      /the caseId "a" is used more than once/u,
    ],
    ['a number', [7], /case 1: /u],
    ['sessions', [session(turn(0))], /its cases have turns, not query/u],
  ])('is refused if it contains %s', (_what, value, reason) => {
    const read = () => readRetrievalCases('cases.json', value)

    expect(read).toThrow(reason)
    expect(read).toThrow(expect.objectContaining({ code: 'invalid', message: expect.stringContaining('cases.json') }))
  })
})

describe('a file of sessions', () => {
  it('is read in the published format, including its description', () => {
    const value = [
      {
        ...session(
          turn(0, {
            assistantMessage: 'ok',
            turnSignal: 'substantive',
            topics: ['t'],
            createBeliefAtTurn: { _id: 'b-new' },
          }),
          turn(1, {
            updateBeliefAtTurn: {
              beliefId: 'b',
              addAliases: ['x'],
              setContent: 'c',
              setCanonicalName: 'n',
              _note: 'why',
            },
          }),
        ),
        notes: '',
      },
    ]

    const { cases, warnings } = readSessionCases('sessions.json', value)

    expect(warnings).toEqual([])
    expect(cases[0]?.turns[0]).toMatchObject({
      turnIndex: 0,
      label: 'drift',
      message: 'message 0',
      createBelief: { _id: 'b-new' },
    })
    expect(cases[0]?.turns[1]?.updateBelief).toEqual({
      beliefId: 'b',
      addAliases: ['x'],
      setContent: 'c',
      setCanonicalName: 'n',
    })
  })

  it.each([
    ['no turns', [session()], /turns: /u],
    ['turns out of order', [session(turn(1), turn(1))], /turns\[1\]: turn 1 follows turn 1/u],
    [
      'an update of nothing',
      [session(turn(0, { updateBeliefAtTurn: { addAliases: ['x'] } }))],
      /updateBeliefAtTurn.beliefId: /u,
    ],
    ['single questions', [staticCase('a', 'q', silence)], /its cases have query, not turns/u],
  ])('is refused if it contains %s', (_what, value, reason) => {
    expect(() => readSessionCases('sessions.json', value)).toThrow(reason)
  })
})
