import { z } from 'zod'
import { isObject, objectIn } from '../../json.ts'
import { addUsage, type ChatMessage, type ChatModel, noUsage, type Usage } from '../../models/chat-model.ts'
import { errorMessage } from '../agent.ts'
import type { Evidence } from '../evidence.ts'
import type { Task } from '../task.ts'
import {
  gatherMaterial,
  type JudgedCriterion,
  type JudgedRubric,
  judgePrompt,
  judgePromptHash,
  type MaterialLimits,
  rubricOf,
} from './judge-prompt.ts'

type ScoredCriterion = JudgedCriterion & { readonly score: number; readonly reason: string }

export type JudgeGrade =
  | {
      readonly state: 'scored'
      readonly score: number
      /** The unweighted mean over criteria, as the original runner computes it. */
      readonly mean: number
      readonly criteria: readonly ScoredCriterion[]
      readonly basis: JudgedRubric['basis']
      readonly judgedBy: string
      readonly promptHash: string
      /** The parts that were left out of the judge's prompt because of their length. */
      readonly cuts: readonly string[]
      readonly notes: readonly string[]
      readonly usage: Usage
    }
  | { readonly state: 'judge_error'; readonly reason: string; readonly usage: Usage }
  | { readonly state: 'unjudged'; readonly reason: string }
  | { readonly state: 'not_applicable' }

type JudgingRequest = {
  readonly task: Task
  readonly evidence: Evidence
  readonly folder: string
  readonly signal: AbortSignal
  readonly limits?: MaterialLimits
}

export type Judge = {
  readonly name: string
  readonly promptHash: string
  readonly grade: (request: JudgingRequest) => Promise<JudgeGrade>
}

export const openJudge = (model: ChatModel): Judge => ({
  name: `${model.provider}:${model.model}`,
  promptHash: judgePromptHash,
  grade: (request) => gradeByJudge(model, request),
})

const timeoutMs = 300_000

/** Scores by rubric. Retries once after an unusable reply; a failure of the judge never becomes a score of zero. */
async function gradeByJudge(
  judge: ChatModel,
  { task, evidence, folder, signal, limits }: JudgingRequest,
): Promise<JudgeGrade> {
  const rubric = rubricOf(task)
  if (rubric === null) return { state: 'unjudged', reason: 'The task has neither a rubric nor criteria.' }
  const material = await gatherMaterial(evidence, folder, limits)
  const { system, user } = judgePrompt(task, rubric, material)
  const messages: ChatMessage[] = [{ role: 'user', text: user }]
  let usage = noUsage
  let reason = ''
  for (let attempt = 0; attempt < 2; attempt += 1) {
    let reply: Awaited<ReturnType<ChatModel['reply']>>
    try {
      reply = await judge.reply({
        system,
        messages,
        schema: { name: 'grade', schema: replySchema(rubric.criteria) },
        temperature: 0,
        maxOutputTokens: 4_096,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      })
    } catch (error) {
      if (signal.aborted) throw error
      return { state: 'judge_error', reason: errorMessage(error), usage }
    }
    usage = addUsage(usage, reply.usage)
    const parsed = parseReply(reply.text, rubric.criteria)
    if (typeof parsed !== 'string') {
      const { criteria, notes } = parsed
      const total = criteria.reduce((sum, { score, weight }) => sum + score * weight, 0)
      const isItself = evidence.agent.model !== null && evidence.agent.model === judge.model
      return {
        state: 'scored',
        // Rounding errors may raise the sum slightly above 1.
        score: Math.min(1, total),
        mean: criteria.reduce((total, { score }) => total + score, 0) / criteria.length,
        criteria,
        basis: rubric.basis,
        judgedBy: `${judge.provider}:${reply.model}`,
        promptHash: judgePromptHash,
        cuts: material.cuts,
        notes: [...rubric.warnings, ...(isItself ? ['The judge is the model that was tested.'] : []), ...notes],
        usage,
      }
    }
    reason = parsed
    const repair = `Your answer cannot be used: ${reason} Answer again, with the JSON document alone.`
    messages.push({ role: 'assistant', text: reply.text, toolCalls: [] }, { role: 'user', text: repair })
  }
  return { state: 'judge_error', reason, usage }
}

/** A JSON schema of the reply, for endpoints that can restrict a model to a schema. */
function replySchema(criteria: readonly JudgedCriterion[]): Readonly<Record<string, unknown>> {
  const score = z.strictObject({ score: z.number(), reason: z.string() })
  const scores = z.strictObject(Object.fromEntries(criteria.map(({ id }) => [id, score])))
  const { $schema: _, ...schema } = z.toJSONSchema(z.strictObject({ scores, notes: z.string() }))
  return schema
}

type ParsedReply = { readonly criteria: readonly ScoredCriterion[]; readonly notes: readonly string[] }

/** The scores of a reply, or why it is unusable. A missing score is rejected, because any default would be our own score. */
function parseReply(text: string, criteria: readonly JudgedCriterion[]): ParsedReply | string {
  const document = objectIn(text.replaceAll('```', ''))
  if (document === null) return 'The answer contains no JSON object.'
  const { scores, notes } = document
  if (!isObject(scores)) return 'The JSON has no "scores".'
  const judged: ScoredCriterion[] = []
  for (const criterion of criteria) {
    const given = scores[criterion.id]
    if (given === undefined) return `There is no score for ${criterion.id} (${criterion.name}).`
    const [value, reason] = isObject(given) ? [given.score ?? null, given.reason] : [given, '']
    const score = scoreFrom(value)
    if (score === null) {
      return `The score of ${criterion.id} is ${JSON.stringify(value)}; it must be a number from 0 to 1.`
    }
    judged.push({ ...criterion, score, reason: String(reason ?? '').slice(0, 1_000) })
  }
  return { criteria: judged, notes: typeof notes === 'string' && notes !== '' ? [notes.slice(0, 2_000)] : [] }
}

/** Tolerance for scores that rounding pushed outside of 0 to 1. Scores further outside use an unknown scale and are rejected. */
const slack = 0.02

function scoreFrom(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number !== 'number' || !(number >= -slack && number <= 1 + slack)) return null
  return Math.min(1, Math.max(0, number))
}
