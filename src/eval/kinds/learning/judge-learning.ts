import type { Candidate, Extraction } from '../../../memory/learn/candidate.ts'
import { analyse } from '../../../search/analyse.ts'
import { formKeys, singularOf } from '../../../search/forms.ts'
import type { CaseOutcome } from '../../run/run.ts'
import type { ExpectedFact, LearningCase } from './learning-pack.ts'

export type Judgement = Pick<CaseOutcome, 'verdict' | 'scores' | 'failures'>

/** Compares what was taken with what had to be: each expected fact once, and nothing else. */
export function judgeLearning({ learn, refuse }: LearningCase, { candidates, refused }: Extraction): Judgement {
  const pairs = matched(learn, candidates)
  const failures: string[] = []
  for (const [index, fact] of learn.entries()) {
    const candidate = pairs.get(index)
    if (candidate === undefined) failures.push(`Did not learn ${quoted(fact.says)}.`)
    else failures.push(...faultsOf(fact, candidate))
  }
  const used = new Set(pairs.values())
  for (const candidate of candidates) {
    if (!used.has(candidate))
      failures.push(`Took "${candidate.content}" as "${candidate.name}", which was not to be learned.`)
  }
  for (const { words, reason } of refuse) {
    const isRefused = refused.some((refusal) => refusal.reason === reason && flat(refusal.text).includes(words))
    if (!isRefused) failures.push(`Did not refuse "${words}" for the reason ${reason}.`)
  }
  const questions = learn.flatMap((fact, index) =>
    fact.askedWith.map((question) => ({ question, candidate: pairs.get(index) })),
  )
  const found = questions.filter(({ question, candidate }) => candidate !== undefined && brings(question, candidate))
  return {
    verdict: failures.length === 0 ? 'pass' : 'fail',
    scores: {
      learnPrecision: candidates.length === 0 ? null : used.size / candidates.length,
      learnRecall: learn.length === 0 ? null : pairs.size / learn.length,
      askable: questions.length === 0 ? null : found.length / questions.length,
      silence: learn.length > 0 ? null : candidates.length === 0 ? 1 : 0,
    },
    failures,
  }
}

/** Pairs expected facts with candidates that say it, each with one. Facts that fewest candidates fit choose first. */
function matched(facts: readonly ExpectedFact[], candidates: readonly Candidate[]): ReadonlyMap<number, Candidate> {
  const fitting = facts.map((fact, index) => ({
    index,
    options: candidates.filter((candidate) => saysIt(fact, candidate)),
  }))
  const pairs = new Map<number, Candidate>()
  const taken = new Set<Candidate>()
  for (const { index, options } of fitting.sort((one, other) => one.options.length - other.options.length)) {
    const fact = facts[index] as ExpectedFact
    const free = options.filter((candidate) => !taken.has(candidate))
    const best = free.find((candidate) => faultsOf(fact, candidate).length === 0) ?? free[0]
    if (best === undefined) continue
    pairs.set(index, best)
    taken.add(best)
  }
  return pairs
}

const saysIt = ({ says }: ExpectedFact, { content }: Candidate): boolean =>
  // Spaces within quotation marks count; those of a line that was wrapped do not.
  says.every((words) => content.includes(words) || flat(content).includes(words))

function faultsOf(fact: ExpectedFact, candidate: Candidate): readonly string[] {
  const about = `"${candidate.content}"`
  const faults: string[] = []
  if (fact.type !== undefined && fact.type !== candidate.type)
    faults.push(`${about} is a ${candidate.type}, not a ${fact.type}.`)
  if (fact.kind !== candidate.kind) faults.push(`${about} is a ${candidate.kind}, not a ${fact.kind}.`)
  if (fact.certainty !== candidate.certainty)
    faults.push(`${about} counts as ${candidate.certainty}, not as ${fact.certainty}.`)
  for (const old of fact.replaces ?? []) {
    if (!(candidate.replaces ?? []).includes(old)) faults.push(`${about} does not take back "${old}".`)
  }
  for (const question of fact.askedWith) {
    if (!brings(question, candidate)) faults.push(`"${question}" does not bring up ${about}.`)
  }
  for (const question of fact.notAskedWith) {
    if (brings(question, candidate)) faults.push(`"${question}" brings up ${about}.`)
  }
  return faults
}

/** Whether recall links a question to a belief of these forms: one of them stands in it as a whole. */
export function brings(question: string, { name, aliases }: Pick<Candidate, 'name' | 'aliases'>): boolean {
  const atoms = analyse(question)
  const spellings = [atoms.map(({ word }) => word), atoms.map(singularOf)].map((words) => ` ${words.join(' ')} `)
  return [name, ...aliases]
    .flatMap(formKeys)
    .some(({ key }) => spellings.some((spelling) => spelling.includes(` ${key} `)))
}

const flat = (text: string): string => text.replace(/\s+/gu, ' ')
const quoted = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(' with ')
