import type { ListedRun } from '../../../../../src/http/api/contract.ts'
import { ask } from '../../../api/client.ts'
import { evalsChange } from '../../../api/live.ts'
import { Refusal } from '../../../api/refusal.ts'
import { counted } from '../../../format/numbers.ts'
import { Crumbs } from '../../../navigation/crumbs.tsx'
import { navigate, query, withQuery } from '../../../navigation/router.ts'
import { useResource } from '../../../state/resource.ts'
import { useSubject } from '../../../state/subject.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Loaded } from '../../../ui/loaded.tsx'
import { EmptyState } from '../../../ui/notice.tsx'
import { SkeletonBlock } from '../../../ui/skeleton.tsx'
import { allPacks } from '../run-words.ts'
import { RunsTable } from '../runs/runs-table.tsx'
import { PackVerdict } from '../verdict.tsx'
import { CaseGrid } from './case-grid.tsx'
import { RunButton } from './packs-view.tsx'
import { type Accepted, RunPlots } from './run-plots.tsx'
import { StandingLine } from './standing.tsx'

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
                  <span>{counted(pack.cases, 'case')}</span>
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
