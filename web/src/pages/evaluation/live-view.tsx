import { ask } from '../../api/client.ts'
import { evalsChange } from '../../api/live.ts'
import { count, milliseconds, percent } from '../../format/numbers.ts'
import { dayOf } from '../../format/time.ts'
import { BarPlot } from '../../plots/bar-plot.tsx'
import { LinePlot } from '../../plots/line-plot.tsx'
import { useResource } from '../../state/resource.ts'
import { Badge } from '../../ui/badge.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { EmptyState } from '../../ui/notice.tsx'
import { SkeletonBlock } from '../../ui/skeleton.tsx'

/** What live recalls were like, in numbers only. */
export function LiveView() {
  const found = useResource('shadow', (signal) => ask('shadow', { signal }), { freshness: evalsChange.value })
  return (
    <Loaded resource={found} waiting={<SkeletonBlock kind="plot" label="Loading live recalls" />}>
      {(report) =>
        report.records === 0 ? (
          <div class="panel">
            <EmptyState
              icon="health"
              title={report.isRecording ? 'No recall has been recorded yet' : 'Live recalls are not recorded'}
            >
              <p>
                Shadow mode keeps the ids, times and counts of every recall, never its text. With it, this page shows
                how often recall finds nothing and how long it takes.
              </p>
              {report.isRecording ? null : (
                <code class="command">{'{ "evalHarnessEnabled": true, "evalShadowModeEnabled": true }'}</code>
              )}
            </EmptyState>
          </div>
        ) : (
          <div class="stack">
            <p class="row">
              <Badge tone={report.isRecording ? 'good' : 'odd'}>
                {report.isRecording ? 'recording' : 'not recording now'}
              </Badge>
              {report.invalid === 0 ? null : <Badge tone="bad">{count(report.invalid)} unreadable</Badge>}
              {Object.entries(report.bySource).map(([source, records]) => (
                <Badge key={source}>
                  {source} {count(records)}
                </Badge>
              ))}
            </p>
            <div class="plots">
              <BarPlot
                title="Recalls"
                bars={report.days.map(({ day, records }) => ({ key: day, value: records, label: dayOf(day) }))}
                format={count}
                total={count(report.records)}
              />
              <LinePlot
                title="Recalls that found nothing"
                points={report.days.map(({ day, emptyRate, empty, records }) => ({
                  key: day,
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
                points={report.days.flatMap(({ day, durationMs }) =>
                  durationMs.p95 === null
                    ? []
                    : [
                        {
                          key: day,
                          value: durationMs.p95,
                          low: null,
                          high: null,
                          label: `${dayOf(day)}: median ${durationMs.p50 === null ? '–' : milliseconds(durationMs.p50)}`,
                        },
                      ],
                )}
                format={milliseconds}
                startsAtZero
              />
            </div>
            <dl class="figures">
              <Spread name="Time" value={report.durationMs} format={milliseconds} />
              <Spread name="Beliefs recalled" value={report.recalledMemoryCount} format={(value) => value.toFixed(1)} />
              <Spread
                name="Characters injected"
                value={report.contextChars}
                format={(value) => count(Math.round(value))}
              />
              <div>
                <dt>Put something into the context</dt>
                <dd class="number">{report.injectedShare === null ? '–' : percent(report.injectedShare)}</dd>
                <dd class="figure-note">of all recalls</dd>
              </div>
            </dl>
          </div>
        )
      }
    </Loaded>
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
