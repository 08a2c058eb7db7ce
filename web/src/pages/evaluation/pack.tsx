import { useState } from 'preact/hooks'
import type { ListedBaseline, ListedRun, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask, evalsChange, Refusal } from '../../api/client.ts'
import { count, figure, milliseconds, percent, pluralize } from '../../format/numbers.ts'
import { moment, shortDay } from '../../format/time.ts'
import { Crumbs, Link, navigate, query, withQuery } from '../../navigation/router.tsx'
import { LinePlot, type PlotPoint } from '../../plots/plots.tsx'
import type { Range } from '../../plots/scale.ts'
import { useResource } from '../../state/resource.ts'
import { useSubject } from '../../state/window.ts'
import { Badge, Button } from '../../ui/elements.tsx'
import { EmptyState, Loaded, SkeletonBlock } from '../../ui/notice.tsx'
import { RunButton } from './packs.tsx'
import { PackVerdict, RunsTable, StandingLine } from './parts.tsx'
import { allPacks, caseAddress, metricName, runAddress, whenOf } from './words.ts'

/** One pack: how its figures went over time, and the runs behind them. */
export function PackView({ id }: { readonly id: string }) {
  const system = query.value.get('system')
  const found = useResource(
    `${id}\n${system ?? ''}`,
    async (signal) => {
      const [packs, grid, runs, baselines] = await Promise.all([
        ask('packs', { signal }),
        ask('packGrid', { params: { id }, query: system === null ? {} : { system }, signal }),
        ask('runs', { query: { benchmark: id, limit: 100 }, signal }),
        ask('baselines', { signal }),
      ])
      const pack = packs.items.find((one) => one.id === id) ?? null
      if (pack === null && runs.items.length === 0)
        throw new Refusal({
          status: 404,
          code: 'not_found',
          message: `There is no pack “${id}”.`,
        })
      const accepted = baselines.items.flatMap(({ benchmarks }) => benchmarks).filter((one) => one.benchmarkId === id)
      return { pack, grid, runs, accepted }
    },
    { freshness: evalsChange.value, keep: true },
  )
  useSubject(found.value?.pack?.title ?? id)
  return (
    <>
      <Crumbs steps={[{ name: 'Packs', href: '/evaluation' }, { name: id }]} />
      <Loaded resource={found} waiting={<SkeletonBlock kind="plot" label="Loading the pack" />} elsewhere={allPacks}>
        {({ pack, grid, runs, accepted }) => (
          <div class="stack">
            <header class="page-head flush">
              <div class="head-title">
                <h1>{pack?.title ?? id}</h1>
                {pack === null || pack.system !== (grid.standing?.system ?? null) ? null : (
                  <PackVerdict verdict={pack.verdict} />
                )}
              </div>
              <div class="page-tools">
                <SystemChoice runs={runs.items} chosen={grid.standing?.system ?? null} />
                {pack?.isRunnable === true ? <RunButton pack={id} /> : null}
              </div>
              <p>{pack?.description ?? ''}</p>
              {pack === null ? null : (
                <p class="row small">
                  <span>{pluralize(pack.cases, 'case')}</span>
                  {pack.tags.map((tag) => (
                    <Badge key={tag}>{tag}</Badge>
                  ))}
                </p>
              )}
            </header>
            {grid.standing === null ? null : <StandingLine standing={grid.standing} />}
            <CaseGrid grid={grid} />
            <OverTime
              runs={runs.items}
              system={query.value.get('system') ?? grid.standing?.system ?? null}
              accepted={accepted}
            />
            {runs.items.length === 0 ? null : (
              <section class="panel">
                <header class="panel-head">
                  <h2>Runs</h2>
                </header>
                <RunsTable runs={runs.items} showsPack={false} />
              </section>
            )}
          </div>
        )}
      </Loaded>
    </>
  )
}

const completedOf = (runs: readonly ListedRun[]): readonly ListedRun[] =>
  runs.filter(({ run }) => run.status === 'completed' && run.filter === undefined)

const systemName = ({ run }: ListedRun): string => run.system?.name ?? 'unknown system'

type SystemChoiceProps = { readonly runs: readonly ListedRun[]; readonly chosen: string | null }

/** One system at a time: what another one reached is not a step of its way. */
function SystemChoice({ runs, chosen }: SystemChoiceProps) {
  const systems = [...new Set(completedOf(runs).map(systemName))]
  if (systems.length < 2) return null
  return (
    <>
      <label class="label" for="system">
        System
      </label>
      <select
        id="system"
        class="select narrow"
        value={query.value.get('system') ?? chosen ?? ''}
        onChange={(event) => navigate(withQuery({ system: event.currentTarget.value }), { replace: true })}
      >
        {systems.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </>
  )
}

type OverTimeProps = {
  readonly runs: readonly ListedRun[]
  readonly system: string | null
  readonly accepted: readonly NonNullable<Accepted>[]
}

function OverTime({ runs, system, accepted }: OverTimeProps) {
  const completed = completedOf(runs)
  const name = system ?? completed.map(systemName)[0]
  if (name === undefined)
    return (
      <div class="panel">
        <EmptyState icon="evaluation" title="No run is complete yet">
          Figures over time appear here after the first one.
        </EmptyState>
      </div>
    )
  const mine = accepted.find((one) => one.system === null || one.system === name)
  return <RunPlots history={completed.filter((one) => systemName(one) === name).toReversed()} accepted={mine ?? null} />
}

type Grid = RouteAnswer<'packGrid'>

const signs = { pass: '✓', fail: '✕', error: '!', skipped: '–', unjudged: '?' } as const
const pageSize = 40
/** Cases that always passed need no more than a few rows. */
const minRows = 8

/** Cases by runs: which broke when, which come and go, which never passed. */
export function CaseGrid({ grid }: { readonly grid: Grid }) {
  const [more, setMore] = useState(0)
  if (grid.runs.length === 0) return null
  const unsteady = grid.cases.filter(({ verdicts }) => verdicts.some((one) => one !== null && one !== 'pass')).length
  const shown = Math.min(pageSize, Math.max(minRows, unsteady)) + more
  return (
    <section class="panel" aria-label="Cases by runs">
      <header class="panel-head">
        <h2>Cases by runs</h2>
        <span class="soft small">
          {unsteady === 0
            ? `All ${count(grid.total)} cases passed in ${pluralize(grid.runs.length, 'run')}`
            : `${count(unsteady)} of ${count(grid.total)} cases did not always pass`}
        </span>
      </header>
      <div class="table-scroll">
        <table class="case-grid">
          <thead>
            <tr>
              <th>Case</th>
              {grid.runs.map((listed) => (
                <th key={listed.run.runId} class="grid-run">
                  <Link href={runAddress(listed.run.runId)}>{shortDay(whenOf(listed))}</Link>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {grid.cases.slice(0, shown).map(({ caseId, prompt, verdicts }) => (
              <tr key={caseId}>
                <th scope="row" class="grid-case">
                  <CaseLink caseId={caseId} run={latestWith(verdicts, grid)} />
                  {prompt === null ? null : (
                    <span class="clip soft small" dir="auto">
                      {prompt}
                    </span>
                  )}
                </th>
                {verdicts.map((verdict, index) => {
                  const run = grid.runs[index]?.run.runId ?? ''
                  return (
                    <td key={run} class={`cell ${verdict ?? 'none'}`}>
                      {verdict === null ? (
                        <span class="soft" title="not in this run">
                          ·
                        </span>
                      ) : (
                        <Link href={caseAddress(run, caseId)} aria-label={`${caseId}: ${verdict}`} title={verdict}>
                          {signs[verdict]}
                        </Link>
                      )}
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown < grid.cases.length ? (
        <div class="more-rows">
          <Button tone="quiet" onClick={() => setMore(more + pageSize * 5)}>
            {count(shown)} of {count(grid.cases.length)}. Show more
          </Button>
        </div>
      ) : null}
    </section>
  )
}

/** The newest run that has the case. */
const latestWith = (verdicts: Grid['cases'][number]['verdicts'], { runs }: Grid): string | null =>
  runs[verdicts.findLastIndex((verdict) => verdict !== null)]?.run.runId ?? null

const CaseLink = ({ caseId, run }: { readonly caseId: string; readonly run: string | null }) =>
  run === null ? (
    <span class="mono clip">{caseId}</span>
  ) : (
    <Link class="mono clip" href={caseAddress(run, caseId)}>
      {caseId}
    </Link>
  )

/** The figures that were accepted for a pack, where some were. */
export type Accepted = ListedBaseline['benchmarks'][number] | null

/** Every figure of a pack over its completed runs, oldest first. */
export function RunPlots({
  history,
  accepted,
}: {
  readonly history: readonly ListedRun[]
  readonly accepted: Accepted
}) {
  const choose = (runId: string) => navigate(runAddress(runId))
  const names = [...new Set(history.flatMap(({ run }) => Object.keys(run.metrics ?? {})))].sort()
  const [only] = history
  if (history.length === 1 && only !== undefined) return <Figures listed={only} names={names} accepted={accepted} />
  return (
    <div class="plots">
      <LinePlot
        title="Pass rate"
        points={history.flatMap(passPoint)}
        format={percent}
        limits={[0, 1]}
        reference={accepted === null ? null : { value: accepted.passRate, label: 'baseline' }}
        onChoose={choose}
      />
      {names.map((name) => {
        const limits = limitsOf(name, history)
        const base = accepted?.metrics[name]
        return (
          <LinePlot
            key={name}
            title={metricName(name)}
            points={history.flatMap((listed) => metricPoint(listed, name, limits))}
            format={figure}
            limits={limits}
            reference={base === undefined ? null : { value: base, label: 'baseline' }}
            onChoose={choose}
          />
        )
      })}
      <LinePlot
        title="Time per case, median"
        points={history.flatMap(timePoint)}
        format={milliseconds}
        startsAtZero
        onChoose={choose}
      />
    </div>
  )
}

type FiguresProps = { readonly listed: ListedRun; readonly names: readonly string[]; readonly accepted: Accepted }

/** The figures of the only run: one point makes no line. */
function Figures({ listed, names, accepted }: FiguresProps) {
  const shown = (name: string, [point]: readonly PlotPoint[], format: (value: number) => string, base?: number) => {
    if (point === undefined) return null
    const { value, low, high } = point
    const notes = [
      ...(low === null || high === null ? [] : [`95 %: ${format(low)} to ${format(high)}`]),
      ...(base === undefined ? [] : [`baseline ${format(base)}`]),
    ]
    return (
      <div key={name}>
        <dt>{name}</dt>
        <dd class="number">{format(value)}</dd>
        <dd class="figure-note">{notes.join(', ')}</dd>
      </div>
    )
  }
  return (
    <dl class="figures">
      {shown('Pass rate', passPoint(listed), percent, accepted?.passRate)}
      {names.map((name) =>
        shown(metricName(name), metricPoint(listed, name, limitsOf(name, [listed])), figure, accepted?.metrics[name]),
      )}
      {shown('Time per case, median', timePoint(listed), milliseconds)}
    </dl>
  )
}

const pointOf = (listed: ListedRun): Pick<PlotPoint, 'key' | 'at' | 'label'> => ({
  key: listed.run.runId,
  at: whenOf(listed),
  label: moment(whenOf(listed)),
})

const timePoint = (listed: ListedRun): readonly PlotPoint[] => {
  const value = listed.run.latency?.p50Ms
  return value === undefined ? [] : [{ ...pointOf(listed), value, low: null, high: null }]
}

const passPoint = (listed: ListedRun): readonly PlotPoint[] =>
  listed.passRate === null
    ? []
    : [
        {
          ...pointOf(listed),
          value: listed.passRate,
          low: listed.passInterval?.low ?? null,
          high: listed.passInterval?.high ?? null,
        },
      ]

function metricPoint(listed: ListedRun, name: string, limits: Range | null): readonly PlotPoint[] {
  const value = listed.run.metrics?.[name]
  if (value === undefined) return []
  const interval = listed.run.intervals?.[name]
  // Cases that all have the same score do not make the next one certain: no interval is better than a false one.
  if (interval === undefined || interval.high - interval.low < 1e-9)
    return [{ ...pointOf(listed), value, low: null, high: null }]
  const [least, most] = limits ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  return [{ ...pointOf(listed), value, low: Math.max(least, interval.low), high: Math.min(most, interval.high) }]
}

/** As declared; a figure that never left 0 to 1 is taken for a share, which can leave it nowhere. */
function limitsOf(name: string, history: readonly ListedRun[]): Range | null {
  const [least, most] = history.at(-1)?.run.metricDeclarations?.find((one) => one.name === name)?.range ?? []
  if (least !== undefined && most !== undefined) return [least, most]
  const values = history.flatMap(({ run }) => run.metrics?.[name] ?? [])
  return values.every((value) => value >= 0 && value <= 1) ? [0, 1] : null
}
