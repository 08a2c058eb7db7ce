import type { RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask, evalsChange } from '../../api/client.ts'
import { count, milliseconds, percent } from '../../format/numbers.ts'
import { dayOf, fillDays } from '../../format/time.ts'
import { BarPlot, LinePlot } from '../../plots/plots.tsx'
import { commandLine } from '../../state/facts.ts'
import { useResource } from '../../state/resource.ts'
import { Badge } from '../../ui/elements.tsx'
import { EmptyState, Loaded, SkeletonBlock } from '../../ui/notice.tsx'

type Report = RouteAnswer<'shadow'>

/** What live recalls were like, in numbers only. */
export function LiveView() {
  const found = useResource('shadow', (signal) => ask('shadow', { signal }), { freshness: evalsChange.value })
  return (
    <Loaded resource={found} waiting={<SkeletonBlock kind="plot" label="Loading live recalls" />}>
      {(report) =>
        report.records === 0 ? (
          <NoRecords isRecording={report.isRecording} />
        ) : (
          <div class="stack">
            <Kinds report={report} />
            <OverDays days={report.days} total={report.records} />
            <dl class="figures">
              <Spread name="Time" value={report.durationMs} format={milliseconds} />
              <Spread
                name="Beliefs recalled"
                value={report.recalledMemoryCount}
                format={(value) => count(Math.round(value))}
              />
              <Spread
                name="Characters injected"
                value={report.contextChars}
                format={(value) => count(Math.round(value))}
              />
              <div>
                <dt>Gave the agent something</dt>
                <dd class="number">{report.injectedShare === null ? '–' : percent(report.injectedShare)}</dd>
                <dd class="figure-note">pinned beliefs included</dd>
              </div>
            </dl>
          </div>
        )
      }
    </Loaded>
  )
}

function NoRecords({ isRecording }: { readonly isRecording: boolean }) {
  return (
    <div class="panel">
      <EmptyState
        icon="health"
        title={isRecording ? 'No recall has been recorded yet' : 'Live recalls are not recorded'}
      >
        <p>
          Shadow mode keeps the ids, times and counts of every recall, never its text. With it, this page shows how
          often recall finds nothing and how long it takes.
        </p>
        {isRecording ? (
          <p>Ask an agent something, or try it in a terminal:</p>
        ) : (
          <p>
            Turn it on in <code>config.json</code> of the memory directory:
          </p>
        )}
        <code class="command">
          {isRecording
            ? commandLine('recall "where is the staging database?"')
            : '{ "evalHarnessEnabled": true, "evalShadowModeEnabled": true }'}
        </code>
      </EmptyState>
    </div>
  )
}

function Kinds({ report: { isRecording, invalid, bySource } }: { readonly report: Report }) {
  return (
    <p class="row">
      <Badge tone={isRecording ? 'good' : 'odd'}>{isRecording ? 'recording' : 'not recording now'}</Badge>
      {invalid === 0 ? null : <Badge tone="bad">{count(invalid)} unreadable</Badge>}
      {Object.entries(bySource).map(([source, records]) => (
        <Badge key={source}>
          {source === 'none' ? `${count(records)} without an answer` : `${count(records)} answered by ${source}`}
        </Badge>
      ))}
    </p>
  )
}

function OverDays({ days, total }: { readonly days: Report['days']; readonly total: number }) {
  return (
    <div class="plots">
      <BarPlot
        title="Recalls"
        bars={fillDays(days.map(({ day, records }) => ({ day, value: records })))}
        format={count}
        total={count(total)}
      />
      <LinePlot
        title="Recalls that found nothing"
        isByTime
        points={days.map(({ day, emptyRate, empty, records }) => ({
          key: day,
          at: day,
          value: emptyRate,
          low: null,
          high: null,
          label: `${dayOf(day)}: ${count(empty)} of ${count(records)}`,
        }))}
        format={percent}
        limits={[0, 1]}
      />
      <LinePlot
        title="Time, 95 % within"
        isByTime
        points={days.flatMap(({ day, durationMs: { p50, p95 } }) =>
          p95 === null
            ? []
            : [
                {
                  key: day,
                  at: day,
                  value: p95,
                  low: null,
                  high: null,
                  label: `${dayOf(day)}: median ${p50 === null ? '–' : milliseconds(p50)}`,
                },
              ],
        )}
        format={milliseconds}
        startsAtZero
      />
    </div>
  )
}

type SpreadProps = {
  readonly name: string
  readonly value: { readonly mean: number | null; readonly p50: number | null; readonly p95: number | null }
  readonly format: (value: number) => string
}

function Spread({ name, value: { p50, p95 }, format }: SpreadProps) {
  return (
    <div>
      <dt>{name}, median</dt>
      <dd class="number">{p50 === null ? '–' : format(p50)}</dd>
      <dd class="figure-note">{p95 === null ? '' : `95 % within ${format(p95)}`}</dd>
    </div>
  )
}
