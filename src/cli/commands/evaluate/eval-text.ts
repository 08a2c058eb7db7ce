import { explainCase } from '../../../eval/kinds/retrieval/explain-case.ts'
import type { PackRun } from '../../../eval/kinds/retrieval/run-pack.ts'
import { harmless, type Style } from '../../output.ts'

const mostFailuresShown = 20

/** The cases that did not pass, and why. */
export function failureText(runs: readonly PackRun[], style: Style): string {
  const failed = runs.flatMap(({ subject, pack, records }) =>
    records.flatMap(({ id, entry }) => {
      if (entry.passed) return []
      const reasons = entry.error === null ? entry.failures : [`error: ${entry.error}`]
      return [
        `${style.red(`${subject.name} ${pack.id} ${id}`)}\n${reasons.map((reason) => `  ${harmless(reason)}`).join('\n')}`,
      ]
    }),
  )
  const shown = failed.slice(0, mostFailuresShown)
  const more = failed.length - shown.length
  return [...shown, ...(more > 0 ? [`… and ${more} more; the report has them all.`] : [])].join('\n')
}

/** One case: whole with `explain`, else only how it ended. */
export function explanationText(
  run: PackRun,
  id: string,
  { style, explain }: { readonly style: Style; readonly explain: boolean },
): string {
  // Without colours brackets show which words were matched.
  const paints = style.bold('x') !== 'x'
  const whole = explainCase(run, id, (words) => (paints ? style.bold(style.underline(words)) : `[${words}]`))
  if (explain) return whole === null ? '' : paints ? whole : harmless(whole)
  const record = run.records.find((one) => one.id === id)
  if (record === undefined) return ''
  const { status, failures, error } = record.entry
  return [
    `${run.subject.name} ${id}: ${status}`,
    ...(error === null ? failures : [error]).map((line) => `  ${harmless(line)}`),
  ].join('\n')
}
