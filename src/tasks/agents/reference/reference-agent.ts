import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Memory } from '../../../memory/memory.ts'
import { noUsage } from '../../../models/chat-model.ts'
import type { Agent, Turn } from '../../agent.ts'
import type { TranscriptMessage } from '../../transcript.ts'
import { inProcess } from '../in-process.ts'
import { fileTools } from '../tool-loop/file-tools.ts'
import { ToolRefusal } from '../tool-loop/tools.ts'
import { type Answer, answersTo, hasTopic, type Told } from './answer.ts'
import { type Ask, asksOf, isAsk } from './asks.ts'
import { asksToStore, filesIn, isRequest, type Piece, piecesOf, withoutPrivate } from './pieces.ts'

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
        return await new ReferenceTurn(workspace, memory, id).take(prompt)
      } finally {
        await memory?.close()
      }
    }),
})

/** One prompt and what the agent does with it; every use of a tool is recorded as it happens. */
class ReferenceTurn {
  readonly #messages: TranscriptMessage[] = []
  readonly #workspace: string
  readonly #memory: Memory | null
  readonly #session: string

  constructor(workspace: string, memory: Memory | null, session: string) {
    this.#workspace = workspace
    this.#memory = memory
    this.#session = session
  }

  async take(prompt: string): Promise<Turn> {
    const open = withoutPrivate(prompt)
    const pieces = piecesOf(open)
    const asks = asksOf(pieces).filter(hasTopic)
    const told = statementsOf(pieces)
    const isStoring = told.length > 0 && pieces.some(({ text }) => asksToStore(text))
    if (open.trim() !== '') await this.#hear(open)
    const parts = [
      ...(isStoring ? [await this.#write(fileToWrite(pieces), noteOf(open, pieces))] : []),
      ...(open === prompt ? [] : ['I left out what you asked me not to keep.']),
      ...(asks.length > 0 ? [await this.#answer(asks)] : []),
    ]
    const answer = parts.length === 0 ? 'I heard this. You asked for nothing that I could look up.' : parts.join('\n\n')
    const last: TranscriptMessage = { role: 'assistant', content: [{ type: 'text', text: answer }], stopReason: 'stop' }
    return { messages: [...this.#messages, last], answer, usage: noUsage }
  }

  async #hear(text: string): Promise<void> {
    const memory = this.#memory
    if (memory === null) return
    await this.#use('memory_hear', { text }, async () => {
      const { turns } = await memory.hear({ text, session: this.#session }, { learn: 'nothing' })
      return turns.map(({ outcome, reason }) => (reason === undefined ? outcome : `${outcome}: ${reason}`)).join('\n')
    })
  }

  /** Puts what was told before what is in the file, and says so in the same words. */
  async #write(path: string, note: string): Promise<string> {
    const [readFile, writeFile] = fileTools(this.#workspace)
    if (readFile === undefined || writeFile === undefined) throw new Error('The file tools are read and write.')
    const before =
      existsSync(join(this.#workspace, path)) && this.#memory !== null
        ? await this.#use('read_file', { path }, () => readFile.use({ path }))
        : null
    const content = before === null ? `${note}\n` : `${note}\n\n${before}`
    const isWritten = await this.#use('write_file', { path, content }, () => writeFile.use({ path, content }))
    return isWritten === null ? `${path} could not be written.` : `Saved in ${path}:\n\n${note}`
  }

  /** A line for each sentence or item that asks; what is not known is named where a line asks for several things. */
  async #answer(asks: readonly Ask[]): Promise<string> {
    const lines: string[] = []
    for (const [, own] of Map.groupBy(asks, ({ place }) => place)) {
      const found: { readonly ask: Ask; readonly answers: readonly Answer[] }[] = []
      for (const ask of own) found.push({ ask, answers: answersTo(ask, await this.#search(ask)) })
      const answers = found.flatMap((one) => one.answers)
      // "And when is that?" may be answered by what was said just before.
      const unknown = found.filter((one) => one.answers.length === 0 && (one.ask.about === '' || answers.length === 0))
      const isOne = unknown.length === own.length
      const open = unknown.map(
        ({ ask }) => `I do not know${isOne ? '' : ` ${ask.text.replace(/[?.!\s]+$/u, '')}`}: I was not told.`,
      )
      const label = own[0]?.label ?? null
      lines.push(`${label === null ? '' : `${label}. `}${[...sayAnswers(answers), ...new Set(open)].join('\n')}`)
    }
    return lines.join('\n')
  }

  async #search({ text, about }: Ask): Promise<readonly Told[]> {
    const memory = this.#memory
    if (memory === null) return []
    const told: Told[] = []
    const query = `${text} ${about}`.trim()
    await this.#use('memory_search', { query }, async () => {
      const { quotes } = await memory.search(query, { in: 'turns', roles: ['user'], limit: mostTurns })
      for (const { turn } of quotes) {
        const { text: said, at } = await memory.turn(turn)
        const pieces = piecesOf(said)
        const isAside = pieces.some(isAsk) && !pieces.some((piece) => asksToStore(piece.text))
        told.push(...statementsOf(pieces).map((piece) => ({ ...piece, at, isAside })))
      }
      return quotes.map(({ at, text: quoted }) => `${at} ${quoted}`).join('\n') || 'Nothing found.'
    })
    return told
  }

  /** What a tool gave back; null where it refused. */
  async #use(
    name: string,
    given: Readonly<Record<string, unknown>>,
    work: () => Promise<string>,
  ): Promise<string | null> {
    const id = `call-${this.#session}-${this.#messages.length}`
    const call = { type: 'toolCall', id, name, arguments: given, params: given } as const
    this.#messages.push({ role: 'assistant', content: [call], stopReason: 'toolUse' })
    const result = await work().catch((error: unknown) => {
      if (error instanceof ToolRefusal) return error
      throw error
    })
    const isError = typeof result !== 'string'
    const content = [{ type: 'text', text: isError ? result.message : result }] as const
    this.#messages.push({ role: 'toolResult', toolCallId: id, toolName: name, content, isError })
    return isError ? null : result
  }
}

/** What a message tells: neither its questions nor its requests, but what follows the colon of a request. */
const statementsOf = (pieces: readonly Piece[]): readonly Piece[] =>
  pieces.flatMap((piece) => {
    if (isAsk(piece)) return []
    if (piece.kind !== 'sentence' || !isRequest(piece.text)) return [piece]
    const [before = '', rest = ''] = /^.*?:\s+(.+)$/su.exec(piece.text) ?? []
    if (rest === '') return []
    return [{ ...piece, text: rest, start: piece.start + before.length - rest.length }]
  })

/** The file that is named where the message asks to keep something. */
const fileToWrite = (pieces: readonly Piece[]): string =>
  filesIn(
    pieces
      .filter(({ text }) => asksToStore(text))
      .map(({ text }) => text)
      .join('\n'),
  )[0] ?? notesFile

/** A message as it was written, without its questions and its requests. */
function noteOf(message: string, pieces: readonly Piece[]): string {
  const told = new Map(statementsOf(pieces).map((piece) => [piece.end, piece.start]))
  return pieces
    .reduceRight((left, { start, end }) => {
      const from = told.get(end) ?? end
      return from === start ? left : left.slice(0, start) + left.slice(from)
    }, message)
    .trim()
}

/** Each statement once, with the day it was told. */
function sayAnswers(answers: readonly Answer[]): readonly string[] {
  const texts = [...new Map(answers.map((answer) => [answer.text, answer])).values()]
  const days = Map.groupBy(texts, ({ at }) => at.slice(0, 10))
  return [...days].map(([day, told]) => `You told me on ${day}: ${told.map(({ text }) => text).join(' ')}`)
}
