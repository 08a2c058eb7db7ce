import { z } from 'zod'
import { fileIn, readObjects, unpublishedFile } from './data-file.ts'
import {
  allAt,
  idOf,
  ndcgAt,
  recallAt,
  reciprocalRank,
  type Suite,
  type SuiteConversation,
  type SuiteTurn,
  sessionsOf,
  turnId,
} from './suite.ts'

const Line = z.object({
  speaker: z.string(),
  dia_id: z.string(),
  text: z.string(),
  blip_caption: z.string().optional(),
})
const Sample = z.object({
  sample_id: z.string(),
  conversation: z.record(z.string(), z.unknown()),
  qa: z.array(
    z.object({
      question: z.string(),
      category: z.number().int().min(1).max(5),
      evidence: z.array(z.string()).default([]),
    }),
  ),
})

const categories = ['multi-hop', 'temporal', 'open-domain', 'single-hop', 'adversarial'] as const

/** LoCoMo (Maharana et al., ACL 2024): does a search find the turns with the evidence? */
export const loCoMo: Suite = {
  name: 'locomo',
  published: { unit: 'conversations', counts: [10] },
  decisive: ['r@10'],
  read: function* (path, onProgress) {
    const file = fileIn(path, /^locomo.*\.json(?:\.gz)?$/u, 'locomo10.json')
    for (const sample of readObjects(file, Sample, onProgress)) yield conversationOf(sample, file)
  },
  score: ({ gold }, { found }) => {
    const ranked = found.map(idOf)
    return {
      'all@5': allAt(ranked, gold.turns, 5),
      'r@5': recallAt(ranked, gold.turns, 5),
      'r@10': recallAt(ranked, gold.turns, 10),
      'ndcg@10': ndcgAt(ranked, gold.turns, 10),
      mrr: reciprocalRank(ranked, gold.turns),
      'session-all@5': allAt(sessionsOf(found), gold.sessions, 5),
      'session-r@10': recallAt(sessionsOf(found), gold.sessions, 10),
    }
  },
}

function conversationOf({ sample_id: id, conversation, qa }: z.infer<typeof Sample>, file: string): SuiteConversation {
  const names = Object.keys(conversation).filter((name) => /^session_\d+$/u.test(name))
  if (names.length === 0) throw unpublishedFile(`${file}: ${id} has no sessions.`)
  const keys = new Map<string, SuiteTurn>()
  let last = 0
  const turns = names.flatMap((name) => {
    const start = parseTime(conversation[`${name}_date_time`], `${file}: ${id}: ${name}_date_time`)
    last = Math.max(last, start)
    const lines = z.array(Line).safeParse(conversation[name])
    if (!lines.success) throw unpublishedFile(`${file}: ${id}: ${name} is not a list of turns.`)
    return lines.data.map(({ speaker, dia_id: diaId, text, blip_caption: caption }, index) => {
      const session = name.replace('session_', 's')
      const turn: SuiteTurn = {
        id: turnId(session, index),
        session,
        index,
        role: 'user',
        speaker,
        at: new Date(start + index * 60_000).toISOString(),
        text: caption === undefined ? text : `${text} [${caption}]`,
      }
      keys.set(diaId, turn)
      return turn
    })
  })
  const askedAt = new Date(last + 86_400_000).toISOString()
  const questions = qa.flatMap(({ question, category, evidence }, place) => {
    // One evidence string may name several turns, and some are written D8:06 or D:8:6.
    const named = evidence.flatMap((text) =>
      [...text.matchAll(/D:?(\d+):0*(\d+)/gu)].flatMap(([, session, turn]) => keys.get(`D${session}:${turn}`) ?? []),
    )
    if (named.length === 0) return []
    const gold = { turns: new Set(named.map(idOf)), sessions: new Set(named.map(({ session }) => session)) }
    const group = categories[category - 1] as string
    // An adversarial question attributes one person's deed to the other, so showing nothing is right.
    const isTrap = group === 'adversarial'
    return [{ id: `${id}-${place + 1}`, text: question, askedAt, group, gold, expectsSilence: false, isTrap }]
  })
  return { id, turns, questions }
}

const months = 'january february march april may june july august september october november december'.split(' ')

/** Parses `1:56 pm on 8 May, 2023` to noon of that day in milliseconds, because the hour is not informative. */
function parseTime(given: unknown, where: string): number {
  const [, day, month = '', year] = /(\d{1,2}) ([A-Za-z]+),? (\d{4})/u.exec(String(given)) ?? []
  const place = months.indexOf(month.toLowerCase())
  if (place === -1) throw unpublishedFile(`${where} is "${given}", not a date such as 1:56 pm on 8 May, 2023.`)
  return Date.UTC(Number(year), place, Number(day), 12)
}
