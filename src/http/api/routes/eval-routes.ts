import { z } from 'zod'
import * as evals from '../eval-shapes.ts'
import { beliefId, listOf, paging, text } from '../request-shapes.ts'
import { type Route, route } from '../route.ts'

/** Packs, runs, cases, baselines and live recalls. */
export const evalRoutes = {
  packs: route({
    method: 'GET',
    path: '/evals/packs',
    tag: 'evals',
    summary: 'The packs in the eval store and those that ship, with the verdict of their latest run.',
    answer: z.object({ items: z.array(evals.ListedPack) }),
  }),
  runs: route({
    method: 'GET',
    path: '/evals/runs',
    tag: 'evals',
    summary: 'Runs, newest first.',
    query: z.strictObject({
      benchmark: text(200).optional(),
      system: text(200).optional(),
      status: z.array(z.enum(['running', 'completed', 'failed', 'partial'])).optional(),
      ...paging(50),
    }),
    answer: listOf(evals.ListedRun),
  }),
  startRun: route({
    method: 'POST',
    path: '/evals/run',
    tag: 'evals',
    summary: 'Run a pack on our own recall, in the background. One at a time.',
    body: z.strictObject({ pack: text(200) }),
    answer: z.object({ runId: z.string() }),
    status: 202,
  }),
  run: route({
    method: 'GET',
    path: '/evals/runs/:id',
    tag: 'evals',
    summary: 'One run, and the completed ones of the same pack and system.',
    params: beliefId,
    answer: evals.ListedRun.extend({
      environment: evals.Environment.nullable(),
      verdicts: z.record(z.string(), z.int()).describe('How many case records have each verdict.'),
      problems: z.array(z.string()).describe('What is wrong with its case records.'),
      history: z.array(evals.ListedRun).describe('Oldest first, at most 50, this one among them if it is completed.'),
    }),
  }),
  cases: route({
    method: 'GET',
    path: '/evals/runs/:id/cases',
    tag: 'evals',
    summary: 'The case records of a run, those that did not pass first.',
    params: beliefId,
    query: z.strictObject({
      verdict: z.array(z.enum(['pass', 'fail', 'error', 'skipped', 'unjudged'])).optional(),
      text: text(200).optional().describe('In the id, the prompt, a failure or a returned id.'),
      ...paging(50),
    }),
    answer: listOf(evals.ListedCase),
  }),
  case: route({
    method: 'GET',
    path: '/evals/runs/:id/cases/:caseId',
    tag: 'evals',
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
  compareRuns: route({
    method: 'GET',
    path: '/evals/compare',
    tag: 'evals',
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
  baselines: route({
    method: 'GET',
    path: '/evals/baselines',
    tag: 'evals',
    summary: 'Accepted figures, newest first.',
    answer: z.object({ items: z.array(evals.ListedBaseline) }),
  }),
  shadow: route({
    method: 'GET',
    path: '/evals/shadow',
    tag: 'evals',
    summary: 'What live recalls were like, day by day. Empty unless evalShadowModeEnabled is on.',
    answer: evals.ShadowReport.extend({ isRecording: z.boolean() }),
  }),
} as const satisfies Readonly<Record<string, Route>>
