import { match } from '../../navigation/match.ts'
import { path, query } from '../../navigation/router.tsx'
import { NoSuchPage } from '../../ui/notice.tsx'
import { CaseView } from './case.tsx'
import { CompareView } from './compare.tsx'
import { PackView } from './pack.tsx'
import { PacksView } from './packs.tsx'
import { RunView } from './run.tsx'

/** The views of the evaluation: all packs, a pack, a run, a case, and a comparison of two runs. */
export function EvaluationPage() {
  const given = path.value
  if (given === '/evaluation') return <PacksView />
  const pack = match('/evaluation/packs/:id', given)
  if (pack?.id !== undefined) return <PackView id={pack.id} key={pack.id} />
  const run = match('/evaluation/runs/:id', given)
  if (run?.id !== undefined) return <RunView id={run.id} key={run.id} />
  const one = match('/evaluation/runs/:id/cases/:caseId', given)
  if (one?.id !== undefined && one.caseId !== undefined)
    return <CaseView runId={one.id} caseId={one.caseId} key={given} />
  if (given === '/evaluation/compare')
    return <CompareView before={query.value.get('before') ?? ''} after={query.value.get('after') ?? ''} />
  return <NoSuchPage href="/evaluation" text="Go to the packs" />
}
