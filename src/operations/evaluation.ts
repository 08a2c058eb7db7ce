import type { CaseVerdict, RunSummary } from '../eval/store/schemas/run.ts'
import type { EvalReads } from './eval-reads.ts'
import { choice, list, optional, paging, text } from './field.ts'
import { type Call, type Operation, servedBy } from './operation.ts'
import { cacheFor, type Installation } from './served-memory.ts'
import { installationOf } from './system.ts'

const id = text(200)

const namesOf = <Name extends string>(names: Readonly<Record<Name, true>>) => Object.keys(names) as Name[]
// Repeated here, because the schemas of the eval store are loaded only with its first read. The types ensure that no status is missing.
const runStatuses = namesOf<RunSummary['status']>({ running: true, completed: true, failed: true, partial: true })
const caseVerdicts = namesOf<CaseVerdict>({ pass: true, fail: true, error: true, skipped: true, unjudged: true })

/** The fields of each operation. */
export const evalInputs = {
  packs: {},
  runs: {
    benchmark: optional(text(200)),
    system: optional(text(200)),
    status: optional(list(choice(runStatuses))),
    ...paging(50),
  },
  startRun: { pack: text(200) },
  run: { id },
  cases: {
    id,
    verdict: optional(list(choice(caseVerdicts))),
    text: optional(text(200), 'In the id, the prompt, a failure or a returned id.'),
    ...paging(50),
  },
  case: { id, caseId: text(200) },
  packGrid: { id, system: optional(text(200)) },
  standings: {},
  compareRuns: { before: text(200), after: text(200) },
  baselines: {},
  shadow: {},
}

/** The read operations of an installation's eval store, loaded on demand, because a recall needs none of them. */
export const evalReadsOf = (installation: Installation, clock: () => number) =>
  cacheFor(installation, 'eval reads', null, async () =>
    (await import('./eval-reads.ts')).evalReads(installation, clock),
  )

const readsOf = (call: Call) => evalReadsOf(installationOf(call), servedBy(call).server.clock)

/** An operation on the eval store, which only the person of the installation may read. */
const evalOperation = <Name extends keyof typeof evalInputs, const Http extends Operation['http']>(
  name: Name,
  http: Http,
  summary: string,
  status: 200 | 202 = 200,
) => ({
  summary,
  access: 'installation' as const,
  http,
  status,
  input: evalInputs[name],
  // `input` is `never`, because TypeScript cannot see that it is the input of the operation called `name`.
  run: (call: Call, input: never) =>
    readsOf(call).then((all): Promise<object> => all[name](input)) as Promise<Awaited<ReturnType<EvalReads[Name]>>>,
})

/** Packs, runs, cases, comparisons and baselines of the eval store. */
export const evaluation = {
  packs: evalOperation(
    'packs',
    'GET /evals/packs',
    'The packs in the eval store and those that ship, with the verdict of their latest run.',
  ),
  runs: evalOperation('runs', 'GET /evals/runs', 'Runs, newest first.'),
  startRun: evalOperation(
    'startRun',
    'POST /evals/run',
    'Run a pack on our own recall, in the background. One at a time.',
    202,
  ),
  run: evalOperation('run', 'GET /evals/runs/:id', 'One run, and the completed ones of the same pack and system.'),
  cases: evalOperation(
    'cases',
    'GET /evals/runs/:id/cases',
    'The case records of a run, those that did not pass first.',
  ),
  case: evalOperation(
    'case',
    'GET /evals/runs/:id/cases/:caseId',
    'One case of a run with every repeat and its explanation.',
  ),
  packGrid: evalOperation(
    'packGrid',
    'GET /evals/packs/:id/grid',
    'The cases of a pack in its latest complete runs, those that failed most often first, and the comparison with its baseline.',
  ),
  standings: evalOperation(
    'standings',
    'GET /evals/standings',
    'Every pack compared with its baseline or its previous run, those with broken cases first. Other systems than the main one are listed only if they got worse.',
  ),
  compareRuns: evalOperation('compareRuns', 'GET /evals/compare', 'Two runs of a pack compared case by case.'),
  baselines: evalOperation('baselines', 'GET /evals/baselines', 'Accepted figures, newest first.'),
  shadow: evalOperation(
    'shadow',
    'GET /evals/shadow',
    'Statistics of live recalls, per day. Empty unless evalShadowModeEnabled is on.',
  ),
}
