import { join } from 'node:path'
import type { Memory } from '../../memory/memory.ts'
import { noUsage } from '../../models/chat-model.ts'
import { sentencesOf } from '../../search/sentences.ts'
import { findSentencesHolding } from '../../search/turns/sentences-holding.ts'
import { wantedTerms } from '../../search/turns/terms.ts'
import { pointsOf } from '../../search/turns/word-points.ts'
import { type Agent, type AgentTurn, inProcessAgent, toolUse } from '../agent.ts'
import type { TranscriptMessage } from '../transcript.ts'
import { fileTools, useTool } from './tools.ts'

/** The default notes file and the memory directory, both in the workspace. */
const notesFile = 'memory/MEMORY.md'
const memoryDirectory = 'memory/credence'
const maxQuotes = 5
const maxSentences = 3

/**
 * A fixture, not a product: an agent without a model or language rules. It stores every message verbatim, and answers every
 * question with the sentences that a search of the memory returns.
 */
export const referenceAgent = ({ openMemory }: { readonly openMemory: (dir: string) => Promise<Memory> }): Agent => ({
  name: 'reference',
  version: '3',
  model: null,
  unavailable: async () => null,
  start: async ({ workspace }) =>
    inProcessAgent(async (prompt, { id, signal }) => {
      signal.throwIfAborted()
      const memory = await openMemory(join(workspace, memoryDirectory))
      try {
        return await takeTurn(prompt, { workspace, memory, session: id })
      } finally {
        await memory.close()
      }
    }),
})

type Surroundings = { readonly workspace: string; readonly memory: Memory; readonly session: string }

async function takeTurn(prompt: string, { workspace, memory, session }: Surroundings): Promise<AgentTurn> {
  const messages: TranscriptMessage[] = []
  const files = [...new Set(prompt.match(/[\p{L}\d_./-]+\.md\b/gu))]
  const { questions, isOnlyQuestions } = readMessage(prompt)
  // Searched before the message is stored, so that the search does not find the message itself.
  const found: string[] = []
  for (const question of questions) found.push((await search(question)) || 'I do not know.')
  if (questions.length === 0) found.push(await search(prompt))
  const answer = [...(await keep()), ...found].filter((part) => part !== '').join('\n')
  messages.push({ role: 'assistant', content: [{ type: 'text', text: answer }], stopReason: 'stop' })
  return { messages, answer, usage: noUsage }

  /** Stores the message, and writes it to the files that it names, unless the memory refused it. */
  async function keep(): Promise<readonly string[]> {
    if (prompt.trim() === '') return []
    const { turns } = await memory.hear({ text: prompt, session }, { learn: 'nothing' })
    const outcome = turns.map((turn) => turn.outcome).join()
    messages.push(...toolUse('memory_hear', { text: prompt }, outcome))
    if (outcome === 'off the record') return ['I have not stored this.']
    const written: string[] = []
    if (!isOnlyQuestions) for (const path of files.length === 0 ? [notesFile] : files) written.push(await write(path))
    return written
  }

  async function write(path: string): Promise<string> {
    const before = await useFile('read_file', { path })
    if (before?.includes('\n[cut: ')) return `${path} is too long to be added to.`
    const content = `${before === null ? '' : `${before}\n`}${prompt.trimEnd()}\n`
    return (await useFile('write_file', { path, content })) === null
      ? `${path} could not be written.`
      : `Saved in ${path}.`
  }

  /** The sentences that share the most words with the question, best first; empty if no sentence shares any. */
  async function search(text: string): Promise<string> {
    // A file name in the question tells where to look; it is not a search term.
    const query = files.reduce((rest, file) => rest.replaceAll(file, ''), text)
    const { quotes } = await memory.search(query, { in: 'turns', roles: ['user'], limit: maxQuotes })
    const lines = quotes.map((quote) => `${quote.at} ${quote.text}`)
    messages.push(...toolUse('memory_search', { query }, lines.join('\n') || 'Nothing found.'))
    return quotes
      .flatMap((quote) => findSentencesHolding(quote.text, wantedTerms(new Set(quote.found))))
      .map(({ text: told, held }) => ({ told, points: [...held].reduce((sum, term) => sum + pointsOf(term), 0) }))
      .filter(({ told, points }) => points > 0 && !isQuestion(told))
      .sort((a, b) => b.points - a.points)
      .slice(0, maxSentences)
      .map(({ told }) => told)
      .join('\n')
  }

  async function useFile(name: string, given: Readonly<Record<string, unknown>>): Promise<string | null> {
    const { text, isError } = await useTool(fileTools(workspace), name, given)
    messages.push(...toolUse(name, given, text, isError))
    return isError ? null : text
  }
}

const isQuestion = (sentence: string): boolean => /[?？؟]["'”’)\]»*_]*$/u.test(sentence)

/** The questions in a message. A line that ends in a colon introduces the next line, so it is not a statement. */
function readMessage(message: string) {
  const sentences = sentencesOf(message).map(({ text }) => text)
  const questions = sentences.filter(isQuestion)
  const others = sentences.filter((text) => !isQuestion(text) && /\p{L}/u.test(text) && !text.endsWith(':'))
  return { questions, isOnlyQuestions: questions.length > 0 && others.length === 0 }
}
