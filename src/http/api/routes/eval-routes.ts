import { z } from 'zod'
import * as evals from '../eval-shapes.ts'
import { beliefId, listOf, paging, route, text } from '../route.ts'

/** Packs, runs, cases, baselines and live recalls. */
export const evalRoutes = {
  packs: route('GET', '/evals/packs', {
    summary: 'The packs in the eval store and those that ship, with the verdict of their latest run.',
    answer: z.object({ items: z.array(evals.ListedPack) }),
  }),
  runs: route('GET', '/evals/runs', {
    summary: 'Runs, newest first.',
    query: z.strictObject({
      benchmark: text(200).optional(),
      system: text(200).optional(),
      status: z.array(z.enum(['running', 'completed', 'failed', 'partial'])).optional(),
      ...paging(50),
    }),
    answer: listOf(evals.ListedRun),
  }),
  startRun: route('POST', '/evals/run', {
    summary: 'Run a pack on our own recall, in the background. One at a time.',
    body: z.strictObject({ pack: text(200) }),
    answer: z.object({ runId: z.string() }),
    status: 202,
  }),
  run: route('GET', '/evals/runs/:id', {
    summary: 'One run, and the completed ones of the same pack and system.',
    params: beliefId,
    answer: evals.ListedRun.extend({
      environment: evals.Environment.nullable(),
      verdicts: z.record(z.string(), z.int()).describe('How many case records have each verdict.'),
      problems: z.array(z.string()).describe('What is wrong with its case records.'),
      history: z.array(evals.ListedRun).describe('Oldest first, at most 50, this one among them if it is completed.'),
    }),
  }),
  cases: route('GET', '/evals/runs/:id/cases', {
    summary: 'The case records of a run, those that did not pass first.',
    params: beliefId,
    query: z.strictObject({
      verdict: z.array(z.enum(['pass', 'fail', 'error', 'skipped', 'unjudged'])).optional(),
      text: text(200).optional().describe('In the id, the prompt, a failure or a returned id.'),
      ...paging(50),
    }),
    answer: listOf(evals.ListedCase),
  }),
  case: route('GET', '/evals/runs/:id/cases/:caseId', {
    summary: 'One case of a run with every repeat and its explanation.',
    params: z.object({ id: text(200), caseId: text(200) }),
    answer: z.object({
      run: evals.RunSummary,
      prompt: z.string().nullable(),
      expectedSignals: z.array(z.string()),
      notes: z.string().nullable(),
      records: z.array(evals.CaseRecord),
    }),
  }),
  compareRuns: route('GET', '/evals/compare', {
    summary: 'Two runs of a pack beside each other, case by case.',
    query: z.strictObject({ before: text(200), after: text(200) }),
    answer: z.object({
      before: evals.ListedRun,
      after: evals.ListedRun,
      notes: z.array(z.string()).describe('What to know before trusting the rest.'),
      figures: z.array(evals.FigureComparison),
      broken: z.array(evals.CaseDiff),
      fixed: z.array(evals.CaseDiff),
      stillFailing: z.array(evals.CaseDiff),
      changed: z.array(evals.CaseDiff).describe('Passed in both, with another answer.'),
      newCases: z.array(z.string()),
      removedCases: z.array(z.string()),
      flaky: z.array(z.string()),
      unchanged: z.int(),
      counts: z
        .object({ broken: z.int(), fixed: z.int(), stillFailing: z.int(), changed: z.int() })
        .describe('Lists are cut at 200; these are not.'),
    }),
  }),
  baselines: route('GET', '/evals/baselines', {
    summary: 'Accepted figures, newest first.',
    answer: z.object({ items: z.array(evals.ListedBaseline) }),
  }),
  shadow: route('GET', '/evals/shadow', {
    summary: 'What live recalls were like, day by day. Empty unless evalShadowModeEnabled is on.',
    answer: evals.ShadowReport.extend({ isRecording: z.boolean() }),
  }),
}
