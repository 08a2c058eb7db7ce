import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { canonicalJson, sha256 } from '../../eval/pack/manifest.ts'
import { asJson, writeAtomically } from '../../files/atomic-write.ts'
import { addUsage, type ChatMessage, type ChatModel, noUsage, type Usage } from '../../models/chat-model.ts'
import type { Evidence } from '../evidence.ts'
import type { Task } from '../task.ts'
import {
  type JudgedMaterial,
  judgedMaterial,
  judgePrompt,
  judgePromptHash,
  judgePromptVersion,
  type MaterialLimits,
} from './judge-prompt.ts'
import { judgeSchema, parseReply, type Vote } from './judge-reply.ts'
import { type JudgedRubric, rubricOf } from './rubric.ts'

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

type JudgedScore = {
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

type JudgingRequest = {
  readonly task: Task
  readonly evidence: Evidence
  readonly folder: string
  readonly judge: Judge | null
  readonly signal: AbortSignal
}

const defaultTimeoutMs = 300_000

/** Scores a finished task by its rubric. A failure of the judge is reported, and never becomes a zero. */
export async function gradeByJudge(request: JudgingRequest): Promise<JudgeGrade> {
  const { task, evidence, folder, judge } = request
  if (task.gradingType === 'automated') return { state: 'not_applicable' }
  const rubric = rubricOf(task)
  if (rubric === null) return { state: 'unjudged', reason: 'The task has neither a rubric nor criteria.' }
  if (judge === null) return { state: 'unjudged', reason: 'No judge was named.' }
  const material = await judgedMaterial(evidence, folder, judge.limits)
  const ballots: Ballot[] = []
  for (let index = 0; index < judge.votes; index += 1) {
    ballots.push(await askForVote({ ...request, judge, rubric, material }, index))
  }
  return countVotes(ballots, { judge, rubric, material, evidence })
}

type Ballot = { readonly usage: Usage } & (
  | { readonly vote: Vote; readonly judgedBy: string; readonly isFromCache: boolean }
  | { readonly vote: null; readonly reason: string }
)

type Judging = JudgingRequest & {
  readonly judge: Judge
  readonly rubric: JudgedRubric
  readonly material: JudgedMaterial
}

/** One vote: from the cache, or asked for, and once more with the reason where the reply cannot be used. */
async function askForVote(judging: Judging, index: number): Promise<Ballot> {
  const { judge, rubric, material, task, signal } = judging
  // One vote is as steady as it can be; several are worth having only where they may differ.
  const temperature = judge.votes === 1 ? 0 : 0.7
  const key = voteKey(judging, { index, temperature })
  const kept = await keptReply(judge, key)
  const keptVote = kept === null ? null : parseReply(kept.reply, rubric.criteria)
  if (kept !== null && keptVote?.ok) {
    return { vote: keptVote.vote, judgedBy: kept.judgedBy, isFromCache: true, usage: noUsage }
  }
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
        temperature,
        maxOutputTokens: 4_096,
        signal: AbortSignal.any([signal, AbortSignal.timeout(judge.timeoutMs ?? defaultTimeoutMs)]),
      })
    } catch (error) {
      if (signal.aborted) throw error
      return { vote: null, reason: error instanceof Error ? error.message : String(error), usage }
    }
    usage = addUsage(usage, reply.usage)
    const parsed = parseReply(reply.text, rubric.criteria)
    if (parsed.ok) {
      await keepReply(judge, { schemaVersion: 2, key, judgedBy: reply.model, reply: reply.text })
      return { vote: parsed.vote, judgedBy: reply.model, isFromCache: false, usage }
    }
    reason = parsed.reason
    const repair = `Your answer cannot be used: ${reason} Answer again, with the JSON document alone.`
    messages.push({ role: 'assistant', text: reply.text, toolCalls: [] }, { role: 'user', text: repair })
  }
  return { vote: null, reason, usage }
}

/** A digest of everything a vote depends on. */
function voteKey(
  { judge, rubric, material, task, evidence }: Judging,
  vote: { readonly index: number; readonly temperature: number },
): string {
  const key = {
    promptVersion: judgePromptVersion,
    promptHash: judgePromptHash,
    provider: judge.model.provider,
    model: judge.model.model,
    endpoint: judge.endpoint,
    temperature: vote.temperature,
    vote: vote.index,
    taskSha256: task.sha256,
    seed: evidence.seed,
    transcriptSha256: evidence.transcript?.sha256 ?? null,
    workspace: evidence.workspace.map(({ path, sha256: digest }) => [path, digest]),
    rubric: rubric.text,
    criteria: rubric.criteria.map(({ id, name, weight }) => `${id} ${weight} ${name}`),
    cuts: material.cuts,
  }
  return sha256(canonicalJson(key)).slice('sha256:'.length)
}

/** A reply as it was received. It is parsed again when it is used, so that a damaged file is never half a vote. */
const KeptReply = z.strictObject({
  schemaVersion: z.literal(2),
  key: z.string(),
  judgedBy: z.string(),
  reply: z.string(),
})

async function keptReply({ cacheFolder }: Judge, key: string): Promise<z.infer<typeof KeptReply> | null> {
  if (cacheFolder === null) return null
  try {
    const kept = KeptReply.parse(JSON.parse(await readFile(join(cacheFolder, `${key}.json`), 'utf8')))
    return kept.key === key ? kept : null
  } catch {
    // Absent, or not what was written: the judge is asked again.
    return null
  }
}

/** Only valid replies are kept, so that a failure is never remembered. */
async function keepReply({ cacheFolder }: Judge, kept: z.infer<typeof KeptReply>): Promise<void> {
  if (cacheFolder === null) return
  await writeAtomically(join(cacheFolder, `${kept.key}.json`), asJson(kept), { existing: 'replace', durable: false })
}

/** The grade from all votes, of which more than half must be valid. */
function countVotes(
  ballots: readonly Ballot[],
  { judge, rubric, material, evidence }: Pick<Judging, 'judge' | 'rubric' | 'material' | 'evidence'>,
): JudgeGrade {
  const usage = ballots.reduce((total, ballot) => addUsage(total, ballot.usage), noUsage)
  const valid = ballots.filter((ballot) => ballot.vote !== null)
  const failed = ballots.flatMap((ballot) => (ballot.vote === null ? [ballot.reason] : []))
  if (valid.length * 2 <= ballots.length) {
    return { state: 'judge_error', reason: failed[0] ?? 'No vote was cast.', usage }
  }
  const criteria = rubric.criteria.map(({ id, name, weight }, index) => {
    const votes = valid.flatMap(({ vote }) => vote.criteria[index] ?? [])
    const scores = votes.map(({ score }) => score)
    const [low, high] = [Math.min(...scores), Math.max(...scores)]
    return { id, name, weight, score: meanOf(scores), low, high, reason: votes[0]?.reason ?? '' }
  })
  const weighted = (scores: readonly { readonly score: number }[]): number =>
    // Weights may sum to a hair more than 1.
    Math.min(
      1,
      scores.reduce((total, { score }, index) => total + score * (criteria[index]?.weight ?? Number.NaN), 0),
    )
  const totals = valid.map(({ vote }) => weighted(vote.criteria))
  const isItself = evidence.agent.model !== null && evidence.agent.model === judge.model.model
  return {
    state: 'scored',
    score: weighted(criteria),
    mean: meanOf(criteria.map(({ score }) => score)),
    criteria,
    basis: rubric.basis,
    votes: {
      asked: ballots.length,
      valid: valid.length,
      fromCache: valid.filter(({ isFromCache }) => isFromCache).length,
    },
    spread: [Math.min(...totals), Math.max(...totals)],
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
