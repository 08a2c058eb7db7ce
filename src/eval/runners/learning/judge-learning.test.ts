import { describe, expect, it } from 'vitest'
import { belief } from '../../../../test/recall/fixtures.ts'
import type { Belief } from '../../../beliefs/belief.ts'
import type { LearnedStatement, LearnOutcome } from '../../../memory/learn/learn.ts'
import { type ExpectedFact, isFoundByName, judgeLearning, type LearningCase } from './learning-runner.ts'

const gym = (content: string, fields: Partial<Belief> = {}): Belief => ({
  ...belief({ name: 'gym', aliases: ['fitness studio'], content, ...fields }),
  version: 1,
})

const taken = (
  one: Belief,
  outcome: LearnOutcome = 'remembered',
  replaced: readonly Belief[] = [],
): LearnedStatement => ({
  finding: {
    kind: 'request',
    type: 'entity',
    subtype: null,
    about: 'work',
    content: one.content,
    span: { start: 0, end: 1 },
  },
  outcome,
  belief: one,
  replaced,
  because: '',
})

const fact = (says: string, more: Partial<ExpectedFact> = {}): ExpectedFact => ({
  says: [says],
  outcome: 'remembered',
  about: 'work',
  standing: false,
  askedWith: [],
  notAskedWith: [],
  ...more,
})

const asked = (learn: readonly ExpectedFact[], more: Partial<LearningCase> = {}): LearningCase => ({
  caseId: 'c',
  category: 'k',
  description: 'd',
  written: 'after',
  message: 'm',
  earlier: [],
  keeps: [],
  refuse: [],
  learn: [...learn],
  ...more,
})

const judged = (one: LearningCase, learned: readonly LearnedStatement[], others: readonly Belief[] = []) =>
  judgeLearning(one, { taken: learned, refused: [] }, [...learned.map(({ belief: held }) => held), ...others])

describe('a case of learning', () => {
  it('passes if exactly the expected facts were learned', () => {
    const { verdict, scores } = judged(asked([fact('My gym is Flex')]), [taken(gym('My gym is Flex.'))])

    expect({ verdict, ...scores }).toMatchObject({ verdict: 'pass', learnPrecision: 1, learnRecall: 1, silence: null })
  })

  it('fails for each extra statement, which lowers precision', () => {
    const { scores, failures } = judged(asked([fact('Flex')]), [taken(gym('My gym is Flex.')), taken(gym('Hello.'))])

    expect(scores).toMatchObject({ learnPrecision: 0.5, learnRecall: 1 })
    expect(failures).toEqual(['"Hello." was taken and should not have been.'])
  })

  it('fails for a missing fact, and for any fact if none is expected', () => {
    expect(judged(asked([fact('Flex')]), [])).toMatchObject({ verdict: 'fail', scores: { learnRecall: 0 } })
    expect(judged(asked([]), [])).toMatchObject({ verdict: 'pass', scores: { silence: 1 } })
    expect(judged(asked([]), [taken(gym('My gym is Flex.'))])).toMatchObject({
      verdict: 'fail',
      scores: { silence: 0 },
    })
  })

  const flex = gym('My gym is Flex.')
  it.each<readonly [string, Partial<ExpectedFact>, LearnedStatement]>([
    ['another outcome', { outcome: 'candidate' }, taken(flex)],
    ['another scope', { about: 'person' }, taken(flex)],
    ['another slot', { slot: 'my name' }, taken(flex)],
    ['no standing instruction', { standing: true }, taken(flex)],
    ['an unexpected standing instruction', {}, taken(gym('Flex', { type: 'preference', subtype: 'instruction' }))],
    ['an unexpected replacement', {}, taken(flex, 'remembered', [gym('My gym is Iron.')])],
    ['a missing replacement', { replaces: 'Iron' }, taken(flex)],
    ['a question that does not recall it', { askedWith: ['Where do I swim?'] }, taken(flex)],
    ['a question that recalls it but must not', { notAskedWith: ['Which gym?'] }, taken(flex)],
  ])('fails for %s', (_what, expected, one) => {
    expect(judged(asked([fact('Flex', expected)]), [one]).verdict).toBe('fail')
  })

  it('fails if a belief that must be kept is gone', () => {
    const one = asked([], { keeps: ['My gym is Flex'] })

    expect(judged(one, [], [flex])).toMatchObject({ verdict: 'pass', scores: { kept: 1 } })
    expect(judged(one, [], [{ ...flex, supersededBy: 'x' }])).toMatchObject({ verdict: 'fail', scores: { kept: 0 } })
  })

  it('fails if no statement was refused for the expected reason', () => {
    const one = asked([], { refuse: [{ words: 'hush', reason: 'off_the_record' }] })

    expect(judged(one, []).failures).toEqual(['Nothing with "hush" was refused for the reason off_the_record.'])
  })
})

it('recalls a belief by a whole surface form, including its plural, and not by a part of it', () => {
  expect(isFoundByName('Are there fitness studios nearby?', flexForms)).toBe(true)
  expect(isFoundByName('Is there a studio nearby?', flexForms)).toBe(false)
})

const flexForms = { name: 'gym', aliases: ['fitness studio'] }
