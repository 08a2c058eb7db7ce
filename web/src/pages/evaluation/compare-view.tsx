import type { Answer, CaseDiff, FigureComparison } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { counted, figure, percent, signed } from '../../format/numbers.ts'
import { moment } from '../../format/time.ts'
import { Link } from '../../navigation/link.tsx'
import { navigate } from '../../navigation/router.ts'
import { useResource } from '../../state/resource.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { SkeletonBlock } from '../../ui/skeleton.tsx'
import { caseAddress, compareAddress, metricName, packAddress, runAddress, systemOf, whenOf } from './run-words.ts'
import { CaseVerdict } from './verdict.tsx'

type Compared = Answer<'compareRuns'>

/** Two runs of a pack beside each other. */
export function CompareView({ before, after }: { readonly before: string; readonly after: string }) {
  const found = useResource(`${before}\n${after}`, (signal) => ask('compareRuns', { query: { before, after }, signal }))
  return (
    <Loaded resource={found} waiting={<SkeletonBlock kind="plot" label="Comparing" />}>
      {(compared) => (
        <div class="stack">
          <div>
            <nav class="crumbs" aria-label="Where you are">
              <Link href="/evaluation">Packs</Link> <span aria-hidden="true">/</span>
              <Link href={packAddress(compared.after.run.benchmarkId)}>{compared.after.run.benchmarkId}</Link>
              <span aria-hidden="true">/</span> <span>two runs</span>
            </nav>
            <header class="page-head flush">
              <h1>Two runs side by side</h1>
              <div class="page-tools">
                <Button icon="sync" onClick={() => navigate(compareAddress(after, before))}>
                  Swap
                </Button>
              </div>
            </header>
          </div>
          <Sides compared={compared} />
          {compared.notes.map((note) => (
            <p key={note} class="changed-note">
              {note}
            </p>
          ))}
          <FiguresTable figures={compared.figures} />
          <Cases
            title="Broken"
            note="passed before, do not now"
            tone="bad"
            cases={compared.broken}
            total={compared.counts.broken}
            after={after}
          />
          <Cases
            title="Fixed"
            note="did not pass before, do now"
            tone="good"
            cases={compared.fixed}
            total={compared.counts.fixed}
            after={after}
          />
          <Cases
            title="Still failing"
            note=""
            tone="odd"
            cases={compared.stillFailing}
            total={compared.counts.stillFailing}
            after={after}
          />
          <Cases
            title="Changed"
            note="pass in both, with another answer"
            tone="plain"
            cases={compared.changed}
            total={compared.counts.changed}
            after={after}
          />
          <Names title="New cases" ids={compared.newCases} />
          <Names title="Removed cases" ids={compared.removedCases} />
          <Names title="Flaky" ids={compared.flaky} />
          <p class="soft">{counted(compared.unchanged, 'case')} unchanged.</p>
        </div>
      )}
    </Loaded>
  )
}

function Sides({ compared }: { readonly compared: Compared }) {
  return (
    <div class="sides">
      {(['before', 'after'] as const).map((side) => {
        const listed = compared[side]
        return (
          <section key={side} class={side === 'after' ? 'side-text mine' : 'side-text'}>
            <h2 class="small-title">{side === 'before' ? 'Before' : 'After'}</h2>
            <Link href={runAddress(listed.run.runId)}>{moment(whenOf(listed))}</Link>
            <p class="soft small break">{systemOf(listed)}</p>
            <p class="number big">{listed.passRate === null ? '–' : percent(listed.passRate)}</p>
            <p class="soft small number">
              {listed.run.passedCases} of {counted(listed.run.totalCases, 'case')}
            </p>
          </section>
        )
      })}
    </div>
  )
}

const figureTones: Readonly<Record<FigureComparison['verdict'], Tone>> = {
  better: 'good',
  worse: 'bad',
  same: 'plain',
  'no evidence': 'plain',
  underpowered: 'odd',
  dropped: 'bad',
  new: 'accent',
}

function FiguresTable({ figures }: { readonly figures: readonly FigureComparison[] }) {
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
                  {metricName(name)} <span class="soft small">{direction === 'lower' ? 'lower is better' : ''}</span>
                </td>
                <td class="number">{base === null ? '–' : figure(base)}</td>
                <td class="number">{candidate === null ? '–' : figure(candidate)}</td>
                <td class="number">
                  {delta === null ? '–' : delta === 0 ? '0' : signed(delta)}
                  {interval === null ? null : (
                    <span class="cell-note">
                      {signed(interval.low)} to {signed(interval.high)}
                    </span>
                  )}
                </td>
                <td>
                  <Badge tone={figureTones[verdict]}>{verdict}</Badge>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

type CasesProps = {
  readonly title: string
  readonly note: string
  readonly tone: Tone
  readonly cases: readonly CaseDiff[]
  readonly total: number
  readonly after: string
}

function Cases({ title, note, tone, cases, total, after }: CasesProps) {
  if (total === 0 && title !== 'Broken' && title !== 'Fixed') return null
  return (
    <section class="panel" aria-label={title}>
      <header class="panel-head">
        <h2>{title}</h2>
        <span class="soft small">{note}</span>
        <Badge tone={total === 0 ? 'plain' : tone}>{total}</Badge>
      </header>
      {total === 0 ? <p class="panel-pad soft">None.</p> : null}
      <ul class="cases">
        {cases.map((diff) => (
          <li key={diff.id} class="case-row">
            <span class="verdict-pair">
              <CaseVerdict verdict={diff.base} /> <span aria-hidden="true">→</span>
              <span class="unseen">then</span> <CaseVerdict verdict={diff.candidate} />
            </span>
            <div class="case-text">
              <Link href={caseAddress(after, diff.id)}>
                <span class="mono break">{diff.id}</span>
              </Link>
              {diff.firstStage === null ? null : (
                <p class="soft small">The first thing that differs: {diff.firstStage}</p>
              )}
              {diff.failures.slice(0, 3).map((failure) => (
                <p key={failure} class="case-failure">
                  {failure}
                </p>
              ))}
              <Moves returned={diff.returned} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

const place = (rank: number | null): string => (rank === null ? 'absent' : `rank ${rank}`)

function Moves({ returned }: { readonly returned: CaseDiff['returned'] }) {
  if (returned.length === 0) return null
  return (
    <ul class="moves">
      {returned.slice(0, 6).map(({ id, tier, from, to }) => (
        <li key={`${tier}-${id}`} class="small">
          <code>{id}</code> <span class="soft">{`${tier} ${place(from)} → ${place(to)}`}</span>
        </li>
      ))}
    </ul>
  )
}

function Names({ title, ids }: { readonly title: string; readonly ids: readonly string[] }) {
  if (ids.length === 0) return null
  return (
    <section class="panel panel-pad">
      <h2 class="small-title">{title}</h2>
      <p class="mono break">{ids.join(', ')}</p>
    </section>
  )
}
