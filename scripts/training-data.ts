/**
 * Development data for `train-ranking.ts` in one form, and vectors that are computed once. The data is outside the
 * repository: lives (a folder each, see docs/evaluation.md) and public suites.
 */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TurnRole } from '../src/beliefs/turn.ts'
import { beam } from '../src/eval/runners/conversation/beam.ts'
import { factConsolidation, isVersionOf } from '../src/eval/runners/conversation/factconsolidation.ts'
import { loCoMo } from '../src/eval/runners/conversation/locomo.ts'
import { longMemEval } from '../src/eval/runners/conversation/longmemeval.ts'
import type { Suite, SuiteConversation, SuiteQuestion, SuiteTurn } from '../src/eval/runners/conversation/suite.ts'
import { randomFrom } from '../src/eval/score/statistics.ts'
import type { Embedder, TextWords } from '../src/search/embedder.ts'
import { termsOf } from '../src/search/turns/terms.ts'

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
  /** Other turns that contain the answer: not required, but not wrong either. */
  readonly also: readonly number[]
  readonly outdated: readonly number[]
}

export type Family = 'life' | 'small life' | 'locomo' | 'longmemeval' | 'beam' | 'factconsolidation'
export type Conversation = {
  readonly id: string
  readonly family: Family
  /** Conversations of the same person are in the same fold. */
  readonly person: string
  readonly turns: readonly StoreTurn[]
  readonly asked: readonly Asked[]
}

/** Every conversation in a folder of development data; families that are absent are left out. */
export const readConversations = (data: string): readonly Conversation[] => [
  ...foldersOf(join(data, 'life'))
    .flatMap((name) => readLife(join(data, 'life', name), `life-${name}`))
    .flatMap((life) => [life, ...smallStoresOf(life)]),
  ...readSuite(loCoMo, data, 'locomo', questionsOf),
  ...readSuite(longMemEval, data, 'longmemeval', updatesOf, withFewerSessions),
  ...readSuite(beam, data, 'beam', questionsOf),
  ...readSuite(factConsolidation, data, 'factconsolidation', currentFactsOf),
]

const foldersOf = (path: string): readonly string[] => (existsSync(path) ? readdirSync(path).toSorted() : [])

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
      id: `${id}-${name}`,
      kind,
      message,
      at: last,
      gold: placesOf(goldTurns),
      also: placesOf(also),
      outdated: placesOf(earlier),
    }),
  )
  return [{ id, family: 'life', person: id, turns, asked }]
}

/**
 * Small stores made from a life. In each, one message of each kind is asked, and only the sessions that these messages need
 * are stored. Nearly every turn is then a candidate, so turns about other things are compared with the answer.
 */
function smallStoresOf({ id, turns, asked }: Conversation): readonly Conversation[] {
  const ofKind = [...Map.groupBy(asked, ({ kind }) => kind).values()]
  return Array.from({ length: Math.max(...ofKind.map((some) => some.length)) }, (_, at): Conversation => {
    const own = ofKind.flatMap((some) => some[at] ?? [])
    const sessions = new Set(
      own.flatMap(({ gold, outdated }) => [...gold, ...outdated].map((place) => turns[place]?.session)),
    )
    const kept = [...turns.keys()].filter((place) => sessions.has(turns[place]?.session))
    const placesIn = (places: readonly number[]): readonly number[] =>
      places.flatMap((place) => (kept.includes(place) ? [kept.indexOf(place)] : []))
    return {
      id: `${id}-${at + 1}`,
      family: 'small life',
      person: id,
      turns: kept.map((place) => turns[place] as StoreTurn),
      asked: own.map((one) => ({
        ...one,
        id: `${one.id}-small`,
        gold: placesIn(one.gold),
        also: placesIn(one.also),
        outdated: placesIn(one.outdated),
      })),
    }
  })
}

type AskedOf = (conversation: SuiteConversation, question: SuiteQuestion) => Pick<Asked, 'gold' | 'outdated'>

/** The conversations of a public suite, read with the code that runs the suite. */
function readSuite(
  suite: Suite,
  data: string,
  family: Exclude<Family, 'life'>,
  askedOf: AskedOf,
  shortened: (conversation: SuiteConversation, seed: number) => SuiteConversation = (conversation) => conversation,
): readonly Conversation[] {
  const path = join(data, family)
  if (!existsSync(path)) return []
  const conversations = [...suite.read(path)].map((whole, at): Conversation => {
    const conversation = shortened(whole, at + 1)
    return {
      id: `${family}-${whole.id}`,
      family,
      person: `${family}-${whole.id}`,
      turns: conversation.turns.map(({ session, role, speaker, at: said, text }) => ({
        session,
        role,
        speaker: speaker ?? null,
        at: said,
        text,
      })),
      asked: conversation.questions.flatMap((question) => {
        const { gold, outdated } = askedOf(conversation, question)
        const { id, text: message, group: kind, askedAt } = question
        return gold.length === 0 ? [] : [{ id, kind, message, at: askedAt, gold, also: [], outdated }]
      }),
    }
  })
  return conversations.filter(({ asked }) => asked.length > 0)
}

/** The positions of the matching turns. */
const placesOf = (
  { turns }: SuiteConversation,
  isWanted: (turn: SuiteTurn, place: number) => boolean,
): readonly number[] => turns.flatMap((turn, place) => (isWanted(turn, place) ? [place] : []))

const questionsOf: AskedOf = (conversation, { gold }) => ({
  gold: placesOf(conversation, ({ id }) => gold.turns.has(id)),
  outdated: [],
})

/** For a changed fact, the evidence in the newest session is right and the other evidence is outdated. */
const updatesOf: AskedOf = (conversation, { gold, group, expectsSilence }) => {
  const evidence = placesOf(conversation, ({ id }) => gold.turns.has(id) && !expectsSilence)
  const last = conversation.turns[evidence.at(-1) ?? 0]?.session
  const isCurrent = (place: number): boolean =>
    group !== 'knowledge-update' || conversation.turns[place]?.session === last
  return { gold: evidence.filter(isCurrent), outdated: evidence.filter((place) => !isCurrent(place)) }
}

/**
 * Among the facts with the answer, finds those that share the most words with the question; the newest of them is
 * right, and its older versions are outdated.
 */
const currentFactsOf: AskedOf = (conversation, { text, group, gold: { answers = [] } }) => {
  if (group !== 'single-hop') return { gold: [], outdated: [] }
  const asked = new Set(termsOf(text).map(({ term }) => term))
  const shared = conversation.turns.map((turn) => termsOf(turn.text).filter(({ term }) => asked.has(term)).length)
  const right = placesOf(conversation, (turn) =>
    answers.some((answer) => turn.text.toLowerCase().includes(answer.toLowerCase())),
  ).toSorted((a, b) => (shared[b] as number) - (shared[a] as number) || b - a)[0]
  if (right === undefined) return { gold: [], outdated: [] }
  const { text: current } = conversation.turns[right] as SuiteTurn
  const isOutdated = (turn: SuiteTurn, place: number): boolean => place < right && isVersionOf(turn.text, current)
  return { gold: [right], outdated: placesOf(conversation, isOutdated) }
}

/** The number of sessions without evidence that are used from each haystack. Embedding a whole haystack takes hours. */
const otherSessions = 10
const maxUserCharacters = 1_500
const maxAssistantCharacters = 500

function withFewerSessions(conversation: SuiteConversation, seed: number): SuiteConversation {
  const wanted = conversation.questions[0]?.gold.sessions ?? new Set()
  const random = randomFrom(seed)
  const others = [...new Set(conversation.turns.map(({ session }) => session))]
    .filter((session) => !wanted.has(session))
    .map((session) => ({ session, key: random() }))
    .sort((a, b) => a.key - b.key)
    .slice(0, otherSessions)
  const taken = new Set([...wanted, ...others.map(({ session }) => session)])
  return {
    ...conversation,
    turns: conversation.turns
      .filter(({ session }) => taken.has(session))
      .map((turn) => ({
        ...turn,
        text: turn.text.slice(0, turn.role === 'user' ? maxUserCharacters : maxAssistantCharacters),
      })),
  }
}

const linesOf = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []

/** An embedder that stores every vector in a file of a folder, so that the next run reads it. */
export function storedVectors(embedder: Embedder, folder: string): Embedder {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${embedder.model.replaceAll(/\W+/gu, '-')}.jsonl`)
  const wordsFile = file.replace('.jsonl', '.words.jsonl')
  const knownWords = new Map<string, TextWords>()
  for (const line of linesOf(wordsFile)) {
    const [text, words, packed] = JSON.parse(line) as [string, readonly string[], string]
    knownWords.set(text, { words, vectors: new Int8Array(Buffer.from(packed, 'base64')) })
  }
  const known = new Map<string, Float32Array>()
  for (const line of linesOf(file)) {
    const [text, packed] = JSON.parse(line) as [string, string]
    const bytes = Uint8Array.from(Buffer.from(packed, 'base64'))
    known.set(text, new Float32Array(new Float16Array(bytes.buffer)))
  }
  return {
    ...embedder,
    embed: async (texts) => {
      for (const text of new Set(texts)) {
        if (known.has(text)) continue
        const [vector] = await embedder.embed([text])
        if (vector === undefined) continue
        const packed = Buffer.from(new Float16Array(vector).buffer).toString('base64')
        appendFileSync(file, `${JSON.stringify([text, packed])}\n`)
        known.set(text, vector)
      }
      return texts.map((text) => known.get(text) as Float32Array)
    },
    words: async (texts) => {
      for (const text of new Set(texts)) {
        if (knownWords.has(text)) continue
        const [found] = (await embedder.words?.([text])) ?? []
        if (found === undefined) continue
        appendFileSync(
          wordsFile,
          `${JSON.stringify([text, found.words, Buffer.from(found.vectors).toString('base64')])}\n`,
        )
        knownWords.set(text, found)
      }
      return texts.map((text) => knownWords.get(text) as TextWords)
    },
  }
}
