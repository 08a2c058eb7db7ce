import type { Evidence, SessionRecord } from '../evidence.ts'
import { workspaceTexts } from '../grade/workspace-texts.ts'
import { readTranscript } from '../run/read-evidence.ts'
import type { TranscriptMessage } from '../transcript.ts'

/** What a judge is shown of a task carried out. Everything that was left out is said in `cuts`. */
export type JudgedMaterial = { readonly sessions: string; readonly workspace: string; readonly cuts: readonly string[] }

/** In characters. Large enough that ordinary tasks are shown whole. */
export type MaterialLimits = { readonly message: number; readonly file: number; readonly total: number }

export const defaultMaterialLimits: MaterialLimits = { message: 20_000, file: 40_000, total: 400_000 }

/** Gathers prompts, boundaries, answers, tool calls and files, in order. */
export async function judgedMaterial(
  evidence: Evidence,
  folder: string,
  limits: MaterialLimits = defaultMaterialLimits,
): Promise<JudgedMaterial> {
  const cuts: string[] = []
  let left = limits.total
  /** Cuts what is too long, and says so in the text itself and in the list. */
  const shown = (text: string, most: number, what: string): string => {
    const room = Math.min(most, Math.max(0, left))
    if (text.length <= room) {
      left -= text.length
      return text
    }
    left -= room
    const note = `${what}: ${room} of ${text.length} characters are shown`
    cuts.push(note)
    return `${text.slice(0, room)}\n[cut here: ${note}]`
  }
  const sessions: string[] = []
  for (const session of evidence.sessions) sessions.push(await sessionText(session, folder, limits, shown))
  const files: string[] = []
  for (const { path, bytes, sha256, text } of await workspaceTexts(folder, evidence)) {
    const title = `File ${path} (${bytes} bytes, sha256 ${sha256.slice(0, 16)})`
    files.push(
      text === null ? `${title}: not text, not shown` : `${title}:\n${shown(text, limits.file, `file ${path}`)}`,
    )
  }
  return { sessions: sessions.join('\n\n'), workspace: files.length === 0 ? 'No files.' : files.join('\n\n'), cuts }
}

type Show = (text: string, most: number, what: string) => string

async function sessionText(
  session: SessionRecord,
  folder: string,
  limits: MaterialLimits,
  shown: Show,
): Promise<string> {
  const { index, id, isFresh, priorMessages, outcome, problem, transcript, prompt } = session
  const kind =
    isFresh && index > 0
      ? `FRESH SESSION: a new conversation, ${priorMessages ?? 'unknown'} earlier messages in it; only the workspace is the same`
      : index === 0
        ? 'first session'
        : 'the same conversation goes on'
  const head = `=== Session ${index + 1} "${id}" (${kind}; ${outcome}${problem === null ? '' : `: ${problem}`}) ===`
  if (transcript === null)
    return `${head}\nPrompt: ${shown(prompt, limits.message, `prompt of session ${id}`)}\n(no record)`
  const entries = await readTranscript(folder, transcript)
  const lines = entries.flatMap((entry) =>
    entry.type === 'message' ? messageText(entry.message, limits, shown, id) : [],
  )
  return [head, ...lines].join('\n')
}

function messageText(
  message: TranscriptMessage,
  limits: MaterialLimits,
  shown: Show,
  session: string,
): readonly string[] {
  const say = (label: string, text: string): string =>
    `${label}: ${shown(text, limits.message, `${label} in session ${session}`)}`
  if (message.role === 'user') return message.content.map(({ text }) => say('Prompt', text))
  if (message.role === 'toolResult') {
    const label = message.isError ? `Tool error from ${message.toolName}` : `Tool result from ${message.toolName}`
    return message.content.map(({ text }) => say(label, text))
  }
  return message.content.flatMap((block) => {
    if (block.type === 'text') return [say('Agent', block.text)]
    if (block.type === 'toolCall') return [say(`Tool call ${block.name}`, JSON.stringify(block.arguments))]
    return [`(the agent's thinking, ${block.thinking.length} characters, is not judged)`]
  })
}
