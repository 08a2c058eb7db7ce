import type { ListedRun } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { evalsChange } from '../../api/live.ts'
import { Refusal } from '../../api/refusal.ts'
import { counted } from '../../format/numbers.ts'
import { Crumbs } from '../../navigation/crumbs.tsx'
import { navigate, query, withQuery } from '../../navigation/router.ts'
import { useResource } from '../../state/resource.ts'
import { useSubject } from '../../state/subject.ts'
import { Badge } from '../../ui/badge.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { EmptyState } from '../../ui/notice.tsx'
import { SkeletonBlock } from '../../ui/skeleton.tsx'
import { RunButton } from './packs-view.tsx'
import { type Accepted, RunPlots } from './run-plots.tsx'
import { allPacks } from './run-words.ts'
import { RunsTable } from './runs-table.tsx'
import { PackVerdict } from './verdict.tsx'

/** One pack: how its figures went over time, and the runs behind them. */
export function PackView({ id }: { readonly id: string }) {
  const found = useResource(
    id,
    async (signal) => {
      const [packs, runs, baselines] = await Promise.all([
        ask('packs', { signal }),
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
      const accepted =
        baselines.items.flatMap(({ benchmarks }) => benchmarks).find((one) => one.benchmarkId === id) ?? null
      return { pack, runs, accepted }
    },
    { freshness: evalsChange.value },
  )
  useSubject(found.value?.pack?.title ?? id)
  return (
    <>
      <Crumbs steps={[{ name: 'Packs', href: '/evaluation' }, { name: id }]} />
      <Loaded resource={found} waiting={<SkeletonBlock kind="plot" label="Loading the pack" />} elsewhere={allPacks}>
        {({ pack, runs, accepted }) => (
          <div class="stack">
            <header class="page-head flush">
              <h1>{pack?.title ?? id}</h1>
              {pack === null ? null : <PackVerdict verdict={pack.verdict} />}
              <div class="page-tools">{pack?.isRunnable === true ? <RunButton pack={id} /> : null}</div>
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
            <OverTime runs={runs.items} accepted={accepted} />
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

type OverTimeProps = { readonly runs: readonly ListedRun[]; readonly accepted: Accepted }

/** One system at a time: what another one reached is not a step of its way. */
function OverTime({ runs, accepted }: OverTimeProps) {
  const completed = runs.filter(({ run }) => run.status === 'completed' && run.filter === undefined)
  const systems = [...new Set(completed.map(systemName))]
  const system = systems.find((one) => one === query.value.get('system')) ?? systems[0]
  if (system === undefined)
    return (
      <div class="panel">
        <EmptyState icon="evaluation" title="No run is complete yet">
          Figures over time appear here after the first one.
        </EmptyState>
      </div>
    )
  const isAccepted = accepted !== null && (accepted.system === null || accepted.system.startsWith(system))
  return (
    <>
      {systems.length < 2 ? null : (
        <div class="row">
          <label class="label" for="system">
            System
          </label>
          <select
            id="system"
            class="select narrow"
            value={system}
            onChange={(event) => navigate(withQuery({ system: event.currentTarget.value }), { replace: true })}
          >
            {systems.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </div>
      )}
      <RunPlots
        history={completed.filter((one) => systemName(one) === system).toReversed()}
        accepted={isAccepted ? accepted : null}
      />
    </>
  )
}

const systemName = ({ run }: ListedRun): string => run.system?.name ?? 'unknown system'
