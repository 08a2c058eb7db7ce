import { type Belief, isCurrent, isStanding } from '../../../beliefs/belief.ts'
import { universalScope } from '../../../beliefs/scope.ts'
import type { LearnedStatement, LearnResult } from '../../../memory/learn/learn.ts'
import { analyse } from '../../../search/analyse.ts'
import { formKeys, singularOf } from '../../../search/forms.ts'
import type { CaseOutcome } from '../../run/run.ts'
import type { ExpectedFact, LearningCase } from './learning-runner.ts'

type LearningVerdict = Pick<CaseOutcome, 'verdict' | 'scores' | 'failures'>

/** Passes if exactly the expected facts were learned, in the right form, beliefs to keep are current, and refusals were reported. */
export function judgeLearning(
  { learn, keeps, refuse }: LearningCase,
  { taken, refused }: LearnResult,
  beliefs: readonly Belief[],
): LearningVerdict {
  const pairs = pairUp(learn, taken)
  const used = new Set(pairs.values())
  const current = beliefs.filter(isCurrent)
  const lost = keeps.filter((words) => !current.some(({ content }) => flatten(content).includes(words)))
  const failures = [
    ...taken
      .filter((statement) => !used.has(statement))
      .map(({ belief }) => `"${belief.content}" was taken and should not have been.`),
    ...learn.flatMap((fact, index) => {
      const statement = pairs.get(index)
      return statement === undefined ? [`${quoteWords(fact.says)} was not taken.`] : faultsOf(fact, statement)
    }),
    ...lost.map((words) => `No current belief contains "${words}" any more.`),
    ...refuse
      .filter(({ words, reason }) => !refused.some((one) => one.reason === reason && flatten(one.text).includes(words)))
      .map(({ words, reason }) => `Nothing with "${words}" was refused for the reason ${reason}.`),
  ]
  return {
    verdict: failures.length === 0 ? 'pass' : 'fail',
    scores: {
      learnPrecision: taken.length === 0 ? null : used.size / taken.length,
      learnRecall: learn.length === 0 ? null : pairs.size / learn.length,
      silence: learn.length > 0 ? null : taken.length === 0 ? 1 : 0,
      kept: keeps.length === 0 ? null : 1 - lost.length / keeps.length,
    },
    failures,
  }
}

/** Pairs each expected fact with one statement that contains it, starting with the facts that have the fewest candidates. */
function pairUp(
  facts: readonly ExpectedFact[],
  taken: readonly LearnedStatement[],
): ReadonlyMap<number, LearnedStatement> {
  const fitting = facts.map((fact, index) => ({ index, options: taken.filter((one) => statesFact(fact, one)) }))
  const pairs = new Map<number, LearnedStatement>()
  const used = new Set<LearnedStatement>()
  for (const { index, options } of fitting.sort((a, b) => a.options.length - b.options.length)) {
    const free = options.find((statement) => !used.has(statement))
    if (free === undefined) continue
    pairs.set(index, free)
    used.add(free)
  }
  return pairs
}

const statesFact = ({ says }: ExpectedFact, { belief }: LearnedStatement): boolean =>
  says.every((words) => flatten(belief.content).includes(words))

function faultsOf(fact: ExpectedFact, { belief, outcome, replaced }: LearnedStatement): readonly string[] {
  const subject = `"${belief.content}"`
  const about = belief.scopes.includes(universalScope) ? 'person' : 'work'
  const stands = belief.subtype === 'instruction' && belief.scopes.every((scope) => isStanding(belief, scope))
  const faults: readonly (readonly [isFault: boolean, words: string])[] = [
    [outcome !== fact.outcome, `was ${outcome}, not ${fact.outcome}.`],
    [about !== fact.about, `is kept for the ${about}, not for the ${fact.about}.`],
    [fact.slot !== undefined && belief.name !== fact.slot, `has the name "${belief.name}", not "${fact.slot}".`],
    [fact.standing !== stands, fact.standing ? 'is no standing instruction.' : 'is a standing instruction.'],
    [
      fact.replaces === undefined
        ? replaced.length > 0
        : !replaced.some(({ content }) => content.includes(fact.replaces ?? '')),
      `replaces ${replaced.length === 0 ? 'nothing' : quoteWords(replaced.map(({ content }) => content))}.`,
    ],
    ...fact.askedWith.map(
      (question) => [!isFoundByName(question, belief), `is not brought up by "${question}".`] as const,
    ),
    ...fact.notAskedWith.map(
      (question) => [isFoundByName(question, belief), `is brought up by "${question}".`] as const,
    ),
  ]
  return faults.filter(([isFault]) => isFault).map(([, words]) => `${subject} ${words}`)
}

/** Whether recall would find a belief by its name: the message contains one of its names as whole words. */
export function isFoundByName(question: string, { name, aliases }: Pick<Belief, 'name' | 'aliases'>): boolean {
  const tokens = analyse(question)
  const spellings = [tokens.map(({ word }) => word), tokens.map(singularOf)].map((words) => ` ${words.join(' ')} `)
  return [name, ...aliases]
    .flatMap((form) => formKeys(form))
    .some(({ key }) => spellings.some((spelling) => spelling.includes(` ${key} `)))
}

const flatten = (text: string): string => text.replace(/\s+/gu, ' ')
const quoteWords = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(' with ')
