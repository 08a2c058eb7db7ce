import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Memory } from '../../../memory/memory.ts'
import { noUsage } from '../../../models/chat-model.ts'
import type { Agent, Turn } from '../../agent.ts'
import type { TranscriptMessage } from '../../transcript.ts'
import { inProcess, toolUse } from '../in-process.ts'
import { fileTools } from '../tool-loop/file-tools.ts'
import { ToolRefusal } from '../tool-loop/tools.ts'
import { type Answer, answersTo, hasTopic, type Told } from './answer.ts'
import { type Ask, askingPieces, asksOf } from './asks.ts'
import { asksToStore, filesIn, isRequest, isStoring, type Piece, piecesOf, withoutPrivate } from './pieces.ts'

export type ReferenceOptions = {
  readonly openMemory: (dir: string) => Promise<Memory>
  /** False for the ablation: it hears and searches nothing, and reads no file. Default true. */
  readonly hasMemory?: boolean
}

/** Where notes go that no file is named for, and where the memory is kept; both in the workspace. */
const notesFile = 'memory/MEMORY.md'
const memoryDirectory = 'memory/credence'
const mostTurns = 20

/**
 * An agent without a model. It hears every prompt, writes down what it is told to write down, word for word, and answers
 * a question with the statements that a search of the memory brings up, or says that it does not know.
 */
export const referenceAgent = ({ openMemory, hasMemory = true }: ReferenceOptions): Agent => ({
  name: hasMemory ? 'reference' : 'reference:no-memory',
  version: '2',
  model: null,
  unavailable: async () => null,
  start: async ({ workspace }) =>
    inProcess(async (prompt, { id, signal }) => {
      signal.throwIfAborted()
      const memory = hasMemory ? await openMemory(join(workspace, memoryDirectory)) : null
      try {
        return await takeTurn(prompt, { workspace, memory, session: id })
      } finally {
        await memory?.close()
      }
    }),
})

type Place = { readonly workspace: string; readonly memory: Memory | null; readonly session: string }

async function takeTurn(prompt: string, { workspace, memory, session }: Place): Promise<Turn> {
  const messages: TranscriptMessage[] = []
  const open = withoutPrivate(prompt)
  const pieces = piecesOf(open)
  const asks = asksOf(pieces).filter(hasTopic)
  const parts: string[] = []
  if (memory !== null && open.trim() !== '') await use('memory_hear', { text: open }, () => hear(memory))
  if (statementsOf(pieces).length > 0 && isStoring(pieces, asks.length > 0)) parts.push(await write())
  if (open !== prompt) parts.push('I left out what you asked me not to keep.')
  for (const [, own] of Map.groupBy(asks, ({ place }) => place)) parts.push(await answer(own))
  const text = parts.join('\n') || 'I heard this. You asked for nothing that I could look up.'
  messages.push({ role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop' })
  return { messages, answer: text, usage: noUsage }

  async function hear({ hear: keep }: Memory): Promise<string> {
    const { turns } = await keep({ text: open, session }, { learn: 'nothing' })
    return turns.map(({ outcome, reason = '' }) => `${outcome} ${reason}`.trim()).join('\n')
  }

  /** Puts what was told before what is in the file, and says so in the same words. */
  async function write(): Promise<string> {
    const tools = new Map(fileTools(workspace).map((tool) => [tool.name, tool.use]))
    const useFile = (name: string, given: Readonly<Record<string, unknown>>): Promise<string | null> =>
      use(name, given, async () => tools.get(name)?.(given) ?? '')
    const [path = notesFile] = pieces.filter((piece) => asksToStore(piece.text)).flatMap((piece) => filesIn(piece.text))
    const note = noteOf(open, pieces)
    const isThere = memory !== null && existsSync(join(workspace, path))
    const before = isThere ? await useFile('read_file', { path }) : null
    const written = await useFile('write_file', { path, content: `${note}\n${before === null ? '' : `\n${before}`}` })
    return written === null ? `${path} could not be written.` : `Saved in ${path}:\n\n${note}\n`
  }

  /** Answers one sentence or item; what is not known is named where it asks for several things. */
  async function answer(own: readonly Ask[]): Promise<string> {
    const found: { readonly ask: Ask; readonly answers: readonly Answer[] }[] = []
    for (const ask of own) {
      const told = await search(`${ask.text} ${asks.map(({ text: other }) => other).join(' ')}`)
      const answers = answersTo(ask, told)
      found.push({
        ask,
        answers: answers.length > 0 ? answers : answersTo({ ...ask, text: ask.lead + ask.text }, told),
      })
    }
    const answers = found.flatMap((one) => one.answers)
    // "And when is that?" may be answered by what was said just before.
    const unknown = found.filter((one) => one.answers.length === 0 && (one.ask.about === '' || answers.length === 0))
    const topics = unknown.map(({ ask }) => (answers.length === 0 ? '' : ` ${ask.text.replace(/[?.!\s]+$/u, '')}`))
    const said = [...sayAnswers(answers), ...new Set(topics.map((topic) => `I do not know${topic}: I was not told.`))]
    const label = own[0]?.label ?? null
    return `${label === null ? '' : `${label}. `}${said.join('\n')}`
  }

  async function search(query: string): Promise<readonly Told[]> {
    const told: Told[] = []
    if (memory === null) return told
    await use('memory_search', { query }, async () => {
      const { quotes } = await memory.search(query, { in: 'turns', roles: ['user'], limit: mostTurns })
      for (const { turn } of quotes) {
        const { text: said, at } = await memory.turn(turn)
        const heard = piecesOf(said)
        const isAside = askingPieces(heard).size > 0 && !isStoring(heard, true)
        told.push(...statementsOf(heard).map((piece) => ({ ...piece, at, isAside })))
      }
      return quotes.map(({ at, text: quoted }) => `${at} ${quoted}`).join('\n') || 'Nothing found.'
    })
    return told
  }

  /** Records the use of a tool, and what it gave back; null where it refused. */
  async function use(name: string, given: Readonly<Record<string, unknown>>, work: () => Promise<string>) {
    const result = await work().catch((error: unknown) => {
      if (error instanceof ToolRefusal) return error
      throw error
    })
    const isError = typeof result !== 'string'
    messages.push(...toolUse(name, given, isError ? result.message : result, isError))
    return isError ? null : result
  }
}

/** What a message tells: neither its questions nor its requests, but what follows the colon of a request. */
function statementsOf(pieces: readonly Piece[]): readonly Piece[] {
  const asking = askingPieces(pieces)
  return pieces.flatMap((piece) => {
    if (asking.has(piece)) return []
    if (piece.kind !== 'sentence' || !isRequest(piece.text)) return [piece]
    const [before = '', rest = ''] = /^.*?:\s+(.+)$/su.exec(piece.text) ?? []
    return rest === '' ? [] : [{ ...piece, text: rest, start: piece.start + before.length - rest.length }]
  })
}

/** A message as it was written, without its questions and its requests. */
function noteOf(message: string, pieces: readonly Piece[]): string {
  const told = new Map(statementsOf(pieces).map((piece) => [piece.end, piece.start]))
  return pieces
    .reduceRight((left, { start, end }) => left.slice(0, start) + left.slice(told.get(end) ?? end), message)
    .trim()
}

/** Each statement once, with the day it was told. */
function sayAnswers(answers: readonly Answer[]): readonly string[] {
  const texts = answers.filter(
    ({ text }, index) =>
      !answers.some((other, place) => other.text.includes(text) && (other.text !== text || place < index)),
  )
  return [...Map.groupBy(texts, ({ at }) => at.slice(0, 10))].map(
    ([day, told]) => `You told me on ${day}: ${told.map(({ text }) => text).join('\n')}`,
  )
}
