import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Agent, AgentFailure, type Turn } from '../agent.ts'
import type { Evidence, EvidenceEvent, SessionRecord } from '../evidence.ts'
import { containedPath } from '../parse/fields.ts'
import { readEvidence, readKept, readTranscript } from '../run/read-evidence.ts'
import type { TranscriptMessage } from '../transcript.ts'
import { inProcess } from './in-process.ts'

/**
 * Replays a recorded run: says and writes in every session what the agent of the record said and wrote there. Grades
 * that differ from the record's are then the grader's doing.
 */
export function scriptedAgent(folder: string): Agent {
  return {
    name: 'scripted',
    version: '1',
    model: null,
    unavailable: async () => {
      try {
        await readEvidence(folder)
        return null
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
    },
    start: async ({ workspace }) => {
      const evidence = await readEvidence(folder)
      let next = 0
      return inProcess((prompt) => {
        const session = evidence.sessions[next]
        next += 1
        return replay({ folder, evidence, session, prompt, workspace })
      })
    },
  }
}

type Replay = {
  readonly folder: string
  readonly evidence: Evidence
  readonly session: SessionRecord | undefined
  readonly prompt: string
  readonly workspace: string
}

async function replay({ folder, evidence, session, prompt, workspace }: Replay): Promise<Turn> {
  if (session === undefined || session.outcome === 'not_reached' || session.transcript === null) {
    throw new AgentFailure('infrastructure', `The record in ${folder} does not reach this session.`)
  }
  if (session.prompt !== prompt) {
    throw new AgentFailure(
      'infrastructure',
      `The record in ${folder} answers another prompt in the session "${session.id}"; the task or the seed is not the same.`,
    )
  }
  const said = await messagesIn(folder, session)
  for (const event of evidence.events.filter((event) => belongsTo(event, session))) {
    await redo(event, folder, workspace)
  }
  if (session.outcome !== 'answered' || session.answer === null) {
    const details = { messages: said, usage: session.usage }
    throw new AgentFailure('agent', session.problem ?? 'The recorded session failed.', details)
  }
  return { messages: said, answer: session.answer, usage: session.usage }
}

/** What came after the prompt. */
async function messagesIn(folder: string, { transcript }: SessionRecord): Promise<readonly TranscriptMessage[]> {
  if (transcript === null) return []
  const entries = await readTranscript(folder, transcript)
  return entries.flatMap((entry) => (entry.type === 'message' ? [entry.message] : [])).slice(1)
}

const belongsTo = (event: EvidenceEvent, { id }: SessionRecord): boolean =>
  event.kind === 'files_changed' && event.session === id

async function redo(event: EvidenceEvent, folder: string, workspace: string): Promise<void> {
  if (event.kind !== 'files_changed') return
  const inside = (path: string): string => {
    if (containedPath(path) !== path) {
      throw new AgentFailure('infrastructure', `The record in ${folder} writes to "${path}", outside the workspace.`)
    }
    return join(workspace, path)
  }
  for (const path of event.removed) await rm(inside(path), { force: true })
  for (const { path, kept } of event.written) {
    await mkdir(dirname(inside(path)), { recursive: true })
    await writeFile(inside(path), await readKept(folder, kept))
  }
}
