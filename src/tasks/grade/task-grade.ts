import type { Evidence } from '../evidence.ts'
import type { Judge, JudgeGrade } from '../judge/judge.ts'
import { changedFiles } from '../run/evidence-folder.ts'
import type { GradingType, Task } from '../task.ts'
import { type AnswerGrade, type CheckResult, gradeAnswers } from './answer-checks.ts'
import { type AutomatedGrade, gradeAutomatically } from './automated-checks.ts'
import type { Sandbox } from './sandbox.ts'

/** How grading a task ended. Only `scored` measures the agent; a fault of the harness is never a zero. */
export type TaskState =
  | 'scored'
  | 'agent_failed'
  | 'agent_timeout'
  | 'infra_error'
  | 'grader_error'
  | 'judge_error'
  | 'skipped'

/** One line of the rubric or of the automated checks. */
type CriterionScore = {
  readonly part: 'automated' | 'judge'
  readonly name: string
  readonly score: number
  readonly weight: number | null
  readonly reason: string
}

/** Raised whenever the same evidence would be graded differently. */
export const gradingVersion = 'credence-grading-4'

/** What a task carried out once came to. Kept beside the evidence, and made again by regrading. */
export type TaskGrade = {
  readonly schemaVersion: 1
  readonly gradingVersion: string
  readonly taskId: string
  readonly taskName: string
  readonly gradingType: GradingType
  readonly repeat: number
  readonly state: TaskState
  /** Why it is not `scored`. */
  readonly reason: string | null
  /** As the task's own grading has it; null when nothing of it could be graded. */
  readonly score: number | null
  /** Whether every part of the grading the task asks for is in the score. */
  readonly isComplete: boolean
  readonly automatedScore: number | null
  readonly judgeScore: number | null
  /** The plain mean over the judge's criteria. */
  readonly judgeMean: number | null
  /** Checks of answers in new sessions. */
  readonly answerScore: number | null
  /** Of these, values that had to be remembered from an earlier session. */
  readonly recallScore: number | null
  /** Checks of answers in the first session and in sessions that continue a conversation. */
  readonly sameSessionScore: number | null
  readonly checks: readonly CheckResult[]
  readonly criteria: readonly CriterionScore[]
  readonly automated: AutomatedGrade
  readonly judge: JudgeGrade
  readonly notes: readonly string[]
  /** The evidence folder, below the eval store. */
  readonly evidence: string
  readonly gradedAt: string
  readonly gradingMs: number
}

export type Graders = { readonly sandbox: Sandbox; readonly judge: Judge | null }

type GradingRequest = {
  /** Filled with what the seed draws. */
  readonly task: Task
  readonly evidence: Evidence
  readonly folder: string
  /** As it is named in the grade. */
  readonly place: string
  readonly graders: Graders
  readonly signal: AbortSignal
  readonly now: () => Date
}

/** Grades the evidence of a task. Reads nothing but the evidence, so that it can be done again at any time. */
export async function gradeTask(request: GradingRequest): Promise<TaskGrade> {
  const { task, evidence, folder, place, graders, signal, now } = request
  const begun = performance.now()
  const frame = {
    schemaVersion: 1 as const,
    gradingVersion,
    taskId: task.id,
    taskName: task.name,
    gradingType: task.gradingType,
    repeat: evidence.repeat,
    evidence: place,
  }
  const ended = () => ({ gradedAt: now().toISOString(), gradingMs: Math.round(performance.now() - begun) })
  const obstacle = await whyUngradable(evidence, folder)
  if (obstacle !== null) return { ...frame, ...ungraded, ...obstacle, ...ended() }

  const answers = await gradeAnswers(task, evidence, folder)
  const automated = await gradeAutomatically({ task, evidence, folder, sandbox: graders.sandbox, signal })
  const judge: JudgeGrade =
    task.gradingType === 'automated'
      ? { state: 'not_applicable' }
      : graders.judge === null
        ? { state: 'unjudged', reason: 'No judge was named.' }
        : await graders.judge.grade({ task, evidence, folder, signal })
  const automatedScore = automatedScoreOf(task, automated, answers)
  const judgeScore = judge.state === 'scored' ? judge.score : null
  const total = combined(task, automatedScore, judgeScore)
  const isMeasured = total.score !== null || answers.checks.length > 0
  return {
    ...frame,
    ...stateOf(evidence, { automated, judge }, isMeasured),
    ...total,
    automatedScore,
    judgeScore,
    judgeMean: judge.state === 'scored' ? judge.mean : null,
    answerScore: answers.score,
    recallScore: answers.recallScore,
    sameSessionScore: answers.sameSessionScore,
    checks: answers.checks,
    criteria: criteriaOf(automated, judge),
    automated,
    judge,
    notes: notesOf(automated, judge),
    ...ended(),
  }
}

/** Without Python, the checks that a task states are its automated part: those of new sessions where it has any. */
function automatedScoreOf(task: Task, automated: AutomatedGrade, answers: AnswerGrade): number | null {
  if (automated.state === 'scored') return automated.score
  if (automated.state !== 'not_applicable' || task.gradingType === 'llm_judge') return null
  return answers.score ?? answers.sameSessionScore
}

const ungraded = {
  score: null,
  isComplete: false,
  automatedScore: null,
  judgeScore: null,
  judgeMean: null,
  answerScore: null,
  recallScore: null,
  sameSessionScore: null,
  checks: [],
  criteria: [],
  automated: { state: 'not_applicable' },
  judge: { state: 'not_applicable' },
  notes: [],
} as const

/** Why evidence cannot be graded; null when it can. An agent that failed is graded as far as it got. */
async function whyUngradable(
  evidence: Evidence,
  folder: string,
): Promise<{ readonly state: TaskState; readonly reason: string } | null> {
  const { outcome, reason, isComplete } = evidence
  if (outcome === 'skipped') return { state: 'skipped', reason: reason ?? 'The task was skipped.' }
  if (outcome === 'infra_error') return { state: 'infra_error', reason: reason ?? 'The agent was never reached.' }
  if (!isComplete) return { state: 'infra_error', reason: 'The work was cut short.' }
  const changed = await changedFiles(folder, evidence)
  if (changed.length === 0) return null
  return { state: 'infra_error', reason: `The evidence was changed: ${changed.slice(0, 5).join(', ')}.` }
}

function stateOf(
  { outcome, reason }: Evidence,
  { automated, judge }: Pick<TaskGrade, 'automated' | 'judge'>,
  isMeasured: boolean,
): { readonly state: TaskState; readonly reason: string | null } {
  if (automated.state === 'grader_error') return { state: 'grader_error', reason: automated.reason }
  if (judge.state === 'judge_error') return { state: 'judge_error', reason: judge.reason }
  if (outcome === 'agent_failed' || outcome === 'agent_timeout') return { state: outcome, reason }
  if (isMeasured) return { state: 'scored', reason: null }
  const reasons = [automated, judge].flatMap((part) => ('reason' in part ? [part.reason] : []))
  return { state: 'skipped', reason: reasons.join(' ') || 'The task has nothing to be graded by.' }
}

/** A part that could not be graded is left out of the score, which then says that it is not complete. */
function combined(
  { gradingType, gradingWeights }: Pick<Task, 'gradingType' | 'gradingWeights'>,
  automated: number | null,
  judge: number | null,
): { readonly score: number | null; readonly isComplete: boolean } {
  if (gradingType === 'automated') return { score: automated, isComplete: automated !== null }
  if (gradingType === 'llm_judge') return { score: judge, isComplete: judge !== null }
  if (automated === null || judge === null) return { score: automated ?? judge, isComplete: false }
  const { automated: ours, judge: theirs } = gradingWeights
  const total = ours + theirs
  return total > 0
    ? { score: (automated * ours + judge * theirs) / total, isComplete: true }
    : { score: null, isComplete: false }
}

function criteriaOf(automated: AutomatedGrade, judge: JudgeGrade): readonly CriterionScore[] {
  const checked = automated.state === 'scored' ? Object.entries(automated.scores) : []
  const judged = judge.state === 'scored' ? judge.criteria : []
  return [
    ...checked.map(([name, score]) => ({ part: 'automated' as const, name, score, weight: null, reason: '' })),
    ...judged.map(({ id: _, ...criterion }) => ({ part: 'judge' as const, ...criterion })),
  ]
}

const notesOf = (automated: AutomatedGrade, judge: JudgeGrade): readonly string[] => [
  ...(automated.state === 'skipped' ? [`Automated checks not run: ${automated.reason}`] : []),
  ...(judge.state === 'unjudged' ? [`Unjudged: ${judge.reason}`] : []),
  ...(judge.state === 'scored' ? judge.notes : []),
]
