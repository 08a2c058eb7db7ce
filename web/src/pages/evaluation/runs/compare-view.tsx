import type { RouteAnswer } from '../../../../../src/http/api/contract.ts'
import { ask } from '../../../api/client.ts'
import { counted, percent } from '../../../format/numbers.ts'
import { moment } from '../../../format/time.ts'
import { Crumbs } from '../../../navigation/crumbs.tsx'
import { Link } from '../../../navigation/link.tsx'
import { navigate } from '../../../navigation/router.ts'
import { useResource } from '../../../state/resource.ts'
import { useSubject } from '../../../state/subject.ts'
import { Button } from '../../../ui/button.tsx'
import { Loaded } from '../../../ui/loaded.tsx'
import { SkeletonBlock } from '../../../ui/skeleton.tsx'
import { allPacks, compareAddress, packAddress, runAddress, systemOf, whenOf } from '../run-words.ts'
import { ComparedCases, type Group } from './compared-cases.tsx'
import { ComparedFigures } from './compared-figures.tsx'

type Compared = RouteAnswer<'compareRuns'>

/** What can become of a case, worst first. The first two are shown even where there are none: that is news too. */
const groups: readonly Group[] = [
  { kind: 'broken', title: 'Broken', note: 'passed before, do not now', tone: 'bad', isAlwaysShown: true },
  { kind: 'fixed', title: 'Fixed', note: 'did not pass before, do now', tone: 'good', isAlwaysShown: true },
  { kind: 'stillFailing', title: 'Still failing', note: 'in both', tone: 'odd', isAlwaysShown: false },
  { kind: 'changed', title: 'Changed', note: 'pass in both, with another answer', tone: 'plain', isAlwaysShown: false },
]

const namedOnly = [
  { kind: 'newCases', title: 'New cases' },
  { kind: 'removedCases', title: 'Removed cases' },
  { kind: 'flaky', title: 'Flaky' },
] as const

/** Two runs of a pack beside each other. */
export function CompareView({ before, after }: { readonly before: string; readonly after: string }) {
  const found = useResource(`${before}\n${after}`, (signal) => ask('compareRuns', { query: { before, after }, signal }))
  useSubject('Two runs')
  return (
    <Loaded resource={found} waiting={<SkeletonBlock kind="plot" label="Comparing" />} elsewhere={allPacks}>
      {(compared) => (
        <div class="stack">
          <div>
            <Crumbs
              steps={[
                { name: 'Packs', href: '/evaluation' },
                { name: compared.after.run.benchmarkId, href: packAddress(compared.after.run.benchmarkId) },
                { name: 'Two runs' },
              ]}
            />
            <header class="page-head flush">
              <h1>Two runs side by side</h1>
              <div class="page-tools">
                <Button icon="sync" onClick={() => navigate(compareAddress(after, before), { replace: true })}>
                  Swap
                </Button>
              </div>
            </header>
          </div>
          <Sides compared={compared} />
          {compared.notes.length === 0 ? null : (
            <ul class="changed-note">
              {compared.notes.map((note) => (
                <li key={note}>{note}</li>
              ))}
            </ul>
          )}
          <ComparedFigures figures={compared.figures} />
          {groups.map((group) => (
            <ComparedCases
              key={group.kind}
              group={group}
              cases={compared[group.kind]}
              total={compared.counts[group.kind]}
              after={after}
              names={compared.names}
            />
          ))}
          {namedOnly.map(({ kind, title }) => (
            <Names key={kind} title={title} ids={compared[kind]} />
          ))}
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
            <p class="number big">{listed.passRate === null ? '–' : percent(listed.passRate)}</p>
            <p class="soft small number">
              {listed.run.passedCases} of {counted(listed.run.totalCases, 'case')} passed
            </p>
            <p class="small break">
              <Link href={runAddress(listed.run.runId)}>{moment(whenOf(listed))}</Link>
              <span class="soft"> · {systemOf(listed)}</span>
            </p>
          </section>
        )
      })}
    </div>
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
