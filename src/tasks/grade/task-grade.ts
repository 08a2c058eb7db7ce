import type { Evidence } from '../evidence.ts'
import type { Judge, JudgeGrade } from '../judge/judge.ts'
import { changedFiles } from '../run/evidence-folder.ts'
import type { Task } from '../task.ts'
import type { Obtained } from '../task-outcomes.ts'
import { type AnswerGrade, gradeAnswers, noAnswers } from './answer-checks.ts'
import { type AutomatedGrade, gradeAutomatically } from './automated-checks.ts'
import type { Sandbox } from './sandbox.ts'

/** Only `scored` is a result of the agent; a fault of the harness never becomes a score of zero. */
type TaskState = 'scored' | 'grader_error' | 'judge_error' | Exclude<Evidence['outcome'], 'done'>

/** `reason` explains a state other than `scored`. */
type Ending = { readonly state: TaskState; readonly reason: string | null }

/** Increased whenever the same evidence would get a different grade. */
export const gradingVersion = 'credence-grading-5'

type Parts = AnswerGrade & {
  readonly objectiveState?: StateGrade
  readonly automated: AutomatedGrade
  readonly judge: JudgeGrade
}

/** The grade of one execution of a task. Stored next to the evidence, and rewritten by regrading. */
export type TaskGrade = Readonly<Awaited<ReturnType<typeof gradeTask>>>

export type Graders = { readonly sandbox: Sandbox; readonly judge: Judge | null }

type GradingRequest = Obtained & {
  readonly graders: Graders
  readonly signal: AbortSignal
  readonly now: () => Date
}

/** Grades the evidence of a task. Reads only the evidence, so that it can be repeated at any time. */
export async function gradeTask(request: GradingRequest) {
  const { task, evidence, folder, storePath, now } = request
  const begun = performance.now()
  const obstacle = await whyUngradable(evidence, folder)
  const parts = obstacle === null ? await gradeParts(request) : ungraded
  const { automated, judge } = parts
  const automatedScore = obstacle === null ? automatedScoreOf(task, parts) : null
  const judgeScore = judge.state === 'scored' ? judge.score : null
  const total = combineScores(task, automatedScore, judgeScore)
  return {
    schemaVersion: 1 as const,
    gradingVersion,
    taskId: task.id,
    repeat: evidence.repeat,
    evidence: storePath,
    ...parts,
    ...(obstacle ?? endingOf(evidence, parts, total.score !== null || parts.checks.length > 0)),
    ...total,
    automatedScore,
    judgeScore,
    criteria: criteriaOf(parts),
    notes: [
      ...(automated.state === 'skipped' ? [`Automated checks not run: ${automated.reason}`] : []),
      ...(judge.state === 'unjudged' ? [`Unjudged: ${judge.reason}`] : []),
      ...(judge.state === 'scored' ? judge.notes : []),
    ],
    gradedAt: now().toISOString(),
    gradingMs: Math.round(performance.now() - begun),
  }
}

const ungraded: Parts = { ...noAnswers, automated: { state: 'not_applicable' }, judge: { state: 'not_applicable' } }

async function gradeParts({ task, evidence, folder, graders, signal }: GradingRequest): Promise<Parts> {
  const objectiveState = gradeState(task, evidence)
  const answers = { ...(await gradeAnswers(task, evidence, folder)), ...(objectiveState && { objectiveState }) }
  const automated = await gradeAutomatically({ task, evidence, folder, sandbox: graders.sandbox, signal })
  if (task.gradingType === 'automated') return { ...answers, automated, judge: { state: 'not_applicable' } }
  const unjudged = { state: 'unjudged', reason: 'No judge was named.' } as const
  return { ...answers, automated, judge: (await graders.judge?.grade({ task, evidence, folder, signal })) ?? unjudged }
}

/** The score of the Python checks. Without these, that of the answer checks (in new sessions, if there are any), else of the facts. */
function automatedScoreOf({ gradingType }: Task, parts: Parts): number | null {
  const { automated, answerScore, sameSessionScore, objectiveState } = parts
  if (automated.state === 'scored') return automated.score
  if (automated.state !== 'not_applicable' || gradingType === 'llm_judge') return null
  return answerScore ?? sameSessionScore ?? objectiveState?.stateScore ?? null
}

/** Why evidence cannot be graded; null if it can. The work of an agent that failed is graded as far as it got. */
async function whyUngradable(evidence: Evidence, folder: string): Promise<Ending | null> {
  const { outcome, reason, isComplete } = evidence
  if (outcome === 'skipped') return { state: 'skipped', reason: reason ?? 'The task was skipped.' }
  if (outcome === 'infra_error') return { state: 'infra_error', reason: reason ?? 'The agent was never reached.' }
  if (!isComplete) return { state: 'infra_error', reason: 'The work was cut short.' }
  const changed = await changedFiles(folder, evidence)
  if (changed.length === 0) return null
  return { state: 'infra_error', reason: `The evidence was changed: ${changed.slice(0, 5).join(', ')}.` }
}

function endingOf({ outcome, reason }: Evidence, { automated, judge }: Parts, isMeasured: boolean): Ending {
  if (automated.state === 'grader_error') return { state: 'grader_error', reason: automated.reason }
  if (judge.state === 'judge_error') return { state: 'judge_error', reason: judge.reason }
  if (outcome === 'agent_failed' || outcome === 'agent_timeout') return { state: outcome, reason }
  if (isMeasured) return { state: 'scored', reason: null }
  const reasons = [automated, judge].flatMap((part) => ('reason' in part ? [part.reason] : []))
  return { state: 'skipped', reason: reasons.join(' ') || 'The task has nothing to be graded by.' }
}

/** The score by the weights of the task. If a part could not be graded, it is left out and the score is marked as incomplete. */
function combineScores(
  { gradingType, gradingWeights }: Pick<Task, 'gradingType' | 'gradingWeights'>,
  automated: number | null,
  judge: number | null,
): { readonly score: number | null; readonly isComplete: boolean } {
  if (gradingType === 'automated') return { score: automated, isComplete: automated !== null }
  if (gradingType === 'llm_judge') return { score: judge, isComplete: judge !== null }
  if (automated === null || judge === null) return { score: automated ?? judge, isComplete: false }
  const { automated: ours, judge: theirs } = gradingWeights
  if (ours + theirs <= 0) return { score: null, isComplete: false }
  return { score: (automated * ours + judge * theirs) / (ours + theirs), isComplete: true }
}

function criteriaOf({ automated, judge }: Parts) {
  const checked = automated.state === 'scored' ? Object.entries(automated.scores) : []
  const judged = judge.state === 'scored' ? judge.criteria : []
  return [
    ...checked.map(([name, score]) => ({ part: 'automated' as const, name, score, weight: null, reason: '' })),
    ...judged.map(({ id: _, ...criterion }) => ({ part: 'judge' as const, ...criterion })),
  ]
}

/** The grade of the facts about the world that a task declares. */
type StateGrade = Readonly<ReturnType<typeof gradeFacts>>

/** Grades the facts recorded after each session. */
export const gradeState = (task: Task, evidence: Evidence): StateGrade | null =>
  task.stateChecks.length === 0 ? null : gradeFacts(task, evidence)

function gradeFacts({ stateChecks }: Task, { events, sessions }: Evidence) {
  const read = events.flatMap((event) =>
    event.kind === 'state_read'
      ? event.facts.map((fact) => ({ ...fact, session: event.session, when: event.when }))
      : [],
  )
  const facts = stateChecks.map(({ id, session }) => {
    const findFact = (when: 'before' | 'after') =>
      read.find((fact) => fact.when === when && fact.id === id && fact.session === session)
    const after = findFact('after')
    return {
      id,
      session,
      holds: after?.holds ?? null,
      heldBefore: findFact('before')?.holds === true,
      observed: after?.observed ?? 'The session was not reached.',
    }
  })
  const needed = facts.filter(({ heldBefore }) => !heldBefore)
  const covered = new Set(facts.filter(({ holds }) => holds !== null).map(({ session }) => session))
  return {
    facts,
    /** The share of sessions after which at least one fact was read. */
    objectiveStateCoverage: covered.size / sessions.length,
    /** Among the facts that were not true before the first session, the share that is true after their session. */
    actionOutcomeScore: shareOf(needed),
    /** The share of all facts that are true after their session, including facts that should not have changed. */
    stateScore: shareOf(facts),
  }
}

const shareOf = (facts: readonly { readonly holds: boolean | null }[]): number | null =>
  facts.length === 0 ? null : facts.filter(({ holds }) => holds === true).length / facts.length
