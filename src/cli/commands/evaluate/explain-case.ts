import { checkExpectations, type Expectations, type Outcome } from '../../../eval/runners/retrieval/expectations.ts'
import type { Pack } from '../../../eval/runners/retrieval/pack.ts'
import { answerOf, explanationOf } from '../../../eval/runners/retrieval/retrieval-runner.ts'
import type { PackRun } from '../../../eval/runners/retrieval/run-pack.ts'
import type { AnswerHit, SystemAnswer } from '../../../eval/system/system.ts'
import { type Style, stripControlCharacters } from '../../text/output.ts'
import { arithmetic } from '../../text/recall.ts'

const maxFailuresShown = 20

export function failureText(runs: readonly PackRun[], style: Style): string {
  const failed = runs.flatMap(({ system, pack, outcomes }) =>
    outcomes.flatMap(({ caseId, verdict, error, failures }) => {
      if (verdict === 'pass') return []
      const reasons = error === undefined ? failures : [`error: ${error.message}`]
      const title = style.red(`${system.name} ${pack.id} ${caseId}`)
      return [[title, ...reasons.map((reason) => `  ${stripControlCharacters(reason)}`)].join('\n')]
    }),
  )
  const shown = failed.slice(0, maxFailuresShown)
  const more = failed.length - shown.length
  return [...shown, ...(more > 0 ? [`… and ${more} more; the report has them all.`] : [])].join('\n')
}

/** One case for a person: the message, the answer and why, the expectations and which of them failed. */
export function explanationText(run: PackRun, id: string, style: Style): string | null {
  // Without colours brackets show which words were matched.
  const paints = style.bold('x') !== 'x'
  const mark = (words: string): string => (paints ? style.bold(style.underline(words)) : `[${words}]`)
  const outcome = run.outcomes.find(({ caseId }) => caseId === id)
  const asked = run.pack.cases.find((one) => one.id === id)
  if (outcome === undefined || asked === undefined) return null
  const answer = answerOf(outcome)
  const { group } = explanationOf(outcome)
  const limits = Object.entries(asked.budget).map(([name, value]) => `${name} ${value}`)
  const within = limits.length === 0 ? '' : `, at most ${limits.join(', ')}`
  const ending = { pass: 'passed', fail: 'FAILED', error: 'ERROR' }[outcome.verdict as 'pass' | 'fail' | 'error']
  const whole = [
    `${run.system.name}: ${id} (${run.pack.id}${group ? `, ${group}` : ''}): ${ending}`,
    ...(asked.turnIndex === null && asked.description !== '' ? [`  ${asked.description}`] : []),
    '',
    ...section('message', [markedMessage(asked.message, answer, mark)]),
    ...section('asked by', [`${asked.user} in ${asked.scopes.join(' ')}${within}`]),
    ...(answer === null ? section('error', [outcome.error?.message ?? 'no answer']) : answerLines(answer, run.pack)),
    ...section('expected', expectationLines(asked.expect, answer, outcome.failures)),
  ].join('\n')
  return paints ? whole : stripControlCharacters(whole)
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  (lines.length === 0 ? ['none'] : lines).map((line, at) => `  ${(at === 0 ? title : '').padEnd(11)} ${line}`)

function answerLines(
  { prelude, pinned, questions, relevant, quotes = [], nearMisses }: SystemAnswer,
  pack: Pack,
): readonly string[] {
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
    ...(pack.turns === undefined || pack.turns.length === 0
      ? []
      : section('quotes', listed(quotes.map(({ turn }) => turn)))),
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

function markedMessage(message: string, answer: SystemAnswer | null, mark: (words: string) => string): string {
  const spans = (answer?.relevant ?? []).flatMap(({ matches = [] }) => matches.flatMap(({ words }) => words))
  let text = ''
  let at = 0
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (start < at) continue
    text += message.slice(at, start) + mark(message.slice(start, end))
    at = end
  }
  return text + message.slice(at)
}

/** Every expectation, with whether it was met. */
function expectationLines(
  expect: Expectations,
  answer: SystemAnswer | null,
  known: readonly string[],
): readonly string[] {
  const outcome: Outcome | null = answer === null ? null : { ...answer, relevant: answer.relevant.map(({ id }) => id) }
  const lines = Object.entries(expect).flatMap(([tier, checks]) =>
    Object.entries(checks ?? {}).map(([name, value]) => {
      const check = (): readonly string[] =>
        // The words of quotes are not kept, so they cannot be checked again.
        tier === 'quotes'
          ? known.filter((failure) => failure.startsWith('quotes:'))
          : checkExpectations({ [tier]: { [name]: value } }, outcome as Outcome)
      const failures = outcome === null ? ['not answered'] : check()
      const verdict = failures.length === 0 ? 'held' : `FAILED: ${failures.join(' ')}`
      return `${tier}.${name} ${JSON.stringify(value)}: ${verdict}`
    }),
  )
  return lines.length === 0 ? ['nothing'] : lines
}
