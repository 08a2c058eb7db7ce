import { describe, expect, it } from 'vitest'
import type { Candidate } from '../../../memory/learn/candidate.ts'
import { brings, judgeLearning } from './judge-learning.ts'
import type { ExpectedFact, LearningCase } from './learning-pack.ts'

const candidate = (content: string, more: Partial<Candidate> = {}): Candidate => ({
  type: 'entity',
  subtype: null,
  name: 'gym',
  aliases: ['fitness studio'],
  content,
  why: '',
  span: { start: 0, end: content.length },
  foundBy: 'test',
  certainty: 'said',
  kind: 'statement',
  ...more,
})

const fact = (says: string, more: Partial<ExpectedFact> = {}): ExpectedFact => ({
  says: [says],
  askedWith: ['Which gym do I go to?'],
  notAskedWith: [],
  kind: 'statement',
  certainty: 'said',
  ...more,
})

const asked = (learn: readonly ExpectedFact[], refuse: LearningCase['refuse'] = []): LearningCase => ({
  caseId: 'c',
  category: 'k',
  description: 'd',
  message: 'm',
  earlier: [],
  learn: [...learn],
  refuse,
})

describe('a case of learning', () => {
  it('passes when exactly what was expected was taken', () => {
    const { verdict, scores } = judgeLearning(asked([fact('gym is Flex')]), {
      candidates: [candidate('My gym is Flex.')],
      refused: [],
    })

    expect(verdict).toBe('pass')
    expect(scores).toEqual({ learnPrecision: 1, learnRecall: 1, askable: 1, silence: null })
  })

  it('counts what is missing against recall, and what is too much against precision', () => {
    const { verdict, scores, failures } = judgeLearning(asked([fact('gym is Flex'), fact('cat is Mo')]), {
      candidates: [candidate('My gym is Flex.'), candidate('Hello.')],
      refused: [],
    })

    expect(verdict).toBe('fail')
    expect(scores).toMatchObject({ learnPrecision: 0.5, learnRecall: 0.5 })
    expect(failures).toEqual(['Did not learn "cat is Mo".', expect.stringContaining('not to be learned')])
  })

  it('does not let one candidate stand for two facts', () => {
    const both = candidate('My gym is Flex and my cat is Mo.')
    const { scores } = judgeLearning(asked([fact('gym is Flex'), fact('cat is Mo')]), {
      candidates: [both],
      refused: [],
    })

    expect(scores.learnRecall).toBe(0.5)
  })

  it('is strict about letters', () => {
    expect(
      judgeLearning(asked([fact('gym is FLEX')]), { candidates: [candidate('My gym is Flex.')], refused: [] }).verdict,
    ).toBe('fail')
  })

  it.each([
    ['type', { type: 'preference' }],
    ['kind', { kind: 'correction' }],
    ['certainty', { certainty: 'inferred' }],
    ['what it takes back', { replaces: ['Iron'] }],
    ['a question that has to find it', { askedWith: ['Where do I swim?'] }],
    ['a question that must not', { notAskedWith: ['a fitness studio near me'] }],
  ] as const)('fails on a wrong %s', (_what, more) => {
    const one = asked([fact('gym is Flex', more as Partial<ExpectedFact>)])
    expect(judgeLearning(one, { candidates: [candidate('My gym is Flex.')], refused: [] }).verdict).toBe('fail')
  })

  it('is silent when nothing is to be learned', () => {
    expect(judgeLearning(asked([]), { candidates: [], refused: [] })).toMatchObject({
      verdict: 'pass',
      scores: { silence: 1, learnPrecision: null, learnRecall: null },
    })
    expect(judgeLearning(asked([]), { candidates: [candidate('x')], refused: [] })).toMatchObject({
      verdict: 'fail',
      scores: { silence: 0 },
    })
  })

  it('can ask for the reason of a refusal', () => {
    const one = asked([], [{ words: 'tea?', reason: 'question' }])
    const refusal = { text: 'Some tea?', span: { start: 0, end: 9 }, explanation: 'It asks.' }

    expect(judgeLearning(one, { candidates: [], refused: [{ ...refusal, reason: 'question' }] }).verdict).toBe('pass')
    expect(judgeLearning(one, { candidates: [], refused: [{ ...refusal, reason: 'small_talk' }] }).verdict).toBe('fail')
  })
})

it('a question brings up what has a whole form in it, as recall would', () => {
  const forms = { name: 'code phrase', aliases: ['ferrets'] }

  expect(brings('What are the code phrases?', forms)).toBe(true)
  expect(brings('my ferret is ill', forms)).toBe(true)
  expect(brings('which code do I need?', forms)).toBe(false)
})
