import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { noUsage } from '../models/chat-model.ts'
import type { Agent, Turn } from './agent.ts'
import { inProcess, toolUse } from './agents/in-process.ts'
import { checksOf } from './grade/answer-checks.ts'
import type { AnswerCheck, Task } from './task.ts'
import type { TranscriptMessage } from './transcript.ts'

const memoryFile = 'memory/MEMORY.md'

/**
 * Knows what is expected and says it: it writes down every prompt word for word and answers with what the checks look
 * for. What it does not reach, no agent can; below 1 there is something wrong with the checks.
 */
export function oracleFor(task: Task): Agent {
  const checks = checksOf(task)
  return {
    name: 'oracle',
    version: '1',
    model: null,
    unavailable: async () => null,
    start: async ({ workspace }) => {
      let next = 0
      const heard: string[] = []
      return inProcess((prompt) => {
        const session = task.sessions[next]
        next += 1
        heard.push(prompt)
        const own = checks.filter((check) => check.session === session?.id)
        return turnOf({ workspace, heard, checks: own })
      })
    },
  }
}

type Moment = {
  readonly workspace: string
  readonly heard: readonly string[]
  readonly checks: readonly AnswerCheck[]
}

async function turnOf({ workspace, heard, checks }: Moment): Promise<Turn> {
  const file = join(workspace, memoryFile)
  const before = await readFile(file, 'utf8').catch(() => null)
  await mkdir(dirname(file), { recursive: true })
  const content = `# Memory\n\n${heard.join('\n\n')}\n`
  await writeFile(file, content)
  const answer = answerTo(checks)
  const messages: TranscriptMessage[] = [
    ...(before === null ? [] : toolUse('read_file', { path: memoryFile }, before)),
    ...toolUse('write_file', { path: memoryFile, content }, 'written'),
    { role: 'assistant', content: [{ type: 'text', text: answer }], stopReason: 'stop' },
  ]
  return { messages, answer, usage: noUsage }
}

function answerTo(checks: readonly AnswerCheck[]): string {
  const facts = checks.flatMap(({ expect }) => expect.map((ways) => `- ${ways[0]}`))
  const lines = [
    `I have saved this to ${memoryFile}.`,
    ...new Set(facts),
    ...(checks.some(({ mustNotKnow }) => mustNotKnow) ? ['I do not know the rest: nobody told me.'] : []),
  ]
  return lines.join('\n')
}
