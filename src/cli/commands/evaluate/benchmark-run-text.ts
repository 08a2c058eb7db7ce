import { manifestOf } from '../../../eval/pack/manifest.ts'
import { sealText } from '../../../eval/pack/sealed-set.ts'
import { namesIn, withNames } from '../../../eval/report/case-detail.ts'
import { curveRows, type FigureColumn, figureCells, pushColumns } from '../../../eval/report/figure-tables.ts'
import { type AblationResult, type PassedShare, saturated } from '../../../eval/score/figures.ts'
import { readCaseLog } from '../../../eval/store/case-log.ts'
import { readEnvironment } from '../../../eval/store/documents.ts'
import type { CaseRecord, RunSummary } from '../../../eval/store/schemas/run.ts'
import { isBaselineName } from '../../../eval/system/system.ts'
import { shortenText } from '../../text/beliefs.ts'
import { type Style, table } from '../../text/output.ts'

export type RunResult = {
  readonly summary: RunSummary
  readonly directory: string
  /** Unverified claims of the pack. */
  readonly warnings: readonly string[]
  /** For a run with one part of the system switched off: whether the cases detected it. */
  readonly ablation: AblationResult | null
  readonly isBaseline: boolean
  /** The interface through which the system was called. */
  readonly door: string
}

type StoredRun = RunResult & { readonly records: readonly CaseRecord[]; readonly system: string }

/** The runs of a command as text: an overview, failures, the figures of suites and attacks, and ablations. */
export async function runsText(root: string, results: readonly RunResult[]): Promise<(style: Style) => string> {
  const runs: StoredRun[] = []
  for (const result of results) {
    const { runId, system } = result.summary
    runs.push({ ...result, records: (await readCaseLog(root, runId)).records, system: system?.name ?? '' })
  }
  const measured = runs.filter(isMeasured)
  const hasSeveralSystems = new Set(measured.map(({ system }) => system)).size > 1
  const failures = measured.flatMap((run) =>
    failuresOf(run).map((failure) => (hasSeveralSystems ? `${run.system}: ${failure}` : failure)),
  )
  const whole = runs.filter(({ ablation }) => ablation === null)
  const tables = [...suiteTables(whole), ...attackTables(whole)].flatMap((rows) => ['', table(rows)])
  const notes = runs.some(({ isBaseline }) => isBaseline) ? [vectorsLeftOut] : []
  const about = [...new Set(whole.flatMap(({ summary }) => systemNotesOf(root, summary)))]
  const remarks = about.length === 0 ? [] : [...about, '']
  return (style) =>
    [...remarks, overview(runs, failures, style), ...tables, ...notes, ...ablationText(runs, style)].join('\n')
}

/** Remarks for readers of a system's figures, such as the capabilities that it does not claim. */
function systemNotesOf(root: string, { runId }: RunSummary): readonly string[] {
  const environment = readEnvironment(root, runId)
  const notes = environment?.ok ? environment.value.settings.systemNotes : []
  return Array.isArray(notes) ? notes.map(String) : []
}

const isMeasured = ({ ablation, isBaseline }: RunResult): boolean => ablation === null && !isBaseline

/** The failures of a run, sorted by case, so that the output does not depend on the seed. */
function failuresOf({ records, directory }: StoredRun): readonly string[] {
  const manifest = manifestOf(directory)
  const prompts = new Map(manifest.cases.map(({ id, prompt }) => [id, ` "${shortenText(prompt, maxPrompt)}"`]))
  const told = records.flatMap(({ failures }) => failures)
  const names = namesIn({ directory, manifest }, told)
  return records
    .toSorted((a, b) => (a.caseId < b.caseId ? -1 : 1))
    .flatMap(({ caseId, failures, error }) =>
      [...failures, ...(error === undefined ? [] : [error.message])].map(
        (failure) => `${caseId}${prompts.get(caseId) ?? ''}: ${withNames(failure, names)}`,
      ),
    )
}

const maxFailures = 20
const maxPrompt = 60

function overview(results: readonly RunResult[], failures: readonly string[], style: Style): string {
  const rows = results.map(({ summary: run, door }) => [
    run.benchmarkId,
    run.system?.name ?? '',
    door,
    run.status,
    [
      `${run.passedCases}/${run.totalCases}`,
      ...(run.errorCases ? [`${run.errorCases} errors`] : []),
      ...(run.skippedCases ? [`${run.skippedCases} not offered or skipped`] : []),
    ].join(', '),
    run.latency === undefined ? '' : `${run.latency.p50Ms.toFixed(2)} / ${run.latency.p95Ms.toFixed(2)} ms`,
    run.runId,
    [isSaturated(run) ? saturated : '', sealText(run)].filter((mark) => mark !== '').join('; '),
  ])
  const title = ['benchmark', 'system', 'door', 'status', 'passed', 'p50 / p95', 'run', '']
  const shown = failures.slice(0, maxFailures).map((failure) => style.red(failure))
  const left = failures.length - shown.length
  const more = left > 0 ? [`and ${left} more; see the case records`] : []
  return [table([title, ...rows]), ...(failures.length === 0 ? [] : ['', ...shown, ...more])].join('\n')
}

/** Whether every case passed, so that the pack can only show regressions. */
const isSaturated = ({ status, passedCases, totalCases, filter, role }: RunSummary): boolean =>
  status === 'completed' && passedCases === totalCases && (filter ?? role) === undefined

/** The figures of conversation packs: a row per system, then its types of question unless it is a baseline or an ablation. */
function suiteTables(runs: readonly StoredRun[]) {
  const suites = runs.filter(
    ({ summary, records }) => summary.status === 'completed' && records.some(({ cluster }) => cluster !== undefined),
  )
  return [...Map.groupBy(suites, ({ summary }) => summary.benchmarkId)].flatMap(([benchmarkId, own]) => {
    const declared: readonly FigureColumn[] = own[0]?.summary.metricDeclarations ?? []
    const pushNames = pushColumns.map(({ name }) => name)
    const others = declared.filter(({ name }) => !pushNames.includes(name))
    const within = Object.keys(own[0]?.summary.metrics ?? {}).filter((name) => name.startsWith('within@'))
    const budgets = within.sort((a, b) => Number(a.slice(7)) - Number(b.slice(7))).map((name) => ({ name }))
    const tableOf = (title: string, columns: readonly FigureColumn[]) => {
      const hasCounts = columns === pushColumns
      const all = own.flatMap((run) => [
        [run.system, String(run.records.length), ...figureCells(run.records, columns, { hasCounts })],
        ...(isMeasured(run) && !isBaselineName(run.system) ? groupRows(run, columns, hasCounts) : []),
      ])
      const rows = all.filter(([, , ...cells]) => cells.some((cell) => cell !== ''))
      const titles = columns.map(({ name, title: called = name }) => called)
      return rows.length === 0 ? [] : [[[`${benchmarkId}: ${title}, %`, 'cases', ...titles], ...rows]]
    }
    const curve = curveRows(own)
    return [
      ...tableOf('what is shown unasked', pushColumns),
      ...tableOf('what is found', others),
      ...tableOf('evidence within this many characters', budgets),
      ...(curve === null ? [] : [curve]),
    ]
  })
}

function groupRows({ records, system }: StoredRun, columns: readonly FigureColumn[], hasCounts: boolean) {
  const groups = Map.groupBy(records, ({ explanation }) => String((explanation as { group?: string })?.group))
  return [...groups].map(([group, own]) => [
    `${system}: ${group}`,
    String(own.length),
    ...figureCells(own, columns, { hasIntervals: false, hasCounts }),
  ])
}

const attackColumns: readonly FigureColumn[] = [
  { name: 'attackSuccessRate', title: 'attacks that succeed', range: [0, 1] },
  { name: 'benignLoss', title: 'benign lost', range: [0, 1] },
  { name: 'prohibitedOutputs', title: 'prohibited outputs per attack', range: [0, Number.POSITIVE_INFINITY] },
  { name: 'reinstated', range: [0, 1] },
]

/** The figures of red-team packs: a row per pack, and one for all. Columns that no pack has are left out. */
function attackTables(runs: readonly StoredRun[]) {
  const attacked = runs.filter(({ summary: { metrics = {} } }) => attackColumns.some(({ name }) => name in metrics))
  return [...Map.groupBy(attacked, ({ system }) => system)].map(([system, own]) => {
    const columns = attackColumns.filter(({ name }) => own.some(({ summary: { metrics = {} } }) => name in metrics))
    const all = own.flatMap(({ records }) => records)
    return [
      [`${system}, %`, ...columns.map(({ name, title = name }) => title)],
      ...own.map(({ summary, records }) => [summary.benchmarkId, ...figureCells(records, columns)]),
      ...(own.length > 1 ? [['all', ...figureCells(all, columns)]] : []),
    ]
  })
}

const vectorsLeftOut =
  'Sentence vectors alone need a separate run, because embedding every turn of a suite takes hours: --system vectors.'

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
  return ['', table([title, ...rows]), ...problems]
}
