import { useState } from 'preact/hooks'
import type { ListedRun, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask, evalsChange, Refusal } from '../../api/client.ts'
import { count, pluralize } from '../../format/numbers.ts'
import { shortDay } from '../../format/time.ts'
import { Link, query, setQuery } from '../../navigation/router.tsx'
import { LinePlot } from '../../plots/plots.tsx'
import { useResource } from '../../state/resource.ts'
import { useSubject } from '../../state/window.ts'
import { Badge } from '../../ui/elements.tsx'
import { Choice } from '../../ui/form.tsx'
import { Figures, PageHead, Panel } from '../../ui/layout.tsx'
import { MoreButton } from '../../ui/lists.tsx'
import { EmptyState, Loaded, SkeletonRows } from '../../ui/notice.tsx'
import { type Accepted, figureOf, measuresOf } from './measures.ts'
import { RunButton } from './packs.tsx'
import { caseTones, PackVerdict, RunsTable, StandingLine } from './parts.tsx'
import { allPacks, caseAddress, runAddress, runTime } from './words.ts'

type Grid = RouteAnswer<'packGrid'>

async function loadPack(id: string, system: string | null, signal: AbortSignal) {
  const [packs, grid, runs, baselines] = await Promise.all([
    ask('packs', { signal }),
    ask('packGrid', { params: { id }, query: system === null ? {} : { system }, signal }),
    ask('runs', { query: { benchmark: id, limit: 100 }, signal }),
    ask('baselines', { signal }),
  ])
  const pack = packs.items.find((known) => known.id === id) ?? null
  if (pack === null && runs.items.length === 0)
    throw new Refusal({ status: 404, code: 'not_found', message: `There is no pack “${id}”.` })
  const accepted = baselines.items.flatMap(({ benchmarks }) => benchmarks).filter((one) => one.benchmarkId === id)
  return { pack, grid, runs: runs.items, accepted }
}

/** One pack: its figures over time and its runs. */
export function PackView({ id }: { readonly id: string }) {
  const wanted = query.value.get('system')
  const found = useResource(`${id}\n${wanted ?? ''}`, (signal) => loadPack(id, wanted, signal), {
    freshness: evalsChange.value,
    keep: true,
  })
  useSubject(found.value?.pack?.title ?? id)
  return (
    <Loaded resource={found} waiting={<SkeletonRows rows={7} label="Loading the pack" />} elsewhere={allPacks}>
      {({ pack, grid, runs, accepted }) => {
        const measured = grid.standing?.system ?? null
        const completed = runs.filter(({ run }) => run.status === 'completed' && run.filter === undefined)
        const system = wanted ?? measured ?? completed.map(systemName)[0] ?? null
        return (
          <div class="stack">
            <PageHead
              title={pack?.title ?? id}
              crumbs={[{ name: 'Packs', href: '/evaluation' }, { name: id }]}
              tools={
                <>
                  <SystemChoice systems={[...new Set(completed.map(systemName))]} chosen={system ?? ''} />
                  {pack?.isRunnable === true ? <RunButton pack={id} /> : null}
                </>
              }
            >
              {pack === null ? null : (
                <>
                  {pack.system === measured ? <PackVerdict verdict={pack.verdict} /> : null}{' '}
                  {pluralize(pack.cases, 'case')}. {pack.description}
                  {pack.tags.flatMap((tag) => [' ', <Badge key={tag}>{tag}</Badge>])}
                </>
              )}
            </PageHead>
            {grid.standing === null ? null : <StandingLine standing={grid.standing} />}
            <CaseGrid grid={grid} />
            {system === null ? (
              <Panel>
                <EmptyState
                  icon="evaluation"
                  title="No run is complete yet"
                  text="Figures over time appear here after the first one."
                />
              </Panel>
            ) : (
              <RunPlots
                history={completed.filter((run) => systemName(run) === system).toReversed()}
                accepted={accepted.find((one) => one.system === null || one.system === system) ?? null}
              />
            )}
            {runs.length === 0 ? null : (
              <Panel title="Runs">
                <RunsTable runs={runs} showsPack={false} />
              </Panel>
            )}
          </div>
        )
      }}
    </Loaded>
  )
}

const systemName = ({ run }: ListedRun): string => run.system?.name ?? 'unknown system'

/** Chooses the system whose figures are shown, because a plot has the runs of one system only. */
const SystemChoice = ({ systems, chosen }: { readonly systems: readonly string[]; readonly chosen: string }) =>
  systems.length < 2 ? null : (
    <Choice
      label="System"
      value={chosen}
      options={systems.map((system) => [system, system])}
      onChoose={(system) => setQuery({ system })}
    />
  )

const signs = { pass: '✓', fail: '✕', error: '!', skipped: '–', unjudged: '?' } as const
const pageSize = 40
/** Min rows shown, for packs whose cases nearly always passed. */
const minRows = 8

/** A grid of cases and runs. Shows which cases broke and when, which are flaky, and which never passed. */
function CaseGrid({ grid }: { readonly grid: Grid }) {
  const [more, setMore] = useState(0)
  if (grid.runs.length === 0) return null
  const unsteady = grid.cases.filter(({ verdicts }) => verdicts.some((one) => one !== null && one !== 'pass')).length
  const shown = Math.min(pageSize, Math.max(minRows, unsteady)) + more
  const note =
    unsteady === 0
      ? `All ${count(grid.total)} cases passed in ${pluralize(grid.runs.length, 'run')}`
      : `${count(unsteady)} of ${count(grid.total)} cases did not always pass`
  return (
    <Panel title="Cases by runs" note={note}>
      <div class="table-scroll">
        <table class="case-grid">
          <thead>
            <tr>
              <th class="grid-case">Case</th>
              {grid.runs.map((listed) => (
                <th key={listed.run.runId}>
                  <Link href={runAddress(listed.run.runId)}>{shortDay(runTime(listed))}</Link>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {grid.cases.slice(0, shown).map((row) => (
              <CaseGridRow key={row.caseId} row={row} runs={grid.runs.map(({ run }) => run.runId)} />
            ))}
          </tbody>
        </table>
      </div>
      {shown < grid.cases.length ? (
        <MoreButton onMore={() => setMore(more + pageSize * 5)} shown={shown} total={grid.cases.length} />
      ) : null}
    </Panel>
  )
}

function CaseGridRow({ row, runs }: { readonly row: Grid['cases'][number]; readonly runs: readonly string[] }) {
  const { caseId, prompt, verdicts } = row
  const latest = runs[verdicts.findLastIndex((verdict) => verdict !== null)]
  return (
    <tr>
      <th scope="row" class="grid-case">
        <p class="clip mono">
          {latest === undefined ? caseId : <Link href={caseAddress(latest, caseId)}>{caseId}</Link>}
        </p>
        <p class="clip soft small" dir="auto">
          {prompt}
        </p>
      </th>
      {verdicts.map((verdict, index) => {
        const run = runs[index] ?? ''
        return (
          <td key={run} class="cell">
            {verdict === null ? (
              <span class="soft" title="not in this run">
                ·
              </span>
            ) : (
              <Link
                class={`badge ${caseTones[verdict]}`}
                href={caseAddress(run, caseId)}
                aria-label={`${caseId}: ${verdict}`}
                title={verdict}
                text={signs[verdict]}
              />
            )}
          </td>
        )
      })}
    </tr>
  )
}

type RunPlotsProps = { readonly history: readonly ListedRun[]; readonly accepted: Accepted | null }

/** Plots of a pack's figures over its completed runs, oldest first. A single run is shown as numbers. */
function RunPlots({ history, accepted }: RunPlotsProps) {
  const measures = measuresOf(history, accepted)
  if (history.length === 1) return <Figures items={measures.flatMap(figureOf)} />
  return (
    <div class="columns">
      {measures.map(({ base, note, ...measure }) => (
        <LinePlot
          key={measure.title}
          {...measure}
          reference={base === undefined ? null : { value: base, label: 'baseline' }}
        />
      ))}
    </div>
  )
}
