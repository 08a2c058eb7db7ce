import { checkExpectations, type Expectations, type Outcome } from '../../../eval/kinds/retrieval/expectations.ts'
import type { Pack } from '../../../eval/kinds/retrieval/pack.ts'
import type { PackRun } from '../../../eval/kinds/retrieval/run-pack.ts'
import type { Answer, AnswerHit } from '../../../eval/system/system.ts'
import { arithmetic } from '../../text/recall.ts'

/** One case for a person: the message, the answer and why, the expectations and which of them failed. */
export function explainCase(run: PackRun, id: string, mark: (words: string) => string): string | null {
  const record = run.records.find((one) => one.id === id)
  if (record === undefined) return null
  const { asked, answer, entry } = record
  const verdict = { passed: 'passed', failed: 'FAILED', error: 'ERROR' }[entry.status]
  const group = 'label' in asked ? asked.label : asked.category
  const limits = Object.entries(asked.budget).map(([name, value]) => `${name} ${value}`)
  const within = limits.length === 0 ? '' : `, at most ${limits.join(', ')}`
  return [
    `${run.subject.name}: ${id} (${run.pack.id}${group ? `, ${group}` : ''}): ${verdict}`,
    ...('description' in asked && asked.description !== '' ? [`  ${asked.description}`] : []),
    '',
    ...section('message', [markedMessage(asked.message, answer, mark)]),
    ...section('asked by', [`${asked.user} in ${asked.scopes.join(' ')}${within}`]),
    ...(answer === null ? section('error', [entry.error ?? 'no answer']) : answerLines(answer, run.pack)),
    ...section('expected', expectationLines(asked.expect, answer)),
  ].join('\n')
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  (lines.length === 0 ? ['none'] : lines).map((line, at) => `  ${(at === 0 ? title : '').padEnd(11)} ${line}`)

function answerLines({ prelude, pinned, questions, relevant, nearMisses }: Answer, pack: Pack): readonly string[] {
  const names = new Map(pack.beliefs.map(({ id, name }) => [id, name]))
  const listed = (ids: readonly string[]) => (ids.length === 0 ? [] : [ids.join(', ')])
  return [
    ...section('prelude', prelude?.split('\n') ?? []),
    ...section('pinned', listed(pinned)),
    ...section('questions', listed(questions)),
    ...section(
      'relevant',
      relevant.flatMap((hit, at) => hitLines(hit, at + 1, names.get(hit.id))),
    ),
    ...section('left out', nearMisses?.map(({ id, reason }) => `${id}: ${reason}`) ?? ['this backend names none']),
  ]
}

function hitLines({ id, score, matches }: AnswerHit, rank: number, name: string | undefined): readonly string[] {
  const called = name === undefined || name === id ? '' : ` (${name})`
  const head = `${rank}. ${id}${called}${score === null ? '' : `  ${score.toFixed(3)}`}`
  if (matches?.length === 0) return [head, '   part of a relation that was named']
  const lines = (matches ?? []).map(({ form, words, explanation }) => {
    const written = words.map(({ text, typo }) =>
      typo === null ? `"${text}"` : `"${typo.written}" read as "${typo.meant}"`,
    )
    return `   ${[...new Set(written)].join(', ')} is its ${explanation.label} "${form}": ${arithmetic(explanation)}`
  })
  return [head, ...lines]
}

function markedMessage(message: string, answer: Answer | null, mark: (words: string) => string): string {
  const spans = (answer?.relevant ?? []).flatMap(({ matches = [] }) => matches.flatMap(({ words }) => words))
  let text = ''
  let at = 0
  for (const { start, end } of spans.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    if (start < at) continue
    text += message.slice(at, start) + mark(message.slice(start, end))
    at = end
  }
  return text + message.slice(at)
}

/** Every expectation, with whether it held. */
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
