import type { ListedCase, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask, evalsChange } from '../../api/client.ts'
import { count, milliseconds, percent, pluralize } from '../../format/numbers.ts'
import { dateTimeText } from '../../format/time.ts'
import { Link, navigate, query, setQuery } from '../../navigation/router.tsx'
import { useResource } from '../../state/resource.ts'
import { useSubject } from '../../state/window.ts'
import { QuerySelect, SearchBox, Select } from '../../ui/form.tsx'
import { Facts, Figures, PageHead, Panel } from '../../ui/layout.tsx'
import { VirtualPages } from '../../ui/lists.tsx'
import { Loaded, SkeletonRows } from '../../ui/notice.tsx'
import { figureOf, measuresOf } from './measures.ts'
import { CaseVerdict, Failures, RunStatus } from './parts.tsx'
import { allPacks, caseAddress, compareAddress, packAddress, runTime, systemText } from './words.ts'

type Run = RouteAnswer<'run'>

/** One run: its figures, its cases and its environment. */
export function RunView({ id }: { readonly id: string }) {
  const found = useResource(id, (signal) => ask('run', { params: { id }, signal }), { freshness: evalsChange.value })
  useSubject(found.value === null ? null : `Run of ${found.value.run.benchmarkId}`)
  return (
    <Loaded resource={found} waiting={<SkeletonRows rows={7} label="Loading the run" />} elsewhere={allPacks}>
      {(run) => (
        <div class="stack">
          <PageHead
            title={`Run of ${dateTimeText(runTime(run))}`}
            crumbs={[
              { name: 'Packs', href: '/evaluation' },
              { name: run.run.benchmarkId, href: packAddress(run.run.benchmarkId) },
              { name: 'Run' },
            ]}
            tools={<CompareWith run={run} />}
          >
            <RunStatus run={run.run} /> <span class="mono break">{run.run.runId}</span>
          </PageHead>
          <Figures
            items={[
              { name: 'Cases passed', value: count(run.run.passedCases), note: `of ${count(run.run.totalCases)}` },
              ...measuresOf([run], null).flatMap(figureOf),
            ]}
          />
          {run.problems.map((problem) => (
            <p key={problem} class="note">
              {problem}
            </p>
          ))}
          <CasesList runId={id} counts={run.verdicts} />
          <Environment run={run} />
        </div>
      )}
    </Loaded>
  )
}

/** Links to comparisons. The baseline is first, because a comparison with the previous run hides cases that broke earlier. */
function CompareWith({ run }: { readonly run: Run }) {
  const { runId } = run.run
  const others = run.history.filter((other) => other.run.runId !== runId).toReversed()
  const baseline = others.find((other) => other.run.runId === run.baseline?.runId)
  if (others.length === 0) return null
  return (
    <>
      {baseline === undefined ? null : (
        <Link
          class="button"
          href={compareAddress(baseline.run.runId, runId)}
          text={`Compare with baseline ${run.baseline?.snapshotId}`}
        />
      )}
      <Select
        label="Compare with a run"
        value=""
        options={[
          ['', 'Compare with a run…'],
          ...others.map((other): [string, string] => [
            other.run.runId,
            `${dateTimeText(runTime(other))}, ${other.passRate === null ? '–' : percent(other.passRate)}`,
          ]),
        ]}
        onChoose={(other) => navigate(compareAddress(other, runId))}
      />
    </>
  )
}

function Environment({ run }: { readonly run: Run }) {
  const { environment, run: summary } = run
  const { sealed } = summary
  const git = environment?.git
  return (
    <Panel title="Environment">
      <Facts
        class="pad"
        rows={[
          ['System', systemText(run)],
          ['Pack', <code>{summary.packHash ?? 'not recorded'}</code>],
          ...(environment === null
            ? []
            : ([
                [
                  'Node, OS',
                  `${environment.node}, ${environment.os.platform} ${environment.os.release} ${environment.os.arch}`,
                ],
                ['Commit', git == null ? 'outside a repository' : `${git.commit}${git.dirty ? ', with changes' : ''}`],
              ] as const)),
          ['Seed', summary.seed],
          ['Sealed', sealed && `${sealed.sealedAt.slice(0, 10)}, look ${sealed.look} of ${sealed.maxRuns}`],
          ['Notes', summary.notes],
        ]}
      />
    </Panel>
  )
}

const verdicts = ['pass', 'fail', 'error', 'skipped', 'unjudged'] as const

/** The cases of a run, with those that did not pass first. The filters are part of the address. */
function CasesList({ runId, counts }: { readonly runId: string; readonly counts: Readonly<Record<string, number>> }) {
  const verdict = verdicts.find((known) => known === query.value.get('verdict'))
  const text = query.value.get('text') ?? ''
  const filters = { ...(verdict === undefined ? {} : { verdict: [verdict] }), ...(text === '' ? {} : { text }) }
  const key = JSON.stringify([runId, filters])
  const load = (offset: number, limit: number, signal: AbortSignal) =>
    ask('cases', { params: { id: runId }, query: { limit, offset, ...filters }, signal })
  const found = useResource(key, async (signal) => (await load(0, 1, signal)).total, {
    freshness: evalsChange.value,
    keep: true,
  })
  return (
    <Panel
      title="Cases"
      tools={
        <>
          <SearchBox
            label="Filter cases"
            placeholder="Id, message, failure"
            maxLength={200}
            text={text}
            onChange={(next) => setQuery({ text: next })}
          />
          <QuerySelect
            label="Verdict"
            name="verdict"
            options={[
              ['', 'All verdicts'],
              ...verdicts.map((known) => [known, `${known} (${count(counts[known] ?? 0)})`] as const),
            ]}
          />
        </>
      }
    >
      <Loaded resource={found} waiting={<SkeletonRows rows={6} label="Loading cases" />}>
        {(total) =>
          total === 0 ? (
            <p class="pad soft">No case matches.</p>
          ) : (
            <VirtualPages key={key} total={total} freshness={evalsChange.value} defaultHeight={72} load={load}>
              {({ items, names }: RouteAnswer<'cases'>) => (
                <ul class="rows lines">
                  {items.map((listed) => (
                    <CaseRow key={`${listed.caseId}-${listed.repeat}`} runId={runId} listed={listed} names={names} />
                  ))}
                </ul>
              )}
            </VirtualPages>
          )
        }
      </Loaded>
    </Panel>
  )
}

type CaseRowProps = {
  readonly runId: string
  readonly listed: ListedCase
  readonly names: RouteAnswer<'cases'>['names']
}

function CaseRow({ runId, listed, names }: CaseRowProps) {
  const { caseId, repeat, verdict, prompt, failures, error, returned, totalMs } = listed
  return (
    <li class="case-row">
      <CaseVerdict verdict={verdict} />
      <div class="grow">
        <Link class="mono break" href={caseAddress(runId, caseId)}>
          {caseId}
          {repeat === 0 ? '' : ` · repeat ${repeat + 1}`}
        </Link>
        <p class="clamp" dir="auto">
          {prompt}
        </p>
        <Failures failures={[...(error === null ? [] : [error]), ...failures]} names={names} />
      </div>
      <span class="soft small number">
        {pluralize(returned, 'result')}, {milliseconds(totalMs)}
      </span>
    </li>
  )
}
