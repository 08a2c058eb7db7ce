import { readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { noUsage, type Usage } from '../../models/chat-model.ts'
import { type AgentAtWork, AgentFailure, type Conversation } from '../agent.ts'
import type { Evidence, EvidenceEvent, SessionRecord } from '../evidence.ts'
import type { TaskSession } from '../task.ts'
import type { TranscriptMessage } from '../transcript.ts'
import type { Assignment } from './carry-out.ts'
import {
  keepChanges,
  keepWorkspace,
  type Noticed,
  writeMergedTranscript,
  writeSessionTranscript,
} from './evidence-folder.ts'
import { type Listing, listFiles } from './keep-files.ts'
import { notReached, sentenceOf, totalOf } from './session-record.ts'
import { type Budget, budgetOf, inTime } from './time-budget.ts'
import { type TranscribedSession, toolCallsIn } from './transcript-of.ts'

/** How long an agent may take to end what it started. */
const stopMs = 10_000
export const interrupted = 'Interrupted.'

type Circumstances = Pick<Assignment, 'task' | 'agent' | 'control' | 'now' | 'signal' | 'folder'> & {
  readonly budget: Budget
  readonly workspace: string
}

/** One task being carried out: sessions in turn, until one of them does not come to an answer. */
export class Work {
  readonly #given: Circumstances
  readonly #save: (changes: Partial<Evidence>) => Promise<Evidence>
  readonly #records: SessionRecord[]
  readonly #transcribed: TranscribedSession[] = []
  readonly #events: EvidenceEvent[] = []
  readonly #conversationIds = new Set<string>()
  #outcome: Evidence['outcome'] = 'done'
  #reason: string | null = null
  #isInterrupted = false
  #agent: AgentAtWork | null = null
  #conversation: Conversation | null = null
  #listing: Listing = { files: new Map(), others: [] }

  constructor(given: Circumstances, save: (changes: Partial<Evidence>) => Promise<Evidence>) {
    this.#given = given
    this.#save = save
    this.#records = given.task.sessions.map(notReached)
  }

  async run(): Promise<void> {
    const { task, workspace, agent, budget, signal } = this.#given
    this.#listing = await listFiles(workspace)
    try {
      this.#agent = await inTime(budget, signal, (limit) => agent.start({ workspace, signal: limit }))
    } catch (error) {
      this.#end(error, false)
      return
    }
    for (const [index, session] of task.sessions.entries()) {
      await this.#session(session, index)
      const { sessions, events, usage } = this.#soFar()
      await this.#save({ sessions, events, usage })
      if (this.#outcome !== 'done') return
    }
  }

  async #session(session: TaskSession, index: number): Promise<void> {
    const { budget, signal, now } = this.#given
    const startedAt = now().toISOString()
    const deadlineMs = Math.max(0, Math.round(budget.leftMs()))
    const messages: TranscriptMessage[] = [{ role: 'user', content: [{ type: 'text', text: session.prompt }] }]
    let priorMessages: number | null = null
    let usage: Usage = noUsage
    let ending: Pick<SessionRecord, 'outcome' | 'problem' | 'answer'>
    try {
      if (session.isFresh || this.#conversation === null) await this.#begin(session, index)
      const conversation = this.#conversation
      if (conversation === null) throw new Error('A session has a conversation once it has begun.')
      priorMessages = conversation.messageCount()
      this.#refuseStale(session, index, priorMessages)
      const turn = await inTime(budget, signal, (limit) => conversation.send(session.prompt, limit))
      messages.push(...turn.messages)
      usage = turn.usage
      ending = { outcome: 'answered', problem: null, answer: turn.answer }
    } catch (error) {
      if (error instanceof AgentFailure) {
        messages.push(...error.messages)
        usage = error.usage
      }
      ending = this.#end(error, true)
    }
    const endedAt = now().toISOString()
    await this.#noticeChanges({ session: session.id, at: endedAt, below: String(index + 1).padStart(2, '0') })
    await this.#record({ session, index, startedAt, endedAt, deadlineMs, priorMessages, usage, messages, ...ending })
  }

  /** Opens a new conversation, and closes the one before: the two share the workspace and nothing else. */
  async #begin(session: TaskSession, index: number): Promise<void> {
    const { budget, signal, control, workspace, now } = this.#given
    const agent = this.#agent
    if (agent === null) throw new Error('Sessions come after the agent has started.')
    const previous = this.#conversation
    this.#conversation = null
    if (previous !== null) await inTime(budget, signal, () => previous.close())
    if (control === 'no-memory' && index > 0) {
      const paths = await removeMemory(workspace)
      this.#events.push({ kind: 'memory_removed', at: now().toISOString(), session: session.id, paths })
      this.#listing = await listFiles(workspace)
    }
    this.#conversation = await inTime(budget, signal, () => agent.open())
  }

  /** A fresh session that is none would make every later figure worthless, so it is not sent at all. */
  #refuseStale(session: TaskSession, index: number, priorMessages: number): void {
    const id = this.#conversation?.id ?? ''
    if (!session.isFresh && index > 0) return
    if (priorMessages > 0) {
      throw new AgentFailure('infrastructure', `A new conversation already held ${priorMessages} messages.`)
    }
    if (this.#conversationIds.has(id)) {
      throw new AgentFailure('infrastructure', `A new conversation has the id "${id}" of an earlier one.`)
    }
    this.#conversationIds.add(id)
  }

  async #noticeChanges(noticed: Noticed): Promise<void> {
    const { workspace, folder } = this.#given
    const after = await listFiles(workspace)
    this.#events.push(...(await keepChanges({ workspace, folder }, { before: this.#listing, after }, noticed)))
    this.#listing = after
  }

  async #record(
    given: Pick<
      SessionRecord,
      'outcome' | 'problem' | 'answer' | 'index' | 'deadlineMs' | 'priorMessages' | 'usage'
    > & {
      readonly session: TaskSession
      readonly startedAt: string
      readonly endedAt: string
      readonly messages: readonly TranscriptMessage[]
    },
  ): Promise<void> {
    const { session, messages, ...rest } = given
    const { index, startedAt, endedAt } = rest
    const conversationId = this.#conversation?.id ?? null
    const transcribed = {
      index,
      startedAt,
      endedAt,
      messages,
      boundary: {
        session: session.id,
        conversationId: conversationId ?? '',
        isFresh: session.isFresh,
        priorMessages: given.priorMessages ?? 0,
      },
    }
    this.#transcribed.push(transcribed)
    this.#records[index] = {
      ...rest,
      id: session.id,
      prompt: session.prompt,
      isFresh: session.isFresh,
      conversationId,
      process: this.#conversation?.process ?? null,
      transcript: await writeSessionTranscript(this.#given.folder, transcribed),
      toolCalls: toolCallsIn(messages),
    }
  }

  /** Sorts what went wrong. What nobody expected is the apparatus's fault, never the agent's. */
  #end(error: unknown, inSession: boolean): Pick<SessionRecord, 'outcome' | 'problem' | 'answer'> {
    const { budget, signal } = this.#given
    if (signal.aborted) {
      this.#isInterrupted = true
      this.#outcome = 'infra_error'
      this.#reason = interrupted
      return { outcome: 'failed', problem: this.#reason, answer: null }
    }
    if (budget.leftMs() <= 0) {
      this.#outcome = inSession ? 'agent_timeout' : 'infra_error'
      this.#reason = `The time of ${budget.totalMs / 1000} s for the whole task was used up.`
      return { outcome: 'timeout', problem: this.#reason, answer: null }
    }
    const isAgents = error instanceof AgentFailure && error.fault === 'agent'
    this.#outcome = isAgents ? 'agent_failed' : 'infra_error'
    this.#reason = sentenceOf(error)
    return { outcome: 'failed', problem: this.#reason, answer: null }
  }

  #soFar(): Pick<Evidence, 'sessions' | 'events' | 'usage'> {
    return { sessions: [...this.#records], events: [...this.#events], usage: totalOf(this.#records) }
  }

  /** Keeps what lies in the workspace. Comes after the agent has ended, so that nothing changes any more. */
  async close(stopped: string | null): Promise<Partial<Evidence>> {
    const { workspace, folder, task, now } = this.#given
    const last = this.#transcribed.at(-1)
    const [first] = task.sessions
    const session = last?.boundary.session ?? first?.id ?? ''
    const at = now().toISOString()
    // Agents may tidy up while they end, and that belongs to the last session.
    if (last !== undefined) {
      await this.#noticeChanges({ session, at, below: 'end' })
    }
    const kept = await keepWorkspace({ workspace, folder }, this.#listing, { at, session })
    this.#events.push(...kept.events)
    return {
      ...this.#soFar(),
      outcome: this.#outcome,
      reason: this.#reason ?? stopped,
      isComplete: !this.#isInterrupted,
      transcript: await writeMergedTranscript(folder, this.#transcribed),
      workspace: kept.files,
    }
  }

  /** Null when all went well. An agent that does not end does not undo what it answered. */
  async stop(): Promise<string | null> {
    const conversation = this.#conversation
    const agent = this.#agent
    try {
      // The time of the task may be used up, and an interrupt may have come: ending gets its own time.
      await inTime(budgetOf(stopMs), new AbortController().signal, async () => {
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
}

/** Takes away what an agent could remember by: `memory/`, a MEMORY.md and any store of Credence. Says what was there. */
async function removeMemory(workspace: string): Promise<readonly string[]> {
  const atTop = (await readdir(workspace)).filter((name) => /^(?:memory|memory\.md|\.credence)$/iu.test(name))
  const { files } = await listFiles(workspace)
  const stores = [...files.keys()].filter((path) => /^credence\.db(?:-wal|-shm|-journal)?$/u.test(basename(path)))
  const below = stores.filter((path) => !atTop.includes(path.split('/')[0] ?? ''))
  const paths = [...atTop, ...below].toSorted()
  for (const path of paths) await rm(join(workspace, path), { recursive: true, force: true })
  return paths
}
