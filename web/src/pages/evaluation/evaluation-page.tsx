import type { ComponentChild } from 'preact'
import { match } from '../../navigation/match.ts'
import { Link, path, query } from '../../navigation/router.tsx'
import { EmptyState } from '../../ui/notice.tsx'
import { CaseView } from './case.tsx'
import { CompareView } from './compare.tsx'
import { LiveView } from './live.tsx'
import { PackView } from './pack.tsx'
import { BaselinesView, PacksView, RunsView } from './packs.tsx'
import { RunView } from './run.tsx'

const tabs = [
  { href: '/evaluation', name: 'Packs' },
  { href: '/evaluation/runs', name: 'Runs' },
  { href: '/evaluation/live', name: 'Live recall' },
  { href: '/evaluation/baselines', name: 'Baselines' },
] as const

/** How well the memory does, measured. */
export function EvaluationPage() {
  const inside = innerPage(path.value)
  if (inside !== null) return <>{inside}</>
  return (
    <>
      <header class="page-head">
        <h1>Evaluation</h1>
        <p>
          How well memory works, measured. A pack is a set of test messages with the beliefs they must bring; every
          figure links to its cases.
        </p>
      </header>
      <nav class="tabs" aria-label="Evaluation">
        {tabs.map(({ href, name }) => (
          <Link key={href} href={href} aria-current={path.value === href ? 'page' : undefined}>
            {name}
          </Link>
        ))}
      </nav>
      {tabPage(path.value)}
    </>
  )
}

function tabPage(given: string): ComponentChild {
  switch (given) {
    case '/evaluation':
      return <PacksView />
    case '/evaluation/runs':
      return <RunsView />
    case '/evaluation/live':
      return <LiveView />
    case '/evaluation/baselines':
      return <BaselinesView />
    default:
      return (
        <div class="panel">
          <EmptyState icon="question" title="There is no such page">
            <Link href="/evaluation">Go to the packs</Link>
          </EmptyState>
        </div>
      )
  }
}

/** Pages about one thing have its name on top instead of the tabs. */
function innerPage(given: string): ComponentChild {
  const pack = match('/evaluation/packs/:id', given)
  if (pack?.id !== undefined) return <PackView id={pack.id} key={pack.id} />
  const run = match('/evaluation/runs/:id', given)
  if (run?.id !== undefined) return <RunView id={run.id} key={run.id} />
  const one = match('/evaluation/runs/:id/cases/:caseId', given)
  if (one?.id !== undefined && one.caseId !== undefined)
    return <CaseView runId={one.id} caseId={one.caseId} key={given} />
  if (given === '/evaluation/compare')
    return <CompareView before={query.value.get('before') ?? ''} after={query.value.get('after') ?? ''} />
  return null
}
