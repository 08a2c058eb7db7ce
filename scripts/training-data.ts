/**
 * Development data for `train-ranking.ts` in one form, and vectors that are computed once. The data is outside the
 * repository: lives (a folder each, see docs/evaluation.md), LoCoMo and LongMemEval.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { TurnRole } from '../src/beliefs/turn.ts'
import { randomFrom } from '../src/eval/score/statistics.ts'
import { type Embedder, packVector, unpackVector } from '../src/search/embedder.ts'

export type StoreTurn = {
  readonly session: string
  readonly role: TurnRole
  readonly speaker: string | null
  readonly at: string
  readonly text: string
}

/** A message, with turns by their place in `turns`. */
export type Asked = {
  readonly id: string
  readonly kind: string
  readonly message: string
  readonly at: string
  readonly gold: readonly number[]
  /** Other turns with the answer, neither required nor wrong. */
  readonly also: readonly number[]
  readonly outdated: readonly number[]
}

export type Family = 'life' | 'locomo' | 'longmemeval'
export type Conversation = {
  readonly id: string
  readonly family: Family
  readonly turns: readonly StoreTurn[]
  readonly asked: readonly Asked[]
}

/** Every conversation in a folder of development data; families that are absent are left out. */
export const readConversations = (data: string): readonly Conversation[] => [
  ...['a', 'b'].flatMap((name) => readLife(join(data, 'life', name), `life-${name}`)),
  ...readLocomo(join(data, 'locomo', 'locomo.dev3.json.gz')),
  ...readLongMemEval(join(data, 'longmemeval', 'longmemeval_s.dev50.jsonl.gz')),
]

const unpacked = (file: string): string => gunzipSync(readFileSync(file)).toString('utf8')

function readLife(folder: string, id: string): readonly Conversation[] {
  if (!existsSync(join(folder, 'history.jsonl'))) return []
  type Place = { readonly session: string; readonly index: number }
  const places = new Map<string, number>()
  const counts = new Map<string, number>()
  const lines = readFileSync(join(folder, 'history.jsonl'), 'utf8').trim().split('\n')
  const turns = lines.map((line, at): StoreTurn => {
    const turn = JSON.parse(line) as StoreTurn
    const index = counts.get(turn.session) ?? 0
    counts.set(turn.session, index + 1)
    places.set(`${turn.session}:${index}`, at)
    return { session: turn.session, role: turn.role, speaker: null, at: turn.at, text: turn.text }
  })
  const last =
    turns
      .map(({ at }) => at)
      .sort()
      .at(-1) ?? ''
  const placesOf = (given: readonly Place[] = []): readonly number[] =>
    given.flatMap(({ session, index }) => places.get(`${session}:${index}`) ?? [])
  type Written = Omit<Asked, 'gold' | 'also'> & Record<'goldTurns' | 'also' | 'earlier', readonly Place[] | undefined>
  const asked = (JSON.parse(readFileSync(join(folder, 'questions.json'), 'utf8')) as readonly Written[]).map(
    ({ id: name, kind, message, goldTurns, also, earlier }) => ({
      ...{ id: `${id}-${name}`, kind, message, at: last },
      ...{ gold: placesOf(goldTurns), also: placesOf(also), outdated: placesOf(earlier) },
    }),
  )
  return [{ id, family: 'life', turns, asked }]
}

const locomoKinds = ['multi-hop', 'temporal', 'open-domain', 'single-hop', 'adversarial']
const minute = 60_000
const day = 24 * 60 * minute

function readLocomo(file: string): readonly Conversation[] {
  if (!existsSync(file)) return []
  type Said = {
    readonly speaker: string
    readonly dia_id: string
    readonly text: string
    readonly blip_caption?: string
  }
  type Sample = {
    readonly sample_id: string
    readonly conversation: Readonly<Record<string, string | readonly Said[]>>
    readonly qa: readonly { question: string; category: number; evidence?: readonly string[] }[]
  }
  return (JSON.parse(unpacked(file)) as readonly Sample[]).map(({ sample_id, conversation, qa }) => {
    const turns: StoreTurn[] = []
    const places = new Map<string, number>()
    for (const session of Object.keys(conversation).filter((key) => /^session_\d+$/u.test(key))) {
      const [, date, year] = /(\d{1,2} [A-Za-z]+),? (\d{4})/u.exec(String(conversation[`${session}_date_time`])) ?? []
      const start = Date.parse(`${date} ${year} 12:00 UTC`)
      for (const [index, said] of (conversation[session] as readonly Said[]).entries()) {
        places.set(said.dia_id, turns.length)
        const text = said.blip_caption === undefined ? said.text : `${said.text} [${said.blip_caption}]`
        const at = new Date(start + index * minute).toISOString()
        turns.push({ session, role: 'user', speaker: said.speaker, at, text })
      }
    }
    const at = new Date(Math.max(...turns.map((turn) => Date.parse(turn.at))) + day).toISOString()
    const asked = qa.flatMap(({ question, category, evidence = [] }, place): readonly Asked[] => {
      const ids = evidence.flatMap((one) => [...one.matchAll(/D:?(\d+):0*(\d+)/gu)].map(([, a, b]) => `D${a}:${b}`))
      const gold = [...new Set(ids.flatMap((id) => places.get(id) ?? []))]
      const kind = locomoKinds[category - 1] as string
      const own = { id: `${sample_id}-${place + 1}`, kind, message: question, at, gold, also: [], outdated: [] }
      return gold.length === 0 ? [] : [own]
    })
    return { id: `locomo-${sample_id}`, family: 'locomo', turns, asked }
  })
}

/** Of each haystack the sessions with evidence, and this many others: whole ones take hours to embed. */
const otherSessions = 10
const maxUserCharacters = 1_500
const maxAssistantCharacters = 500

function readLongMemEval(file: string): readonly Conversation[] {
  if (!existsSync(file)) return []
  type Row = {
    readonly question_id: string
    readonly question_type: string
    readonly question: string
    readonly question_date: string
    readonly haystack_dates: readonly string[]
    readonly haystack_session_ids: readonly string[]
    readonly answer_session_ids: readonly string[]
    readonly haystack_sessions: readonly (readonly { role: TurnRole; content: string; has_answer?: boolean }[])[]
  }
  const timeOf = (written: string): number =>
    Date.parse(
      `${written
        .replace(/ \(\w+\)/u, '')
        .replaceAll('/', '-')
        .replace(' ', 'T')}:00Z`,
    )
  const rows = unpacked(file).trim().split('\n')
  return rows.flatMap((line, at): readonly Conversation[] => {
    const row = JSON.parse(line) as Row
    const random = randomFrom(at + 1)
    const isEvidence = row.haystack_session_ids.map((id) => row.answer_session_ids.includes(id))
    const others = isEvidence
      .flatMap((is, session) => (is ? [] : [{ session, key: random() }]))
      .sort((a, b) => a.key - b.key)
      .slice(0, otherSessions)
      .map(({ session }) => session)
    const taken = isEvidence
      .flatMap((is, session) => (is || others.includes(session) ? [session] : []))
      .sort((a, b) => timeOf(row.haystack_dates[a] as string) - timeOf(row.haystack_dates[b] as string))
    const turns: StoreTurn[] = []
    const gold: number[] = []
    for (const session of taken)
      for (const [index, turn] of (row.haystack_sessions[session] ?? []).entries()) {
        if (turn.has_answer === true) gold.push(turns.length)
        const text = turn.content.slice(0, turn.role === 'user' ? maxUserCharacters : maxAssistantCharacters)
        const said = new Date(timeOf(row.haystack_dates[session] as string) + index * minute).toISOString()
        turns.push({ session: `s${session}`, role: turn.role, speaker: null, at: said, text })
      }
    if (gold.length === 0 || row.question_id.endsWith('_abs')) return []
    const last = turns[gold.at(-1) as number]?.session
    const isNewest = (place: number): boolean => turns[place]?.session === last
    const isUpdate = row.question_type === 'knowledge-update'
    const asked = {
      ...{ id: row.question_id, kind: row.question_type, message: row.question },
      ...{ at: new Date(timeOf(row.question_date)).toISOString(), also: [] },
      gold: isUpdate ? gold.filter(isNewest) : gold,
      outdated: isUpdate ? gold.filter((place) => !isNewest(place)) : [],
    }
    return [{ id: `longmemeval-${row.question_id}`, family: 'longmemeval', turns, asked: [asked] }]
  })
}

/** An embedder that stores every vector in a file of a folder, so that the next run reads it. */
export function storedVectors(embedder: Embedder, folder: string): Embedder {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${embedder.model.replaceAll(/\W+/gu, '-')}.jsonl`)
  const known = new Map<string, Float32Array>()
  if (existsSync(file))
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      if (line === '') continue
      const [text, packed] = JSON.parse(line) as [string, string]
      const vector = unpackVector(packed, embedder.dimensions)
      if (vector !== null) known.set(text, vector)
    }
  return {
    ...embedder,
    embed: async (texts) => {
      for (const text of new Set(texts)) {
        if (known.has(text)) continue
        const [vector] = await embedder.embed([text])
        if (vector === undefined) continue
        appendFileSync(file, `${JSON.stringify([text, packVector(vector)])}\n`)
        known.set(text, vector)
      }
      return texts.map((text) => known.get(text) as Float32Array)
    },
  }
}
