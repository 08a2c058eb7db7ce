import { join } from 'node:path'
import { type MeanScores, meanScores } from '../../../tasks/report/coverage.ts'
import { harmless, type Style } from '../../output.ts'
import { columns, wrap } from '../../text-layout.ts'
import { type DoneJob, oracleName, performTasks, type TaskRequest, type TaskScene } from './task-job.ts'
import { figure } from './task-text.ts'

/** What a control must come to for the agent's own figures to mean anything. */
export type ControlResult = {
  readonly name: string
  readonly runId: string
  readonly means: MeanScores
  readonly passed: number
  readonly total: number
  /** Why it does not show what it should; null when it does, and for the agent itself. */
  readonly problem: string | null
}

/** Control runs have a store of their own, so that no gate ever takes one for the agent's latest run. */
export const controlStore = (root: string): string => join(root, 'controls')

/** Runs the same tasks without memory, without doing anything, and knowing everything. */
export async function performControls(
  request: TaskRequest,
  own: DoneJob,
  scene: TaskScene,
): Promise<readonly ControlResult[]> {
  const controlled = { ...scene, root: controlStore(scene.root) }
  const results = [resultOf(request.agent, own, null)]
  const arms = [
    { name: `${request.agent}, no memory`, changes: { control: 'no-memory' }, problemOf: remembersWithout },
    { name: 'none', changes: { agent: 'none', passEnv: [] }, problemOf: earnsByNothing },
    { name: oracleName, changes: { agent: oracleName, passEnv: [] }, problemOf: missesWhatItKnows },
  ] as const
  for (const { name, changes, problemOf } of arms) {
    if (scene.signal.aborted) break
    // A judge costs money and says nothing here that the checks do not.
    const job = await performTasks(
      { ...request, judge: null, ...changes },
      { kind: 'new', given: { control: name } },
      controlled,
    )
    results.push(resultOf(name, job, problemOf(meanScores(job.grades))))
  }
  return results
}

const resultOf = (name: string, { summary, grades }: DoneJob, problem: string | null): ControlResult => ({
  name,
  runId: summary.runId,
  means: meanScores(grades),
  passed: summary.passedCases,
  total: summary.totalCases,
  problem,
})

const remembersWithout = ({ recallScore }: MeanScores): string | null =>
  recallScore === null || recallScore === 0 ? null : `It recalls ${figure(recallScore)} without its memory.`

const earnsByNothing = ({ score, answerScore }: MeanScores): string | null =>
  (score ?? 0) === 0 && (answerScore ?? 0) === 0
    ? null
    : `Doing nothing earns ${figure(Math.max(score ?? 0, answerScore ?? 0))}.`

const missesWhatItKnows = ({ answerScore }: MeanScores): string | null =>
  answerScore === null || answerScore === 1 ? null : `Saying all that is expected earns only ${figure(answerScore)}.`

/** How much of the recall is the memory's doing; null when nothing had to be remembered. */
export function liftOf(results: readonly ControlResult[]): number | null {
  const [agent, without] = results
  const [high, low] = [agent?.means.recallScore ?? null, without?.means.recallScore ?? null]
  return high === null || low === null ? null : high - low
}

export function controlsText(results: readonly ControlResult[], style: Style): string {
  const rows = results.map(({ name, means, passed, total }) => [
    shortened(name),
    figure(means.score),
    figure(means.automatedScore),
    figure(means.answerScore),
    figure(means.recallScore),
    `${passed}/${total}`,
  ])
  const table = columns([['who', 'score', 'automated', 'answers', 'recall', 'passed'], ...rows], { indent: 0 })
  const lift = liftOf(results)
  const liftText =
    lift === null
      ? 'lift of the memory: unknown, as no check expects a fresh session to say what was told before'
      : `lift of the memory: ${lift >= 0 ? '+' : ''}${figure(lift)} in recall`
  const problems = results.flatMap(({ name, problem }) => (problem === null ? [] : [`${name}: ${problem}`]))
  const runs = results.slice(1).map(({ name, runId }) => [shortened(name), runId])
  return [
    harmless(table),
    ...wrap(liftText, style.width),
    ...problems.flatMap((problem) => wrap(harmless(problem), style.width).map(style.red)),
    '',
    'runs of the controls',
    harmless(columns(runs, { indent: 2 })),
  ].join('\n')
}

const longestName = 36
const keptEnd = ', no memory'.length

/** A program with all its words would push the figures off the screen. What it is compared with stands at the end. */
const shortened = (name: string): string =>
  name.length > longestName ? `${name.slice(0, longestName - keptEnd - 1)}…${name.slice(-keptEnd)}` : name
