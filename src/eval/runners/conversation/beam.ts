import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { invalid } from '../../../errors.ts'
import { readValue } from './data-file.ts'
import {
  allAt,
  idOf,
  ndcgAt,
  recallAt,
  type Suite,
  type SuiteConversation,
  type SuiteQuestion,
  type SuiteTurn,
  turnId,
} from './suite.ts'

const Message = z.object({
  role: z.enum(['user', 'assistant']),
  id: z.number().int(),
  content: z.string(),
  time_anchor: z.string().nullish(),
})
const Batch = z.object({ turns: z.array(z.array(Message)) })
const Questions = z.record(
  z.string(),
  z.array(z.object({ question: z.string(), source_chat_ids: z.unknown().optional() })),
)

/** BEAM (ICLR 2026): does a search find the messages that an answer needs? Standing instructions are scored as a separate block. */
export const beam: Suite = {
  name: 'beam',
  published: { unit: 'conversations', counts: [20, 35] },
  decisive: ['r@10', 'falseFire'],
  read: function* (path, onProgress) {
    const folders = chatFolders(path)
    for (const [place, folder] of folders.entries()) {
      onProgress?.('chats read', place, folders.length)
      yield conversationOf(folder)
    }
  },
  score: ({ gold, expectsSilence }, { found, standing }) => {
    if (expectsSilence) return {}
    const ranked = found.map(idOf)
    const withBlock = [...new Set([...ranked.slice(0, 10), ...standing])]
    return {
      'all@5': allAt(ranked, gold.turns, 5),
      'r@10': recallAt(ranked, gold.turns, 10),
      'ndcg@10': ndcgAt(ranked, gold.turns, 10),
      'r@10+block': recallAt(withBlock, gold.turns, withBlock.length),
      // For comparison: as many results as with the block, but from the ranking alone.
      'r@same-size': recallAt(ranked, gold.turns, withBlock.length),
      'block-size': standing.length,
    }
  },
}

function chatFolders(path: string): readonly string[] {
  if (!existsSync(path)) throw invalid(`${path}: no such directory.`, 'Give the folder of the chats with --data.')
  if (!statSync(path).isDirectory()) throw invalid(`${path}: not a folder.`, 'Give the folder 100K, 500K or 1M.')
  const isChat = (folder: string): boolean => fileOf(folder, 'chat') !== null
  if (isChat(path)) return [path]
  const inside = readdirSync(path)
    .map((name) => join(path, name))
    .filter((path) => statSync(path).isDirectory())
  const chats = inside
    .flatMap((folder) => (isChat(folder) ? [folder] : readdirSync(folder).map((name) => join(folder, name))))
    .filter(isChat)
  if (chats.length > 0) return chats.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  throw invalid(`${path}: no folder with chat.json and probing_questions.json.`, 'Give the folder 100K, 500K or 1M.')
}

function fileOf(folder: string, name: string): string | null {
  return [`${name}.json`, `${name}.json.gz`].map((one) => join(folder, one)).find((one) => existsSync(one)) ?? null
}

/** The generation mark at the end of every message, such as `->-> 1,22`. It is not part of the message. */
const mark = /\s*->->\s*[\d,\s]*$/u

function conversationOf(folder: string): SuiteConversation {
  const [chatFile, questionFile] = ['chat', 'probing_questions'].map((name) => fileOf(folder, name))
  if (chatFile === null || chatFile === undefined || questionFile === null || questionFile === undefined)
    throw invalid(`${folder}: chat.json or probing_questions.json is missing.`, 'Download the chat again.')
  const byId = new Map<number, SuiteTurn>()
  let day = 0
  const turns = readValue(chatFile, z.array(Batch)).flatMap(({ turns: groups }, batch) =>
    groups.flat().flatMap(({ role, id, content, time_anchor: anchor }, index): SuiteTurn[] => {
      const anchored = Date.parse(`${(anchor ?? '').replaceAll('-', ' ')} UTC`)
      day = Number.isNaN(anchored) ? Math.max(day, Date.UTC(2024, 0, 1) + batch * 86_400_000) : anchored
      // Some larger chats contain a message twice; the repetition is skipped.
      if (byId.has(id)) return []
      const at = new Date(day + index * 60_000).toISOString()
      const session = `s${batch + 1}`
      const turn = { id: turnId(session, index), session, index, role, at, text: content.replace(mark, '') }
      byId.set(id, turn)
      return [turn]
    }),
  )
  const id = folder.split('/').slice(-2).join('-')
  const askedAt = new Date(Math.max(...turns.map(({ at }) => Date.parse(at))) + 86_400_000).toISOString()
  const questions = Object.entries(readValue(questionFile, Questions)).flatMap(([group, list]) =>
    list.flatMap(({ question, source_chat_ids: sources }, place): SuiteQuestion[] => {
      const named = numbersIn(sources).flatMap((number) => byId.get(number) ?? [])
      const expectsSilence = group === 'abstention'
      if (named.length === 0 && !expectsSilence) return []
      const gold = { turns: new Set(named.map(idOf)), sessions: new Set(named.map(({ session }) => session)) }
      return [{ id: `${id}-${group}-${place + 1}`, text: question, askedAt, group, gold, expectsSilence }]
    }),
  )
  return { id, turns, questions }
}

/** The numbers in `source`: a list of ids, or lists of ids by category. */
function numbersIn(value: unknown): readonly number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}
