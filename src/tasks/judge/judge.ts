import type { ChatMessage, ChatModel, Usage } from '../../models/chat-model.ts'
import { noUsage } from '../../models/chat-model.ts'
import type { Evidence } from '../evidence.ts'
import type { Task } from '../task.ts'
import { judgePrompt, judgePromptHash, judgePromptVersion, judgeSchema } from './judge-prompt.ts'
import { parseReply, type Vote } from './judge-reply.ts'
import { type JudgedMaterial, judgedMaterial, type MaterialLimits } from './judged-material.ts'
import { type JudgedRubric, rubricOf } from './rubric.ts'
import { type VoteKey, voteCache } from './vote-cache.ts'

/** A model that scores by rubric, and how often it is asked. */
export type Judge = {
  readonly model: ChatModel
  /** Where the model answers; null for the provider's own endpoint. The same name may mean another model elsewhere. */
  readonly endpoint: string | null
  readonly votes: number
  /** Where votes are kept; null to ask every time. */
  readonly cacheFolder: string | null
  readonly timeoutMs?: number
  readonly limits?: MaterialLimits
}

export type JudgedScore = {
  readonly id: string
  readonly name: string
  readonly weight: number
  /** The mean of the votes, and their lowest and highest. */
  readonly score: number
  readonly low: number
  readonly high: number
  readonly reason: string
}

export type JudgeGrade =
  | {
      readonly state: 'scored'
      /** By the rubric's own weights. */
      readonly score: number
      /** The plain mean over criteria, as the original runner has it. */
      readonly mean: number
      readonly criteria: readonly JudgedScore[]
      readonly basis: JudgedRubric['basis']
      readonly votes: { readonly asked: number; readonly valid: number; readonly fromCache: number }
      /** Lowest and highest weighted total of a vote. */
      readonly spread: readonly [low: number, high: number]
      readonly judgedBy: string
      readonly promptVersion: string
      readonly promptHash: string
      readonly cuts: readonly string[]
      readonly notes: readonly string[]
      readonly usage: Usage
    }
  | { readonly state: 'judge_error'; readonly reason: string; readonly usage: Usage }
  | { readonly state: 'unjudged'; readonly reason: string }
  | { readonly state: 'not_applicable' }

export type JudgingRequest = {
  readonly task: Task
  readonly evidence: Evidence
  readonly folder: string
  readonly judge: Judge | null
  readonly signal: AbortSignal
}

const defaultTimeoutMs = 300_000

/** Has a task carried out judged by its rubric. Whatever goes wrong with the judge is said, and never becomes a zero. */
export async function gradeByJudge(request: JudgingRequest): Promise<JudgeGrade> {
  const { task, evidence, folder, judge } = request
  if (task.gradingType === 'automated') return { state: 'not_applicable' }
  const rubric = rubricOf(task)
  if (rubric === null) return { state: 'unjudged', reason: 'The task has neither a rubric nor criteria.' }
  if (judge === null) return { state: 'unjudged', reason: 'No judge was named.' }
  const material = await judgedMaterial(evidence, folder, judge.limits)
  const ballots: Ballot[] = []
  for (let index = 0; index < judge.votes; index += 1) {
    ballots.push(await cast({ ...request, judge, rubric, material }, index))
  }
  return counted(ballots, { task, judge, rubric, material, evidence })
}

type Ballot = { readonly usage: Usage } & (
  | { readonly vote: Vote; readonly judgedBy: string; readonly isFromCache: boolean }
  | { readonly vote: null; readonly reason: string }
)

type Booth = JudgingRequest & {
  readonly judge: Judge
  readonly rubric: JudgedRubric
  readonly material: JudgedMaterial
}

/** One vote: from the cache, or asked for, and asked for once more with what was wrong. */
async function cast(booth: Booth, index: number): Promise<Ballot> {
  const { judge, rubric, material, task, signal } = booth
  const cache = judge.cacheFolder === null ? null : voteCache(judge.cacheFolder)
  const key = keyOf(booth, index)
  const kept = await cache?.find(key)
  if (kept) return { ...kept, isFromCache: true, usage: noUsage }
  const { system, user } = judgePrompt({ task, rubric, material, rotation: index })
  const messages: ChatMessage[] = [{ role: 'user', text: user }]
  let usage = noUsage
  let reason = ''
  for (let attempt = 0; attempt < 2; attempt += 1) {
    let reply: Awaited<ReturnType<ChatModel['reply']>>
    try {
      reply = await judge.model.reply({
        system,
        messages,
        schema: { name: 'grade', schema: judgeSchema(rubric.criteria) },
        temperature: key.temperature,
        maxOutputTokens: 4_096,
        signal: AbortSignal.any([signal, AbortSignal.timeout(judge.timeoutMs ?? defaultTimeoutMs)]),
      })
    } catch (error) {
      if (signal.aborted) throw error
      return { vote: null, reason: error instanceof Error ? error.message : String(error), usage }
    }
    usage = sum(usage, reply.usage)
    const parsed = parseReply(reply.text, rubric.criteria)
    if (parsed.ok) {
      await cache?.keep(key, { vote: parsed.vote, judgedBy: reply.model })
      return { vote: parsed.vote, judgedBy: reply.model, isFromCache: false, usage }
    }
    reason = parsed.reason
    const repair = `Your answer cannot be used: ${reason} Answer again, with the JSON document alone.`
    messages.push({ role: 'assistant', text: reply.text, toolCalls: [] }, { role: 'user', text: repair })
  }
  return { vote: null, reason, usage }
}

function keyOf({ judge, rubric, material, task, evidence }: Booth, index: number): VoteKey {
  return {
    promptVersion: judgePromptVersion,
    promptHash: judgePromptHash,
    provider: judge.model.provider,
    model: judge.model.model,
    endpoint: judge.endpoint,
    // One vote is as steady as it can be; several are worth having only where they may differ.
    temperature: judge.votes === 1 ? 0 : 0.7,
    vote: index,
    taskSha256: task.sha256,
    seed: evidence.seed,
    transcriptSha256: evidence.transcript?.sha256 ?? null,
    workspace: evidence.workspace.map(({ path, sha256 }) => [path, sha256] as const),
    rubric: rubric.text,
    criteria: rubric.criteria.map(({ id, name, weight }) => `${id} ${weight} ${name}`),
    cuts: material.cuts,
  }
}

function counted(
  ballots: readonly Ballot[],
  { judge, rubric, material, evidence }: Omit<Booth, 'signal' | 'folder'>,
): JudgeGrade {
  const usage = ballots.reduce((total, ballot) => sum(total, ballot.usage), noUsage)
  const valid = ballots.filter((ballot) => ballot.vote !== null)
  const failed = ballots.flatMap((ballot) => (ballot.vote === null ? [ballot.reason] : []))
  if (valid.length * 2 <= ballots.length) {
    return { state: 'judge_error', reason: failed[0] ?? 'No vote was cast.', usage }
  }
  const scoreIn = (vote: Vote, id: string): number => vote.criteria.find((one) => one.id === id)?.score ?? 0
  const criteria = rubric.criteria.map(({ id, name, weight }) => {
    const scores = valid.map(({ vote }) => scoreIn(vote, id))
    const reason = valid[0]?.vote.criteria.find((one) => one.id === id)?.reason ?? ''
    return { id, name, weight, score: meanOf(scores), low: Math.min(...scores), high: Math.max(...scores), reason }
  })
  const totals = valid.map(({ vote }) =>
    rubric.criteria.reduce((total, { id, weight }) => total + weight * scoreIn(vote, id), 0),
  )
  const isItself = evidence.agent.model !== null && evidence.agent.model === judge.model.model
  return {
    state: 'scored',
    score: bounded(criteria.reduce((total, { score, weight }) => total + score * weight, 0)),
    mean: meanOf(criteria.map(({ score }) => score)),
    criteria,
    basis: rubric.basis,
    votes: {
      asked: ballots.length,
      valid: valid.length,
      fromCache: valid.filter(({ isFromCache }) => isFromCache).length,
    },
    spread: [bounded(Math.min(...totals)), bounded(Math.max(...totals))],
    judgedBy: `${judge.model.provider}:${valid[0]?.judgedBy ?? judge.model.model}`,
    promptVersion: judgePromptVersion,
    promptHash: judgePromptHash,
    cuts: material.cuts,
    notes: [
      ...rubric.warnings,
      ...(isItself ? ['The judge is the model that was tested.'] : []),
      ...failed.map((reason) => `A vote failed: ${reason}`),
      ...valid.flatMap(({ vote }) => (vote.notes === '' ? [] : [vote.notes])),
    ],
    usage,
  }
}

const meanOf = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0) / values.length

/** Weights may sum to a hair more than 1. */
const bounded = (value: number): number => Math.min(1, Math.max(0, value))

const sum = (one: Usage, other: Usage): Usage => ({
  input: one.input + other.input,
  output: one.output + other.output,
  cacheRead: one.cacheRead + other.cacheRead,
  cacheWrite: one.cacheWrite + other.cacheWrite,
})
