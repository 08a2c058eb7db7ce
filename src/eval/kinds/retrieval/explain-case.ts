import type { Explanation } from '../../../search/explanation.ts'
import type { Answer, AnswerHit } from '../../system/system.ts'
import { checkExpectations, type Expectations, type Outcome } from './expectations.ts'
import type { Pack, ReadyCase, ReadyTurn } from './pack.ts'
import type { PackRun } from './run-pack.ts'

/** How the matched words of a message are set off. */
export type Mark = (words: string) => string

/** The whole decision of one case, for a person: what was asked, what came back and why, what was expected and what of it failed. */
export function explainCase(run: PackRun, id: string, mark: Mark): string | null {
  const record = run.records.find((one) => one.id === id)
  if (record === undefined) return null
  const { asked, answer, entry } = record
  const verdict = { passed: 'passed', failed: 'FAILED', error: 'ERROR' }[entry.status]
  const title = `${run.subject.name}: ${id} (${run.pack.id}${kindOf(asked)}): ${verdict}`
  return [
    title,
    ...('description' in asked && asked.description !== '' ? [`  ${asked.description}`] : []),
    '',
    ...section('message', [markedMessage(asked.message, answer, mark)]),
    ...section('asked by', [`${asked.user} in ${asked.scopes.join(' ')}${budgetText(asked)}`]),
    ...(answer === null ? section('error', [entry.error ?? 'no answer']) : answerLines(answer, run.pack)),
    ...section('expected', expectationLines(asked.expect, answer)),
  ].join('\n')
}

const kindOf = (asked: ReadyCase | ReadyTurn): string => {
  const kind = 'label' in asked ? asked.label : asked.category
  return kind === null || kind === '' ? '' : `, ${kind}`
}

const budgetText = ({ budget }: ReadyCase | ReadyTurn): string => {
  const limits = Object.entries(budget).map(([name, value]) => `${name} ${value}`)
  return limits.length === 0 ? '' : `, at most ${limits.join(', ')}`
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.map((line, at) => `  ${(at === 0 ? title : '').padEnd(11)} ${line}`)

function answerLines(answer: Answer, pack: Pack): readonly string[] {
  const none = ['none']
  const nameOf = namesIn(pack)
  const relevant = answer.relevant.flatMap((hit, at) => hitLines(hit, at + 1, nameOf))
  const misses = answer.nearMisses?.map(({ id, reason }) => `${id}: ${reason}`) ?? ['this backend names none']
  return [
    ...section('prelude', answer.prelude === null ? none : answer.prelude.split('\n')),
    ...section('pinned', answer.pinned.length === 0 ? none : [answer.pinned.join(', ')]),
    ...section('questions', answer.questions.length === 0 ? none : [answer.questions.join(', ')]),
    ...section('relevant', relevant.length === 0 ? none : relevant),
    ...section('left out', misses.length === 0 ? none : misses),
  ]
}

function hitLines(hit: AnswerHit, rank: number, nameOf: (id: string) => string): readonly string[] {
  const score = hit.score === null ? '' : `  ${hit.score.toFixed(3)}`
  const head = `${rank}. ${hit.id}${nameOf(hit.id)}${score}`
  const matches = (hit.matches ?? []).map(({ form, words, explanation }) => {
    const written = words.map(({ text, typo }) =>
      typo === null ? `"${text}"` : `"${typo.written}" read as "${typo.meant}"`,
    )
    return `   ${[...new Set(written)].join(', ')} is its ${explanation.label} "${form}": ${arithmetic(explanation)}`
  })
  if (hit.matches !== undefined && matches.length === 0) return [head, '   part of a relation that was named']
  return [head, ...matches]
}

/** `idf of 1 in 17 2.457 × tf of 1 0.455 × alias boost 1 × edit 1 = 1.117` */
function arithmetic({ parts, op, value }: Explanation): string {
  if (op === 'leaf') return number(value)
  return `${parts.map((part) => `${part.label} ${number(part.value)}`).join(op === 'sum' ? ' + ' : ' × ')} = ${number(value)}`
}

const number = (value: number): string => String(Math.round(value * 1000) / 1000)

const namesIn = (pack: Pack) => {
  const names = new Map(pack.beliefs.map(({ id, name }) => [id, name]))
  return (id: string): string => {
    const name = names.get(id)
    return name === undefined || name === id ? '' : ` (${name})`
  }
}

function markedMessage(message: string, answer: Answer | null, mark: Mark): string {
  const spans = (answer?.relevant ?? []).flatMap(({ matches = [] }) => matches.flatMap(({ words }) => words))
  let text = ''
  let at = 0
  for (const { start, end } of [...spans].sort((one, other) => one.start - other.start || other.end - one.end)) {
    if (start < at) continue
    text += message.slice(at, start) + mark(message.slice(start, end))
    at = end
  }
  return text + message.slice(at)
}

/** Every expectation on its own, with whether it held. */
function expectationLines(expect: Expectations, answer: Answer | null): readonly string[] {
  const outcome: Outcome | null = answer === null ? null : { ...answer, relevant: answer.relevant.map(({ id }) => id) }
  const lines = Object.entries(expect).flatMap(([tier, checks]) =>
    Object.entries(checks ?? {}).map(([name, value]) => {
      const failures = outcome === null ? ['not answered'] : checkExpectations({ [tier]: { [name]: value } }, outcome)
      const verdict = failures.length === 0 ? 'held' : `FAILED: ${failures.join(' ')}`
      return `${tier}.${name} ${JSON.stringify(value)}: ${verdict}`
    }),
  )
  return lines.length === 0 ? ['nothing'] : lines
}
