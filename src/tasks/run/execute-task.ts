import { addUsage, noUsage, type Usage } from '../../models/chat-model.ts'
import { type Agent, type AgentAtWork, type AgentConversation, AgentFailure, errorMessage } from '../agent.ts'
import type { Control, Evidence, EvidenceEvent, SessionRecord } from '../evidence.ts'
import type { TaskSession } from '../parse/fields.ts'
import { instantiate } from '../parse/parse-task.ts'
import type { Task } from '../task.ts'
import type { TranscriptMessage } from '../transcript.ts'
import {
  keepTaskFile,
  keepWorkspace,
  prepareFolder,
  type SessionTranscript,
  writeEvidence,
  writeMergedTranscript,
  writeSessionTranscript,
} from './evidence-folder.ts'
import { observeFacts } from './objective-state.ts'
import { missingPrerequisite } from './process-group.ts'
import { type Listing, listFiles, makeWorkspace, removeMemory, type Workspace } from './workspace.ts'

export type Assignment = {
  /** The original task or the task with drawn values filled in; both give the same result. */
  readonly task: Task
  readonly agent: Agent
  /** The evidence folder. Created if missing; must not contain finished evidence. */
  readonly folder: string
  readonly repeat: number
  readonly seed: number
  readonly control: Control
  /** Aborted by Ctrl-C: the work stops, and the evidence so far is stored. */
  readonly signal: AbortSignal
  readonly now: () => Date
  /** Multiplies the task's time limit. Default 1. */
  readonly timeoutMultiplier?: number
  /** The search path for programs that a task needs. Default empty. */
  readonly searchPath?: string
  /** The folder for the workspace. Default: the system's temporary directory. */
  readonly temporary?: string
}

/** `startMs`: max time for an agent to report whether it can be used. `stopMs`: max time to end the processes that it started. */
const startMs = 60_000
const stopMs = 10_000
/** Max time after an abort for the work to end its processes and report what it did. */
const lateMs = 5_000
const interrupted = 'Interrupted.'

/** Carries out a task once. Failures become part of the evidence; only an unwritable folder is an error. */
export async function executeTask(assignment: Assignment): Promise<Evidence> {
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
    sessions: task.sessions.map(skippedSession),
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
  const starting = AbortSignal.any([signal, timeLimit(startMs)])
  const unavailable = await limitTime(starting, () => agent.unavailable()).catch(
    (error: unknown) => `The agent could not be reached: ${errorMessage(error)}`,
  )
  if (signal.aborted) return save({ outcome: 'infra_error', reason: interrupted })
  if (unavailable !== null) return save({ outcome: 'infra_error', reason: unavailable, isComplete: true })

  let workspace: Workspace
  try {
    workspace = await makeWorkspace(task, assignment.temporary)
  } catch (error) {
    return save({ outcome: 'infra_error', reason: errorMessage(error), isComplete: true })
  }
  const totalMs = task.timeoutSeconds * (assignment.timeoutMultiplier ?? 1) * 1000
  try {
    return await new Work({ ...assignment, task, totalMs, workspace: workspace.path }, save).run()
  } finally {
    await workspace.remove()
  }
}

const skippedSession = ({ id, prompt, isFresh }: TaskSession, index: number): SessionRecord => ({
  id,
  index,
  prompt,
  isFresh,
  outcome: 'not_reached',
  toolCalls: 0,
  usage: noUsage,
  conversationId: null,
  process: null,
  priorMessages: null,
  problem: null,
  answer: null,
  transcript: null,
  startedAt: null,
  endedAt: null,
})

/** A time limit. Longer times than a timer can have are shortened to 24 days. */
const timeLimit = (ms: number): AbortSignal => AbortSignal.timeout(Math.min(Math.ceil(ms), 2 ** 31 - 1))

/** Runs work until `limit` is aborted. Does not wait for work that ignores the limit. */
async function limitTime<Result>(limit: AbortSignal, work: (limit: AbortSignal) => Promise<Result>): Promise<Result> {
  limit.throwIfAborted()
  const { promise: late, reject } = Promise.withResolvers<never>()
  let timer: NodeJS.Timeout | undefined
  const waitForEnd = (): void => {
    timer = setTimeout(() => reject(limit.reason), lateMs)
  }
  limit.addEventListener('abort', waitForEnd, { once: true })
  try {
    const result = await Promise.race([work(limit), late])
    // An answer after the limit does not count.
    limit.throwIfAborted()
    return result
  } finally {
    limit.removeEventListener('abort', waitForEnd)
    clearTimeout(timer)
  }
}

type WorkAssignment = Assignment & { readonly totalMs: number; readonly workspace: string }
type SessionEnding = Pick<SessionRecord, 'outcome' | 'problem' | 'answer'>

class Work {
  readonly #assignment: WorkAssignment
  readonly #save: (changes: Partial<Evidence>) => Promise<Evidence>
  /** Aborted when the time of the task is used up. */
  readonly #overtime: AbortSignal
  readonly #records: SessionRecord[]
  readonly #transcripts: SessionTranscript[] = []
  readonly #events: EvidenceEvent[] = []
  readonly #conversationIds = new Set<string>()
  #outcome: Evidence['outcome'] = 'done'
  #reason: string | null = null
  #agent: AgentAtWork | null = null
  #conversation: AgentConversation | null = null
  #listing: Listing = { files: new Map(), others: [] }

  constructor(assignment: WorkAssignment, save: (changes: Partial<Evidence>) => Promise<Evidence>) {
    this.#assignment = assignment
    this.#save = save
    this.#overtime = timeLimit(assignment.totalMs)
    this.#records = assignment.task.sessions.map(skippedSession)
  }

  async run(): Promise<Evidence> {
    const { workspace, folder, task, now } = this.#assignment
    let problem: string | null
    try {
      await this.#runSessions()
    } finally {
      problem = await this.#stopAgent()
    }
    const session = this.#transcripts.at(-1)?.record.id ?? task.sessions[0]?.id ?? ''
    const at = now().toISOString()
    // Agents may delete files while they stop; such changes belong to the last session.
    await this.#noteChanges(session, at)
    const { kept, left } = await keepWorkspace({ workspace, folder }, this.#listing)
    this.#events.push(...left.map((file) => ({ kind: 'not_kept' as const, at, session, ...file })))
    return this.#save({
      ...this.#evidenceSoFar(),
      outcome: this.#outcome,
      reason: this.#reason ?? problem,
      isComplete: this.#reason !== interrupted,
      transcript: await writeMergedTranscript(folder, this.#transcripts),
      workspace: kept,
    })
  }

  async #runSessions(): Promise<void> {
    const { task, workspace, agent } = this.#assignment
    this.#listing = await listFiles(workspace)
    for (const session of task.sessions) await this.#readState(session, 'before')
    try {
      this.#agent = await this.#inTime((limit) => agent.start({ workspace, signal: limit }))
    } catch (error) {
      this.#fail(error, 'infra_error')
      return
    }
    for (const [index, session] of task.sessions.entries()) {
      await this.#runSession(session, index)
      await this.#save(this.#evidenceSoFar())
      if (this.#outcome !== 'done') return
    }
  }

  #inTime<Result>(work: (limit: AbortSignal) => Promise<Result>): Promise<Result> {
    return limitTime(AbortSignal.any([this.#assignment.signal, this.#overtime]), work)
  }

  async #runSession(session: TaskSession, index: number): Promise<void> {
    const { now, folder } = this.#assignment
    const startedAt = now().toISOString()
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
    const endedAt = now().toISOString()
    await this.#noteChanges(session.id, endedAt)
    await this.#readState(session, 'after')
    const record: SessionRecord = {
      ...skippedSession(session, index),
      ...ending,
      priorMessages,
      usage,
      startedAt,
      endedAt,
      conversationId: this.#conversation?.id ?? null,
      process: this.#conversation?.process ?? null,
      toolCalls: messages.flatMap<{ readonly type: string }>(({ content }) => content).filter(isToolCall).length,
    }
    this.#transcripts.push({ record, messages })
    this.#records[index] = { ...record, transcript: await writeSessionTranscript(folder, { record, messages }) }
  }

  /** The open conversation, or a new one for a fresh session. Conversations share only the workspace. */
  async #conversationFor(session: TaskSession, index: number): Promise<AgentConversation> {
    const { control, workspace, now } = this.#assignment
    const agent = this.#agent
    const previous = this.#conversation
    if (agent === null) throw new Error('Sessions come after the agent has started.')
    if (previous !== null && !session.isFresh) return previous
    this.#conversation = null
    if (previous !== null) await this.#inTime(() => previous.close())
    if (control === 'no-memory' && index > 0) {
      const paths = await removeMemory(workspace)
      this.#events.push({ kind: 'memory_removed', at: now().toISOString(), session: session.id, paths })
      this.#listing = await listFiles(workspace)
    }
    this.#conversation = await this.#inTime(() => agent.open())
    return this.#conversation
  }

  /** Throws if a fresh session would reuse a conversation, because every figure would then be meaningless. */
  #requireNew({ id, messageCount }: AgentConversation): void {
    if (messageCount() > 0) {
      throw new AgentFailure('infrastructure', `A new conversation already had ${messageCount()} messages.`)
    }
    if (this.#conversationIds.has(id)) {
      throw new AgentFailure('infrastructure', `A new conversation has the id "${id}" of an earlier one.`)
    }
    this.#conversationIds.add(id)
  }

  async #noteChanges(session: string, at: string): Promise<void> {
    const before = this.#listing.files
    this.#listing = await listFiles(this.#assignment.workspace)
    const after = this.#listing.files
    const written = [...after].filter(([path, { mark }]) => before.get(path)?.mark !== mark).map(([path]) => path)
    const removed = [...before.keys()].filter((path) => !after.has(path))
    if (written.length + removed.length > 0) this.#events.push({ kind: 'files_changed', at, session, written, removed })
  }

  /** Records the facts of the world that the task declares for a session. */
  async #readState({ id: session }: TaskSession, when: 'before' | 'after'): Promise<void> {
    const { task, workspace, searchPath = '', temporary, signal, now } = this.#assignment
    const own = task.stateChecks.filter((check) => check.session === session)
    if (own.length === 0) return
    const facts = await observeFacts(own, { workspace, searchPath, temporary, signal })
    this.#events.push({ kind: 'state_read', at: now().toISOString(), session, when, facts })
  }

  /** Classifies a failure. An unexpected error is a fault of the harness, not of the agent. */
  #fail(error: unknown, timeout: Evidence['outcome']): SessionEnding {
    const { signal, totalMs } = this.#assignment
    const isTimeout = !signal.aborted && this.#overtime.aborted
    if (signal.aborted) [this.#outcome, this.#reason] = ['infra_error', interrupted]
    else if (isTimeout) {
      this.#outcome = timeout
      this.#reason = `The time of ${totalMs / 1000} s for the whole task was used up.`
    } else {
      this.#outcome = error instanceof AgentFailure && error.fault === 'agent' ? 'agent_failed' : 'infra_error'
      this.#reason = errorMessage(error)
    }
    return { outcome: isTimeout ? 'timeout' : 'failed', problem: this.#reason, answer: null }
  }

  #evidenceSoFar(): Pick<Evidence, 'sessions' | 'events' | 'usage'> {
    const usage = this.#records.reduce((total, record) => addUsage(total, record.usage), noUsage)
    return { sessions: [...this.#records], events: [...this.#events], usage }
  }

  /** Returns the problem, or null. The answers of an agent that does not stop are kept anyway. */
  async #stopAgent(): Promise<string | null> {
    try {
      // A separate limit, because the task's time may be used up and its signal aborted.
      await limitTime(timeLimit(stopMs), async () => {
        try {
          await this.#conversation?.close()
        } finally {
          await this.#agent?.stop()
        }
      })
      return null
    } catch (error) {
      return `The agent did not stop cleanly: ${errorMessage(error)}`
    }
  }
}

const isToolCall = ({ type }: { readonly type: string }): boolean => type === 'toolCall'
