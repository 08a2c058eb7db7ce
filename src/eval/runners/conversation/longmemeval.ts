import { z } from 'zod'
import { fileIn, readObjects, unpublishedFile } from './data-file.ts'
import {
  allAt,
  anyAt,
  idOf,
  ndcgAt,
  recallAt,
  reciprocalRank,
  type Suite,
  type SuiteConversation,
  type SuiteQuestion,
  type SuiteTurn,
  sessionsOf,
  turnId,
} from './suite.ts'

const Row = z.object({
  question_id: z.string().min(1),
  question_type: z.string(),
  question: z.string().min(1),
  question_date: z.string(),
  answer_session_ids: z.array(z.string()),
  haystack_dates: z.array(z.string()),
  haystack_session_ids: z.array(z.string()),
  haystack_sessions: z.array(
    z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.string(), has_answer: z.boolean().optional() })),
  ),
})
type Row = z.infer<typeof Row>

/** LongMemEval (Wu et al., ICLR 2025): does a search find the session with the evidence? */
export const longMemEval: Suite = {
  name: 'longmemeval',
  published: { unit: 'questions', counts: [500] },
  decisive: ['any@5', 'falseFire'],
  read: function* (path, onProgress) {
    const file = dataFile(path)
    for (const row of readObjects(file, Row, onProgress)) yield conversationOf(row, file)
  },
  score: ({ gold, expectsSilence, group }, { found }) => {
    const sessions = sessionsOf(found)
    const wanted = gold.sessions
    if (expectsSilence) return {}
    return {
      'any@1': anyAt(sessions, wanted, 1),
      'any@5': anyAt(sessions, wanted, 5),
      'any@10': anyAt(sessions, wanted, 10),
      'all@5': allAt(sessions, wanted, 5),
      mrr: reciprocalRank(sessions, wanted),
      'ndcg@10': ndcgAt(sessions, wanted, 10),
      'newest@1': group === 'knowledge-update' ? Number(sessions[0] === gold.newest) : null,
      'turn-all@5': allAt(found.map(idOf), gold.turns, 5),
      'turn-r@10': recallAt(found.map(idOf), gold.turns, 10),
    }
  },
}

/** The questions of LongMemEval, over one store that contains the sessions of all questions, each session once. */
export const pooledLongMemEval: Suite = {
  ...longMemEval,
  name: 'longmemeval-pooled',
  decisive: ['any@10', 'falseFire'],
  read: function* (path, onProgress) {
    // Many haystacks may contain the same session. It has the same name in all of them.
    const names = new Map<string, string>()
    const nameOf = (id: string): string => {
      if (!names.has(id)) names.set(id, `s${names.size + 1}`)
      return names.get(id) as string
    }
    const turns: SuiteTurn[] = []
    const questions: SuiteQuestion[] = []
    const file = dataFile(path)
    for (const row of readObjects(file, Row, onProgress)) {
      const known = new Set(names.values())
      const own = conversationOf(row, file, nameOf)
      turns.push(...own.turns.filter(({ session }) => !known.has(session)))
      questions.push(...own.questions)
    }
    turns.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
    yield { id: 'pooled', turns, questions }
  },
}

const dataFile = (path: string): string =>
  fileIn(path, /^longmemeval_(?:s|m|oracle).*\.jsonl?(?:\.gz)?$/u, 'longmemeval_s.json')

/** The sessions in order of their dates. All sessions are renamed, because an id that begins with `answer_` reveals the answer. */
function conversationOf(
  row: Row,
  file: string,
  nameOf = (_id: string, rank: number): string => `s${rank + 1}`,
): SuiteConversation {
  const { haystack_sessions: sessions, haystack_dates: dates, haystack_session_ids: ids } = row
  if (sessions.length !== dates.length || sessions.length !== ids.length)
    throw unpublishedFile(
      `${file}: ${row.question_id} has ${sessions.length} sessions, ${dates.length} dates and ${ids.length} session ids.`,
    )
  const inOrder = sessions
    .map((said, place) => ({ said, id: ids[place] as string, start: parseTime(dates[place]) }))
    .sort((a, b) => a.start - b.start)
  const gold = { turns: new Set<string>(), sessions: new Set<string>() }
  let newest: string | undefined
  const turns = inOrder.flatMap(({ said, id: sessionId, start }, rank) => {
    const session = nameOf(sessionId, rank)
    const isWanted = row.answer_session_ids.includes(sessionId)
    if (isWanted) gold.sessions.add(session)
    if (isWanted) newest = session
    return said.map(({ role, content, has_answer: hasAnswer }, index): SuiteTurn => {
      const id = turnId(session, index)
      if (isWanted && hasAnswer === true) gold.turns.add(id)
      return { id, session, index, role, at: new Date(start + index * 60_000).toISOString(), text: content }
    })
  })
  const isUpdate = row.question_type === 'knowledge-update'
  const inNewest = new Set(turns.filter(({ session }) => session === newest).map(({ id }) => id))
  const earlier = new Set([...gold.turns].filter((id) => !inNewest.has(id)))
  const question = {
    id: row.question_id,
    text: row.question,
    askedAt: new Date(parseTime(row.question_date)).toISOString(),
    group: row.question_type,
    gold: { ...gold, ...(newest === undefined ? {} : { newest }), ...(isUpdate ? { earlier } : {}) },
    expectsSilence: row.question_id.endsWith('_abs'),
  }
  return { id: row.question_id, turns, questions: [question] }
}

/** Parses `2023/05/20 (Sat) 02:21` to milliseconds. */
function parseTime(date: string | undefined): number {
  const [, year, month, day, hour, minute] = /^(\d{4})\/(\d\d)\/(\d\d)(?:.*?(\d\d):(\d\d))?/u.exec(date ?? '') ?? []
  if (year === undefined) throw unpublishedFile(`"${date}" is not a date such as 2023/05/20 (Sat) 02:21.`)
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour ?? 12), Number(minute ?? 0))
}
