import type { ApiFigureComparison } from '../../../../../src/http/api/contract.ts'
import { figure, percent, signed } from '../../../format/numbers.ts'
import { Badge, type Tone } from '../../../ui/badge.tsx'
import { metricName } from '../run-words.ts'

const tones: Readonly<Record<ApiFigureComparison['verdict'], Tone>> = {
  better: 'good',
  worse: 'bad',
  same: 'plain',
  'no evidence': 'plain',
  underpowered: 'odd',
  'cannot tell': 'odd',
  dropped: 'bad',
  new: 'accent',
}

/** The pass rate is a percentage, as everywhere else. */
const shown = (name: string, value: number): string => (name === 'passRate' ? percent(value) : figure(value))

/** The difference of two percentages is in points. */
const moved = (name: string, delta: number): string =>
  name === 'passRate' ? `${signed(Math.round(delta * 1000) / 10)} points` : signed(delta)

/** Each figure of two runs, how far it moved, and whether that means anything. */
export function ComparedFigures({ figures }: { readonly figures: readonly ApiFigureComparison[] }) {
  if (figures.length === 0) return null
  return (
    <section class="panel">
      <header class="panel-head">
        <h2>Figures</h2>
      </header>
      <div class="table-scroll">
        <table>
          <thead>
            <tr>
              <th>Figure</th>
              <th class="number">Before</th>
              <th class="number">After</th>
              <th class="number">Change</th>
              <th>Verdict</th>
            </tr>
          </thead>
          <tbody>
            {figures.map(({ figure: name, base, candidate, delta, verdict, direction, interval }) => (
              <tr key={name}>
                <td>
                  {metricName(name)}
                  {direction === 'lower' ? <span class="cell-note">lower is better</span> : null}
                </td>
                <td class="number">{base === null ? '–' : shown(name, base)}</td>
                <td class="number">{candidate === null ? '–' : shown(name, candidate)}</td>
                <td class="number">
                  {delta === null ? '–' : delta === 0 ? '0' : moved(name, delta)}
                  {interval === null ? null : (
                    <span class="cell-note">
                      {moved(name, interval.low)} to {moved(name, interval.high)}
                    </span>
                  )}
                </td>
                <td>
                  <Badge tone={tones[verdict]}>{verdict}</Badge>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
