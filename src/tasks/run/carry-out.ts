import { MemoryError } from '../../errors.ts'
import { addUsage, noUsage, type Usage } from '../../models/chat-model.ts'
import { type Agent, type AgentAtWork, AgentFailure, type Conversation } from '../agent.ts'
import type { Control, Evidence, EvidenceEvent, SessionRecord } from '../evidence.ts'
import { instantiate } from '../parse/draw.ts'
import type { Task, TaskSession } from '../task.ts'
import type { TranscriptMessage } from '../transcript.ts'
import {
  keepTaskFile,
  keepWorkspace,
  prepareFolder,
  type TranscribedSession,
  writeEvidence,
  writeMergedTranscript,
  writeSessionTranscript,
} from './evidence-folder.ts'
import { missingPrerequisite } from './process-group.ts'
import { type Listing, listFiles, makeWorkspace, removeMemory, type Workspace } from './workspace.ts'

export type Assignment = {
  /** As its file has it, or with the drawn values filled in: both give the same. */
  readonly task: Task
  readonly agent: Agent
  /** The folder of the evidence. Created when missing; must not hold finished evidence. */
  readonly folder: string
  readonly repeat: number
  readonly seed: number
  readonly control: Control
  /** Aborted by Ctrl-C: the work ends, and the evidence so far is kept. */
  readonly signal: AbortSignal
  readonly now: () => Date
  /** Multiplies the task's time limit. Default 1. */
  readonly timeoutMultiplier?: number
  /** Where programs are looked for that a task needs. Default nowhere. */
  readonly searchPath?: string
  /** Where the workspace is made. Default the system's temporary directory. */
  readonly temporary?: string
}

/** How long an agent may take to say whether it can be used, and to end the processes it started. */
const startMs = 60_000
const stopMs = 10_000
/** After an abort the work has this long to end its processes and to report what it did. */
const lateMs = 5_000
const interrupted = 'Interrupted.'

/**
 * Carries out a task once: a new workspace, every session in order, everything kept. Failures are part of the returned
 * evidence; only a folder that cannot be written is an error.
 */
export async function carryOut(assignment: Assignment): Promise<Evidence> {
  const { agent, folder, repeat, seed, control, now, signal } = assignment
  const task = instantiate(assignment.task, seed)
  await prepareFolder(folder)
  const startedAt = now().toISOString()
  const identity = (): Evidence['agent'] => ({ name: agent.name, version: agent.version, model: agent.model })
  let evidence: Evidence = {
    schemaVersion: 2,
    taskId: task.id,
    taskFile: await keepTaskFile(task, folder),
    taskSha256: task.sha256,
    repeat,
    seed,
    control,
    agent: identity(),
    outcome: 'infra_error',
    reason: 'The work has not ended.',
    isComplete: false,
    startedAt,
    endedAt: startedAt,
    sessions: task.sessions.map(notReached),
    transcript: null,
    workspace: [],
    events: [],
    usage: noUsage,
  }
  const save = async (changes: Partial<Evidence>): Promise<Evidence> => {
    // Some agents know their version and model only after the first answer.
    evidence = { ...evidence, ...changes, agent: identity(), endedAt: now().toISOString() }
    await writeEvidence(folder, evidence)
    return evidence
  }

  await save({})
  const missing = await missingPrerequisite(task.prerequisites, assignment.searchPath ?? '')
  if (missing !== null) return save({ outcome: 'skipped', reason: missing, isComplete: true })
  const unavailable = await inTime(deadlineIn(startMs), signal, () => agent.unavailable()).catch(
    (error: unknown) => `The agent could not be reached: ${sentenceOf(error)}`,
  )
  if (signal.aborted) return save({ outcome: 'infra_error', reason: interrupted })
  if (unavailable !== null) return save({ outcome: 'infra_error', reason: unavailable, isComplete: true })

  let workspace: Workspace
  try {
    workspace = await makeWorkspace(task, assignment.temporary)
  } catch (error) {
    return save({ outcome: 'infra_error', reason: sentenceOf(error), isComplete: true })
  }
  const totalMs = task.timeoutSeconds * (assignment.timeoutMultiplier ?? 1) * 1000
  try {
    const work = new Work({ ...assignment, task, totalMs, workspace: workspace.path }, save)
    let stopped: string | null
    try {
      await work.run()
    } finally {
      stopped = await work.stop()
    }
    return await save(await work.close(stopped))
  } finally {
    await workspace.remove()
  }
}

const notReached = ({ id, prompt, isFresh }: TaskSession, index: number): SessionRecord => ({
  ...{ id, index, prompt, isFresh, outcome: 'not_reached', toolCalls: 0, usage: noUsage },
  ...{ conversationId: null, process: null, priorMessages: null, problem: null, answer: null },
  ...{ transcript: null, startedAt: null, endedAt: null },
})

const sentenceOf = (error: unknown): string => {
  if (error instanceof MemoryError && error.hint !== undefined) return `${error.message} ${error.hint}`
  return error instanceof Error ? error.message : String(error)
}

/** On the clock of `performance.now()`. */
const deadlineIn = (ms: number): number => performance.now() + ms

/** Does something before a deadline. Work that ignores `limit` is not waited for. */
async function inTime<Result>(
  deadline: number,
  signal: AbortSignal,
  work: (limit: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const over = new AbortController()
  const end = (): void => over.abort(new DOMException('The time is used up.', 'TimeoutError'))
  const limit = AbortSignal.any([signal, over.signal])
  const leftMs = deadline - performance.now()
  if (leftMs <= 0) end()
  limit.throwIfAborted()
  // Timers beyond 31 bits fire at once.
  const timers = [setTimeout(end, Math.min(leftMs, 2 ** 31 - 1))]
  try {
    const late = new Promise<never>((_, reject) => {
      limit.addEventListener('abort', () => timers.push(setTimeout(() => reject(limit.reason), lateMs)), { once: true })
    })
    const result = await Promise.race([work(limit), late])
    // An answer after the deadline does not count.
    limit.throwIfAborted()
    return result
  } finally {
    for (const timer of timers) clearTimeout(timer)
  }
}

type Circumstances = Assignment & { readonly totalMs: number; readonly workspace: string }
type SessionEnding = Pick<SessionRecord, 'outcome' | 'problem' | 'answer'>

/** One task being carried out: session after session, until one of them fails. */
class Work {
  readonly #given: Circumstances
  readonly #save: (changes: Partial<Evidence>) => Promise<Evidence>
  readonly #deadline: number
  readonly #records: SessionRecord[]
  readonly #transcribed: TranscribedSession[] = []
  readonly #events: EvidenceEvent[] = []
  readonly #conversationIds = new Set<string>()
  #outcome: Evidence['outcome'] = 'done'
  #reason: string | null = null
  #agent: AgentAtWork | null = null
  #conversation: Conversation | null = null
  #listing: Listing = { files: new Map(), others: [] }

  constructor(given: Circumstances, save: (changes: Partial<Evidence>) => Promise<Evidence>) {
    this.#given = given
    this.#save = save
    this.#deadline = deadlineIn(given.totalMs)
    this.#records = given.task.sessions.map(notReached)
  }

  async run(): Promise<void> {
    const { task, workspace, agent } = this.#given
    this.#listing = await listFiles(workspace)
    try {
      this.#agent = await this.#inTime((limit) => agent.start({ workspace, signal: limit }))
    } catch (error) {
      this.#fail(error, 'infra_error')
      return
    }
    for (const [index, session] of task.sessions.entries()) {
      await this.#session(session, index)
      await this.#save(this.#soFar())
      if (this.#outcome !== 'done') return
    }
  }

  #inTime<Result>(work: (limit: AbortSignal) => Promise<Result>): Promise<Result> {
    return inTime(this.#deadline, this.#given.signal, work)
  }

  async #session(session: TaskSession, index: number): Promise<void> {
    const startedAt = this.#given.now().toISOString()
    const messages: TranscriptMessage[] = [{ role: 'user', content: [{ type: 'text', text: session.prompt }] }]
    let priorMessages: number | null = null
    let usage: Usage = noUsage
    let ending: SessionEnding
    try {
      const conversation = await this.#conversationFor(session, index)
      priorMessages = conversation.messageCount()
      if (session.isFresh || index === 0) this.#requireNew(conversation)
      const turn = await this.#inTime((limit) => conversation.send(session.prompt, limit))
      messages.push(...turn.messages)
      usage = turn.usage
      ending = { outcome: 'answered', problem: null, answer: turn.answer }
    } catch (error) {
      if (error instanceof AgentFailure) {
        messages.push(...error.messages)
        usage = error.usage
      }
      ending = this.#fail(error, 'agent_timeout')
    }
    const endedAt = this.#given.now().toISOString()
    await this.#noteChanges(session.id, endedAt)
    const conversationId = this.#conversation?.id ?? null
    const transcribed: TranscribedSession = {
      ...{ index, startedAt, endedAt, messages },
      boundary: {
        session: session.id,
        conversationId: conversationId ?? '',
        isFresh: session.isFresh,
        priorMessages: priorMessages ?? 0,
      },
    }
    this.#transcribed.push(transcribed)
    this.#records[index] = {
      ...notReached(session, index),
      ...ending,
      ...{ conversationId, priorMessages, usage, startedAt, endedAt },
      process: this.#conversation?.process ?? null,
      transcript: await writeSessionTranscript(this.#given.folder, transcribed),
      toolCalls: messages.flatMap<{ readonly type: string }>(({ content }) => content).filter(isToolCall).length,
    }
  }

  /** The open conversation, or a new one for a fresh session: two conversations share the workspace and nothing else. */
  async #conversationFor(session: TaskSession, index: number): Promise<Conversation> {
    const { control, workspace, now } = this.#given
    const [agent, previous] = [this.#agent, this.#conversation]
    if (agent === null) throw new Error('Sessions come after the agent has started.')
    if (previous !== null && !session.isFresh) return previous
    this.#conversation = null
    if (previous !== null) await this.#inTime(() => previous.close())
    if (control === 'no-memory' && index > 0) {
      const paths = await removeMemory(workspace)
      this.#events.push({ kind: 'memory_removed', at: now().toISOString(), session: session.id, paths })
      this.#listing = await listFiles(workspace)
    }
    const opened = await this.#inTime(() => agent.open())
    this.#conversation = opened
    return opened
  }

  /** A fresh session in an old conversation would make every figure worthless, so its prompt is not sent. */
  #requireNew({ id, messageCount }: Conversation): void {
    if (messageCount() > 0) {
      throw new AgentFailure('infrastructure', `A new conversation already held ${messageCount()} messages.`)
    }
    if (this.#conversationIds.has(id)) {
      throw new AgentFailure('infrastructure', `A new conversation has the id "${id}" of an earlier one.`)
    }
    this.#conversationIds.add(id)
  }

  async #noteChanges(session: string, at: string): Promise<void> {
    const before = this.#listing.files
    this.#listing = await listFiles(this.#given.workspace)
    const after = this.#listing.files
    const written = [...after].filter(([path, { mark }]) => before.get(path)?.mark !== mark).map(([path]) => path)
    const removed = [...before.keys()].filter((path) => !after.has(path))
    if (written.length + removed.length > 0) this.#events.push({ kind: 'files_changed', at, session, written, removed })
  }

  /** Classifies a failure. An unexpected error is a fault of the harness, never of the agent. */
  #fail(error: unknown, timeout: Evidence['outcome']): SessionEnding {
    const { signal, totalMs } = this.#given
    const isTimeout = !signal.aborted && this.#deadline <= performance.now()
    const isAgents = error instanceof AgentFailure && error.fault === 'agent'
    this.#outcome = signal.aborted ? 'infra_error' : isTimeout ? timeout : isAgents ? 'agent_failed' : 'infra_error'
    this.#reason = signal.aborted
      ? interrupted
      : isTimeout
        ? `The time of ${totalMs / 1000} s for the whole task was used up.`
        : sentenceOf(error)
    return { outcome: isTimeout ? 'timeout' : 'failed', problem: this.#reason, answer: null }
  }

  #soFar(): Pick<Evidence, 'sessions' | 'events' | 'usage'> {
    const usage = this.#records.reduce((total, record) => addUsage(total, record.usage), noUsage)
    return { sessions: [...this.#records], events: [...this.#events], usage }
  }

  /** Null when all went well. An agent that does not end keeps its answers. */
  async stop(): Promise<string | null> {
    const [conversation, agent] = [this.#conversation, this.#agent]
    try {
      // Independent of the task's time and of an interrupt, which may both be over.
      await inTime(deadlineIn(stopMs), new AbortController().signal, async () => {
        try {
          await conversation?.close()
        } finally {
          await agent?.stop()
        }
      })
      return null
    } catch (error) {
      return `The agent did not end in order: ${sentenceOf(error)}`
    }
  }

  /** Keeps the workspace. Comes after the agent has ended, so that nothing changes any more. */
  async close(stopped: string | null): Promise<Partial<Evidence>> {
    const { workspace, folder, task, now } = this.#given
    const session = this.#transcribed.at(-1)?.boundary.session ?? task.sessions[0]?.id ?? ''
    const at = now().toISOString()
    // Agents may tidy up while they end, which belongs to the last session.
    await this.#noteChanges(session, at)
    const { kept, left } = await keepWorkspace({ workspace, folder }, this.#listing)
    this.#events.push(...left.map((file) => ({ kind: 'not_kept' as const, at, session, ...file })))
    return {
      ...this.#soFar(),
      outcome: this.#outcome,
      reason: this.#reason ?? stopped,
      isComplete: this.#reason !== interrupted,
      transcript: await writeMergedTranscript(folder, this.#transcribed),
      workspace: kept,
    }
  }
}

const isToolCall = ({ type }: { readonly type: string }): boolean => type === 'toolCall'
