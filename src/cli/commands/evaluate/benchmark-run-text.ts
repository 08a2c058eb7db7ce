import { manifestOf } from '../../../eval/pack/manifest.ts'
import { namesIn, withNames } from '../../../eval/report/case-detail.ts'
import { budgetRows, curveRows } from '../../../eval/report/context-tables.ts'
import { type AblationResult, type PassedShare, saturated, summariseCases } from '../../../eval/score/figures.ts'
import type { Interval } from '../../../eval/score/statistics.ts'
import { casesOf } from '../../../eval/store/case-log.ts'
import type { MetricDeclaration } from '../../../eval/store/schemas/primitives.ts'
import type { CaseRecord, RunSummary } from '../../../eval/store/schemas/run.ts'
import { short } from '../../text/beliefs.ts'
import { type Style, stripControlCharacters, table } from '../../text/output.ts'

export type RunResult = {
  readonly summary: RunSummary
  readonly directory: string
  /** Claims of the pack that nothing checks. */
  readonly warnings: readonly string[]
  /** For a run with a part switched off: whether the cases noticed. */
  readonly ablation: AblationResult | null
  readonly isBaseline: boolean
}

/** The runs of a command for people: an overview, failures, the figures of suites and attacks, and ablations. */
export async function runsText(root: string, results: readonly RunResult[]): Promise<(style: Style) => string> {
  const runs = results.map(({ summary }) => summary)
  const measured = results.filter(({ ablation, isBaseline }) => ablation === null && !isBaseline)
  const failures: string[] = []
  for (const result of measured) failures.push(...(await failuresOf(root, result)))
  const figures = [...(await suiteText(root, results)), ...(await redTeamText(root, runs))]
  return (style) => [overview(runs, failures, style), ...figures, ...ablationText(results, style)].join('\n')
}

/** Sorted by case, so that the output does not depend on the seed. */
async function failuresOf(root: string, { summary, directory }: RunResult): Promise<readonly string[]> {
  const { records } = await casesOf(root, summary.runId)
  const manifest = manifestOf(directory)
  const prompts = new Map(manifest.cases.map(({ id, prompt }) => [id, ` "${short(prompt, maxPrompt)}"`]))
  const told = records.flatMap(({ failures }) => failures)
  const names = namesIn({ directory, manifest }, told)
  return [...records]
    .sort((a, b) => (a.caseId < b.caseId ? -1 : 1))
    .flatMap(({ caseId, failures, error }) =>
      [...failures, ...(error === undefined ? [] : [error.message])].map(
        (failure) => `${caseId}${prompts.get(caseId) ?? ''}: ${withNames(failure, names)}`,
      ),
    )
}

const maxFailures = 20
const maxPrompt = 60

function overview(runs: readonly RunSummary[], failures: readonly string[], style: Style): string {
  const rows = runs.map((run) => [
    run.benchmarkId,
    run.system?.name ?? '',
    run.status,
    `${run.passedCases}/${run.totalCases}${run.errorCases ? `, ${run.errorCases} errors` : ''}`,
    run.latency === undefined ? '' : `${run.latency.p50Ms.toFixed(2)} / ${run.latency.p95Ms.toFixed(2)} ms`,
    run.runId,
    [isSaturated(run) ? saturated : '', sealText(run)].filter((mark) => mark !== '').join('; '),
  ])
  const title = ['benchmark', 'system', 'status', 'passed', 'p50 / p95', 'run', '']
  const shown = failures.slice(0, maxFailures).map((failure) => style.red(stripControlCharacters(failure)))
  const left = failures.length - shown.length
  const more = left > 0 ? [`and ${left} more; see the case records`] : []
  return [
    stripControlCharacters(table([title, ...rows])),
    ...(failures.length === 0 ? [] : ['', ...shown, ...more]),
  ].join('\n')
}

/** How often a sealed set was looked at, for a run of the memory under test. */
const sealText = ({ sealed }: RunSummary): string =>
  sealed === undefined ? '' : `sealed ${sealed.sealedAt.slice(0, 10)}, look ${sealed.look} of ${sealed.maxRuns}`

type Ranged = Pick<MetricDeclaration, 'range'>

/** A share in percent, a count as it is. An interval is cut at the ends of its range. */
function figure(value: number | undefined, { range }: Ranged): string {
  if (value === undefined) return ''
  return range === undefined ? value.toFixed(2) : (100 * Math.min(range[1], Math.max(range[0], value))).toFixed(1)
}

function withInterval(value: number | undefined, interval: Interval | undefined, metric: Ranged): string {
  if (interval === undefined) return figure(value, metric)
  return `${figure(value, metric)} [${figure(interval.low, metric)}, ${figure(interval.high, metric)}]`
}

/** The figures of red-team packs: a row for each, with how many of its cases each figure is of, and one for all. */
async function redTeamText(root: string, runs: readonly RunSummary[]): Promise<readonly string[]> {
  const names = ['attackSuccessRate', 'benignLoss'] as const
  const measured = runs.filter(({ role, metrics = {} }) => role !== 'ablation' && names.some((name) => name in metrics))
  const lines: string[] = []
  for (const [system, own] of Map.groupBy(measured, (run) => run.system?.name ?? '')) {
    const all = await Promise.all(own.map(async ({ runId }) => (await casesOf(root, runId)).records))
    const cells = (records: readonly CaseRecord[]): readonly string[] => {
      const { results, metrics, intervals } = summariseCases(records)
      return names.map((name) => {
        const scores = results.flatMap(({ scores = {} }) => scores[name] ?? [])
        const share = `${scores.filter((score) => score > 0).length}/${scores.length}`
        return `${share} = ${withInterval(metrics[name], intervals[name], { range: [0, 1] })}`
      })
    }
    const rows = own.map(({ benchmarkId }, place) => [benchmarkId, ...cells(all[place] ?? [])])
    const total = own.length > 1 ? [['all', ...cells(all.flat())]] : []
    lines.push(
      '',
      stripControlCharacters(table([[`${system}, %`, 'attacks that succeed', 'benign lost'], ...rows, ...total])),
    )
  }
  return lines
}

/** The figures of conversation packs: one row for each system, then one for each type of question on the measured one. */
async function suiteText(root: string, results: readonly RunResult[]): Promise<readonly string[]> {
  const lines: string[] = []
  const runs = results.filter(({ summary, ablation }) => ablation === null && summary.status === 'completed')
  for (const [benchmarkId, own] of Map.groupBy(runs, ({ summary }) => summary.benchmarkId)) {
    const records = await Promise.all(own.map(async ({ summary }) => (await casesOf(root, summary.runId)).records))
    if (!records.some((cases) => cases.some(({ cluster }) => cluster !== undefined))) continue
    const metrics = own[0]?.summary.metricDeclarations ?? []
    const rows = own.map(({ summary: { system, metrics: figures = {}, intervals = {}, totalCases } }) => [
      system?.name ?? '',
      String(totalCases),
      ...metrics.map((metric) => withInterval(figures[metric.name], intervals[metric.name], metric)),
    ])
    const measured = own[0]?.summary.system?.name ?? ''
    const groups = Map.groupBy(records[0] ?? [], ({ explanation }) =>
      String((explanation as { group?: string })?.group),
    )
    const byGroup = [...groups].map(([group, cases]) => {
      const figures = summariseCases(cases).metrics
      return [
        `${measured}: ${group}`,
        String(cases.length),
        ...metrics.map((metric) => figure(figures[metric.name], metric)),
      ]
    })
    const measuredRuns = own.map(({ summary }, place) => ({ summary, records: records[place] ?? [] }))
    lines.push(
      '',
      stripControlCharacters(
        table([[`${benchmarkId}, %`, 'cases', ...metrics.map(({ name }) => name)], ...rows, ...byGroup]),
      ),
      ...[budgetRows(measuredRuns), curveRows(measuredRuns)].flatMap((more) =>
        more === null ? [] : ['', stripControlCharacters(table(more))],
      ),
      ...(own.some(({ isBaseline }) => isBaseline) ? [vectorsLeftOut] : []),
    )
  }
  return lines
}

const vectorsLeftOut =
  'Sentence vectors alone are a run of their own, because to embed every turn of a suite takes hours: --system vectors.'

/** A pack that is passed whole can only show that nothing broke. */
const isSaturated = ({ status, passedCases, totalCases, filter, role }: RunSummary): boolean =>
  status === 'completed' && passedCases === totalCases && (filter ?? role) === undefined

function ablationText(results: readonly RunResult[], style: Style): readonly string[] {
  const ablations = results.flatMap(({ summary: { benchmarkId }, ablation }) =>
    ablation === null ? [] : [{ benchmarkId, ...ablation }],
  )
  if (ablations.length === 0) return []
  const share = ({ passed, total }: PassedShare): string => `${passed}/${total}`
  const rows = ablations.map(({ benchmarkId, ablation, whole, without, silent }) => {
    return [benchmarkId, ablation, ...[whole, without, silent].map(share)]
  })
  const title = ['benchmark', 'ablation', 'all on', 'without', 'silence expected']
  const problems = ablations.flatMap(({ benchmarkId, problem }) =>
    problem === null ? [] : [style.red(`${benchmarkId}: ${problem}`)],
  )
  return ['', stripControlCharacters(table([title, ...rows])), ...problems]
}
