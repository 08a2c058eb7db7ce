import { noUsage } from '../../models/chat-model.ts'
import type { Agent } from '../agent.ts'
import type { Control, Evidence } from '../evidence.ts'
import { instantiate } from '../parse/draw.ts'
import type { Task } from '../task.ts'
import { keepTaskFile, prepareFolder, writeEvidence } from './evidence-folder.ts'
import { missingPrerequisite, type PrerequisitePlaces } from './prerequisites.ts'
import { notReached, sentenceOf } from './session-record.ts'
import { budgetOf, inTime } from './time-budget.ts'
import { interrupted, Work } from './work.ts'
import { makeWorkspace } from './workspace.ts'

export type Assignment = {
  /** As its file has it, or filled with what the seed draws: both give the same. */
  readonly task: Task
  readonly agent: Agent
  /** Where the evidence goes. Made when it is missing; must not hold finished evidence. */
  readonly folder: string
  /** Which repeat of the task this is, from 1. */
  readonly repeat: number
  readonly seed: number
  readonly control: Control
  /** Raised by Ctrl-C: everything is ended, and what there is by then is kept. */
  readonly signal: AbortSignal
  readonly now: () => Date
  /** Multiplies the time the task gives. Default 1. */
  readonly timeoutMultiplier?: number
  /** Where the task's prerequisites are looked for; without it only a task without any can be carried out. */
  readonly places?: PrerequisitePlaces
  /** Where the workspace is made while the agent works. Default the system's temporary directory. */
  readonly temporary?: string
}

/** How long an agent may take to say whether it can be used. */
const startMs = 60_000

/**
 * Carries out a task once: a fresh workspace, every session in turn, everything kept. Whatever goes wrong is in the
 * evidence that comes back; only a folder that cannot be written is an error.
 */
export async function carryOut(assignment: Assignment): Promise<Evidence> {
  const { agent, folder, repeat, seed, control, now, signal } = assignment
  const task = instantiate(assignment.task, seed)
  await prepareFolder(folder)
  const startedAt = now().toISOString()
  let evidence: Evidence = {
    schemaVersion: 1,
    taskId: task.id,
    taskFile: await keepTaskFile(task, folder),
    taskSha256: task.sha256,
    repeat,
    seed,
    control,
    agent: identityOf(agent),
    outcome: 'infra_error',
    reason: 'The work has not come to its end.',
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
    // Some agents know their version and model only once they have been asked.
    evidence = { ...evidence, ...changes, agent: identityOf(agent), endedAt: now().toISOString() }
    await writeEvidence(folder, evidence)
    return evidence
  }

  await save({})
  const places = assignment.places ?? { searchPath: '', workingDirectory: folder }
  const missing = await missingPrerequisite(task.prerequisites, places)
  if (missing !== null) return save({ outcome: 'skipped', reason: missing, isComplete: true })
  const reason = await whyUnavailable(agent, signal)
  if (signal.aborted) return save({ outcome: 'infra_error', reason: interrupted })
  if (reason !== null) return save({ outcome: 'infra_error', reason, isComplete: true })

  let workspace: Awaited<ReturnType<typeof makeWorkspace>>
  try {
    workspace = await makeWorkspace(task, assignment.temporary)
  } catch (error) {
    return save({ outcome: 'infra_error', reason: sentenceOf(error), isComplete: true })
  }
  const budget = budgetOf(task.timeoutSeconds * (assignment.timeoutMultiplier ?? 1) * 1000)
  try {
    const work = new Work({ task, agent, control, now, signal, folder, budget, workspace: workspace.path }, save)
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

const identityOf = ({ name, version, model }: Agent): Evidence['agent'] => ({ name, version, model })

async function whyUnavailable(agent: Agent, signal: AbortSignal): Promise<string | null> {
  try {
    return await inTime(budgetOf(startMs), signal, () => agent.unavailable())
  } catch (error) {
    return `The agent could not be reached: ${sentenceOf(error)}`
  }
}
