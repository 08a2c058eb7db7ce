import { join } from 'node:path'
import type { Memory } from '../../../memory/memory.ts'
import { noUsage } from '../../../models/chat-model.ts'
import { type Agent, type AgentTurn, inProcess, toolUse } from '../../agent.ts'
import type { TranscriptMessage } from '../../transcript.ts'
import { fileTools, useTool } from '../tools.ts'
import { answersTo, hasTopic, type ReferenceAnswer, type ToldPiece } from './answer.ts'
import {
  askingPieces,
  asksOf,
  asksToStore,
  filesIn,
  isStoring,
  type Piece,
  piecesOf,
  type ReferenceAsk,
  statementIn,
  withoutPrivate,
} from './pieces.ts'

/** The default file for notes, and the directory of the memory; both in the workspace. */
const notesFile = 'memory/MEMORY.md'
const memoryDirectory = 'memory/credence'

/** An agent without a model: keeps every prompt, writes notes word for word, and answers from a memory search. */
export const referenceAgent = ({ openMemory }: { readonly openMemory: (dir: string) => Promise<Memory> }): Agent => ({
  name: 'reference',
  version: '2',
  model: null,
  unavailable: async () => null,
  start: async ({ workspace }) =>
    inProcess(async (prompt, { id, signal }) => {
      signal.throwIfAborted()
      const memory = await openMemory(join(workspace, memoryDirectory))
      try {
        return await takeTurn(prompt, { workspace, memory, session: id })
      } finally {
        await memory.close()
      }
    }),
})

type Environment = { readonly workspace: string; readonly memory: Memory; readonly session: string }

async function takeTurn(prompt: string, { workspace, memory, session }: Environment): Promise<AgentTurn> {
  const messages: TranscriptMessage[] = []
  const open = withoutPrivate(prompt)
  const pieces = piecesOf(open)
  const asks = asksOf(pieces).filter(hasTopic)
  const parts: string[] = []
  if (open.trim() !== '') {
    const { turns } = await memory.hear({ text: open, session }, { learn: 'nothing' })
    messages.push(...toolUse('memory_hear', { text: open }, turns.map(({ outcome }) => outcome).join()))
  }
  if (statementsOf(pieces).length > 0 && isStoring(pieces, asks.length > 0)) parts.push(await write())
  if (open !== prompt) parts.push('I left out what you asked me not to keep.')
  for (const [, own] of Map.groupBy(asks, ({ place }) => place)) parts.push(await answer(own))
  const text = parts.join('\n') || 'I heard this. You asked for nothing that I could look up.'
  messages.push({ role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop' })
  return { messages, answer: text, usage: noUsage }

  async function write(): Promise<string> {
    const [path = notesFile] = pieces.filter((piece) => asksToStore(piece.text)).flatMap((piece) => filesIn(piece.text))
    const note = noteOf(open, pieces)
    const before = await useFile('read_file', { path })
    if (before?.includes('\n[cut: ')) return `${path} is too long to be added to.`
    const written = await useFile('write_file', { path, content: `${note}\n${before === null ? '' : `\n${before}`}` })
    return written === null ? `${path} could not be written.` : `Saved in ${path}:\n\n${note}\n`
  }

  /** Answers the questions of one sentence or item. Unanswered ones are named where there are several. */
  async function answer(own: readonly ReferenceAsk[]): Promise<string> {
    const found: { readonly ask: ReferenceAsk; readonly answers: readonly ReferenceAnswer[] }[] = []
    for (const ask of own) {
      const told = await search(`${ask.text} ${asks.map(({ text: other }) => other).join(' ')}`)
      const answers = answersTo(ask, told)
      found.push({
        ask,
        answers: answers.length > 0 ? answers : answersTo({ ...ask, text: ask.lead + ask.text }, told),
      })
    }
    const answers = found.flatMap((one) => one.answers)
    // The answer to the question before may also answer "And when is that?".
    const unknown = found.filter((one) => one.answers.length === 0 && (one.ask.about === '' || answers.length === 0))
    const topics = unknown.map(({ ask }) => (answers.length === 0 ? '' : ` ${ask.text.replace(/[?.!\s]+$/u, '')}`))
    const said = [...sayAnswers(answers), ...new Set(topics.map((topic) => `I do not know${topic}: I was not told.`))]
    return `${own[0]?.label == null ? '' : `${own[0].label}. `}${said.join('\n')}`
  }

  async function search(query: string): Promise<readonly ToldPiece[]> {
    const { quotes } = await memory.search(query, { in: 'turns', roles: ['user'], limit: 20 })
    const lines = quotes.map(({ at, text: quoted }) => `${at} ${quoted}`)
    messages.push(...toolUse('memory_search', { query }, lines.join('\n') || 'Nothing found.'))
    const turns = await Promise.all(quotes.map(({ turn }) => memory.turn(turn)))
    return turns.flatMap(({ text: said, at }) => {
      const heard = piecesOf(said)
      const isAside = askingPieces(heard).size > 0 && !isStoring(heard, true)
      return statementsOf(heard).map((piece) => ({ ...piece, at, isAside }))
    })
  }

  async function useFile(name: string, given: Readonly<Record<string, unknown>>): Promise<string | null> {
    const { text: result, isError } = await useTool(fileTools(workspace), name, given)
    messages.push(...toolUse(name, given, result, isError))
    return isError ? null : result
  }
}

function statementsOf(pieces: readonly Piece[]): readonly Piece[] {
  const asking = askingPieces(pieces)
  return pieces.flatMap((piece) => {
    const text = piece.kind === 'sentence' ? statementIn(piece.text) : piece.text
    return asking.has(piece) || text === '' ? [] : [{ ...piece, text, start: piece.end - text.length }]
  })
}

function noteOf(message: string, pieces: readonly Piece[]): string {
  const told = new Map(statementsOf(pieces).map((piece) => [piece.end, piece.start]))
  return pieces
    .reduceRight((left, { start, end }) => left.slice(0, start) + left.slice(told.get(end) ?? end), message)
    .trim()
}

/** Each statement once, with the day it was told. */
function sayAnswers(answers: readonly ReferenceAnswer[]): readonly string[] {
  const texts = [...new Map(answers.map((answer) => [answer.text, answer])).values()]
  const days = [...Map.groupBy(texts, ({ at }) => at.slice(0, 10))]
  return days.map(([day, told]) => `You told me on ${day}: ${told.map(({ text }) => text).join('\n')}`)
}
