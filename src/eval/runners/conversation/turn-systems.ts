import { createHash } from 'node:crypto'
import { invalid } from '../../../errors.ts'
import { hear } from '../../../memory/conversation/hear.ts'
import { embedTexts } from '../../../memory/conversation/meaning.ts'
import { searchTurns } from '../../../memory/conversation/search-turns.ts'
import type { Ports } from '../../../memory/ports.ts'
import { assemble } from '../../../memory/recall/recall.ts'
import { inverseDocFreq } from '../../../search/bm25.ts'
import type { Embedder } from '../../../search/embedder.ts'
import { cosine } from '../../../search/embedder.ts'
import { sentencesOf } from '../../../search/sentences.ts'
import { stepsNamed, withoutSteps } from '../../../search/turns/steps.ts'
import { countTerms } from '../../../search/turns/terms.ts'
import { randomFrom } from '../../score/statistics.ts'
import {
  type AnswerHit,
  emptyAnswer,
  type HearingSystem,
  type SystemQuery,
  type SystemTurn,
  type TurnSystemName,
  turnSystemNames,
} from '../../system/system.ts'
import { isOutsideName, openOutside, outsideForms } from '../../system/systems.ts'

export type TurnSystemParts = {
  /** The ports of a new, empty memory. `dispose` removes its files. */
  readonly open: () => Promise<Omit<Ports, 'now' | 'embedder'> & { readonly dispose: () => Promise<void> }>
  readonly openEmbedder: () => Promise<Embedder>
  readonly version: string
}

/** Opens a memory for conversations: one of ours, or an external one. */
export async function openTurnSystem(given: string, parts: TurnSystemParts): Promise<HearingSystem> {
  if (isOutsideName(given)) return openOutside(given)
  const name = turnSystemNames.find((known) => known === given)
  if (name !== undefined) return ownSystems[name](parts)
  throw invalid(`Unknown system "${given}".`, `Use one of ${[...turnSystemNames, ...outsideForms].join(', ')}.`)
}

const ownSystems: Readonly<Record<TurnSystemName, (parts: TurnSystemParts) => HearingSystem>> = {
  credence: (parts) => credenceTurns('credence', parts),
  'credence-vectors': (parts) => credenceTurns('credence-vectors', parts),
  'credence-eager': (parts) => credenceTurns('credence-eager', parts),
  'credence-shuffled-times': (parts) => withTimes(credenceTurns('credence', parts), 'credence-shuffled-times', shuffle),
  'credence-reversed-times': (parts) => withTimes(credenceTurns('credence', parts), 'credence-reversed-times', reverse),
  'bm25-turns': ({ version }) => plainBm25System('turn', version),
  'bm25-sessions': ({ version }) => plainBm25System('session', version),
  grep: ({ version }) => grepSystem(version),
  vectors: ({ openEmbedder, version }) => vectorsSystem(openEmbedder, version),
  'nearest-steps': ({ version }) => nearestStepsSystem(version),
  everything: ({ version }) =>
    orderedSystem({ name: 'everything', version, description: 'every turn, the newest first' }, reverse, () => ({
      max: Number.POSITIVE_INFINITY,
      confidence: 1,
    })),
  chance: ({ version }) =>
    orderedSystem({ name: 'chance', version, description: 'every turn in a random order' }, shuffle, (message) => ({
      max: maxPushed,
      confidence: createHash('sha256').update(message).digest().readUInt32BE() / 2 ** 32,
    })),
  none: ({ version }) =>
    orderedSystem(
      { name: 'none', version, description: 'nothing' },
      () => [],
      () => ({ max: 0, confidence: 0 }),
    ),
}

type About = Pick<HearingSystem, 'name' | 'version' | 'description'>
type Order = (turns: readonly SystemTurn[]) => readonly SystemTurn[]

const refuseBeliefs = async (): Promise<never> => {
  throw invalid('This memory keeps conversations only.', 'Run a conversation pack on it.')
}
const turnsOnly = { tiers: 'relevant', ingest: refuseBeliefs, update: refuseBeliefs } as const

const author = { actor: 'person', origin: 'suite' } as const
/** Longer than any turn of any suite. */
const maxTurnLength = 10_000_000

const credenceVariants = {
  credence: '',
  'credence-vectors': ', with sentence vectors',
  'credence-eager': ', with the setting recallBoldness eager',
} as const

/** Credence, called through the use cases of the product. */
function credenceTurns(
  name: keyof typeof credenceVariants,
  { open, openEmbedder, version }: TurnSystemParts,
): HearingSystem {
  const hasVectors = name === 'credence-vectors'
  const recallBoldness = name === 'credence-eager' ? 'eager' : 'normal'
  type Opened = Omit<Ports, 'now'> & { readonly dispose: () => Promise<void> }
  let opened: Opened | null = null
  let given = new Map<string, string>()
  const opening = async (): Promise<Opened> => {
    // No time limit, because the results would depend on the load of the machine.
    const recallWaitMs = Number.POSITIVE_INFINITY
    const meaning = hasVectors ? { embedder: openEmbedder, recallByMeaning: true, recallWaitMs } : {}
    opened ??= { ...(await open()), recallBoldness, ...meaning }
    return opened
  }
  const reset = async (): Promise<void> => {
    await opened?.store.close()
    await opened?.dispose()
    opened = null
    given = new Map()
  }
  return {
    ...turnsOnly,
    name,
    version,
    description: `Credence: search over turns as it serves everybody${credenceVariants[name]}`,
    reset,
    hear: async (turns) => {
      const [first] = turns
      if (first === undefined) return
      const { user, scope } = first
      const ports = { ...(await opening()), now: () => new Date(turns.at(-1)?.at ?? 0) }
      // The limit must not drop a step, because that would shift the numbers of later steps.
      const request = { user, author, agent: null, view: [scope], scopes: [scope], maxTurnCharacters: maxTurnLength }
      const heard = await hear(ports, { ...request, turns })
      for (const [place, { turn }] of heard.turns.entries())
        if (turn !== null) given.set(turn.id, turns[place]?.id ?? turn.id)
      if (hasVectors) await embedTexts(ports, { user })
    },
    recall: async ({ user, scopes, message, at, budget }) => {
      const ports = { ...(await opening()), now: () => (at === undefined ? new Date() : new Date(at)) }
      const limit = budget.maxBeliefs ?? maxHits
      const found = await searchTurns(ports, { user, query: message, scopes, limit })
      const { context, push } = await assemble(ports, { user, scopes, message })
      const { prelude, relevant, quotes } = context
      const standing = await ports.store.getMany(user, prelude?.beliefIds ?? [])
      return {
        ...emptyAnswer,
        prelude: prelude?.text ?? null,
        pinned: standing.flatMap(({ provenance }) => given.get(provenance.sourceId ?? '') ?? []),
        relevant: found.flatMap(({ turn, score, text }) => {
          const id = given.get(turn)
          return id === undefined ? [] : [{ id, score, characters: text.length }]
        }),
        quotes: [
          // A belief that was learned from a turn counts as the turn.
          ...relevant.map(({ belief: { content, provenance } }) => ({
            turn: given.get(provenance.sourceId ?? '') ?? 'belief',
            text: content,
          })),
          ...quotes.map(({ turn, text, level, earlier, correctedAt }) => ({
            turn: given.get(turn) ?? turn,
            text,
            level,
            isEarlier: earlier || correctedAt !== null,
          })),
        ],
        confidence: push.probability,
      }
    },
    close: reset,
  }
}

/** A control: the same memory, but with the times of its turns in a different order. Scores that depend on time must fall. */
function withTimes(memory: HearingSystem, name: string, order: Order): HearingSystem {
  let turns: readonly SystemTurn[] = []
  return {
    ...memory,
    name,
    description: `${memory.description}; its turns carry the times of others`,
    reset: () => {
      turns = []
      return memory.reset()
    },
    hear: async (more) => {
      turns = [...turns, ...more]
    },
    recall: async (query) => {
      // Times can be reordered only when all turns are known, so the memory hears them at the first question.
      const heard = turns
      turns = []
      const times = order(heard).map(({ at }) => at)
      await memory.hear(heard.map((turn, place) => ({ ...turn, at: times[place] ?? turn.at })))
      return memory.recall(query)
    },
  }
}

const maxHits = 100

/** Okapi BM25 over single turns or whole sessions, with the usual constants. */
function plainBm25System(unit: 'turn' | 'session', version: string): HearingSystem {
  type Document = { readonly id: string; readonly counts: ReadonlyMap<string, number>; readonly length: number }
  const k1 = 1.2
  const b = 0.75
  return exhaustiveSystem({
    name: `bm25-${unit}s`,
    version,
    description: `plain BM25 over ${unit}s (k1 ${k1}, b ${b})${unit === 'turn' ? '; the best three are shown unasked' : ''}`,
    // Like typical memories, puts the nearest three into every context.
    ...(unit === 'turn'
      ? { push: (_: string, [first]: readonly AnswerHit[]) => ({ max: maxPushed, confidence: first?.score ?? 0 }) }
      : {}),
    index: async (turns) => {
      const texts = Map.groupBy(turns, ({ id, session }) => (unit === 'turn' ? id : session))
      const documents: readonly Document[] = [...texts].map(([id, own]) => ({
        id,
        ...countTerms(own.map(({ text }) => text).join('\n')),
      }))
      const frequencies = new Map<string, number>()
      for (const { counts } of documents)
        for (const term of counts.keys()) frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
      const averageLength = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length)
      return { documents, frequencies, averageLength }
    },
    find: async ({ documents, frequencies, averageLength }, { message }) => {
      // Without step numbers, which would match unrelated numbers.
      const terms = [...countTerms(withoutSteps(message)).counts.keys()].filter((term) => frequencies.has(term))
      const scoreOf = ({ counts, length }: Document): number =>
        terms.reduce((sum, term) => {
          const frequency = counts.get(term) ?? 0
          const norm = frequency + k1 * (1 - b + (b * length) / averageLength)
          const idf = inverseDocFreq({ docFreq: frequencies.get(term) ?? 0, docCount: documents.length })
          return sum + (frequency === 0 ? 0 : (idf * frequency * (k1 + 1)) / norm)
        }, 0)
      return bestScored(documents.map((document) => ({ id: document.id, score: scoreOf(document) })))
    },
  })
}

const maxPushed = 3

/** The max number of hits that a baseline shows unasked, and its confidence. */
type Push = (message: string, hits: readonly AnswerHit[]) => { readonly max: number; readonly confidence: number }

/** The turns that contain a word of the message, in file order, like the output of `grep`. */
const grepSystem = (version: string): HearingSystem =>
  exhaustiveSystem({
    name: 'grep',
    version,
    description: 'turns with a word of the message, oldest first',
    index: async (turns) => turns.map(({ id, text }) => ({ id, terms: countTerms(text).counts })),
    find: async (turns, { message }) => {
      const asked = [...countTerms(message).counts.keys()]
      return turns.filter(({ terms }) => asked.some((term) => terms.has(term))).map(({ id }) => ({ id, score: null }))
    },
  })

/** A system that stores turns unchanged, builds an index at the first question, and searches that index. */
function exhaustiveSystem<Index>({
  index: indexOf,
  find,
  push,
  ...about
}: About & {
  /** Absent for a system that only searches. */
  readonly push?: Push
  readonly index: (turns: readonly SystemTurn[]) => Promise<Index>
  readonly find: (index: Index, query: SystemQuery) => Promise<readonly AnswerHit[]>
}): HearingSystem {
  let turns: SystemTurn[] = []
  let index: Promise<Index> | null = null
  return {
    ...turnsOnly,
    ...about,
    reset: async () => {
      turns = []
      index = null
    },
    hear: async (more) => {
      for (const turn of more) turns.push(turn)
      index = null
    },
    recall: async (query) => {
      index ??= indexOf(turns)
      const relevant = await find(await index, query)
      if (push === undefined) return { ...emptyAnswer, relevant }
      const { max, confidence } = push(query.message, relevant)
      const texts = new Map(turns.map(({ id, text }) => [id, text]))
      const quotes = relevant.slice(0, max).map(({ id }) => ({ turn: id, text: texts.get(id) ?? '' }))
      return { ...emptyAnswer, relevant, quotes, confidence }
    },
    close: async () => {},
  }
}

/** Hits with a score above zero, best first; ties keep their order. */
const bestScored = <Item extends { readonly score: number }>(scored: readonly Item[]): readonly Item[] =>
  scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, maxHits)

/** The score of a turn is that of its best sentence. Leaves out assistants' turns. */
const vectorsSystem = (openEmbedder: () => Promise<Embedder>, version: string): HearingSystem =>
  exhaustiveSystem({
    name: 'vectors',
    version,
    description: 'sentence vectors alone',
    index: async (turns) => {
      const pieces = turns
        .filter(({ role }) => role !== 'assistant')
        .flatMap(({ id, text }) =>
          sentencesOf(text.slice(0, 4_000))
            .slice(0, 20)
            .map((sentence) => ({ id, text: sentence.text })),
        )
      const vectors = await (await openEmbedder()).embed(pieces.map(({ text }) => text.slice(0, 400)))
      return pieces.map(({ id }, place) => ({ id, vector: vectors[place] as Float32Array }))
    },
    find: async (sentences, { message }) => {
      const [asked] = await (await openEmbedder()).embed([message])
      if (asked === undefined) return []
      const nearest = new Map<string, number>()
      for (const { id, vector } of sentences) nearest.set(id, Math.max(nearest.get(id) ?? 0, cosine(asked, vector)))
      return bestScored([...nearest].map(([id, score]) => ({ id, score })))
    },
  })

/** A control that ranks turns without reading their text. */
const orderedSystem = (about: About, order: Order, push: Push): HearingSystem =>
  exhaustiveSystem({
    ...about,
    push,
    index: async (turns) => order(turns).map(({ id }) => ({ id, score: null })),
    find: async (hits) => hits,
  })

/** A control: the steps nearest to those that the question names, regardless of content. Finds nothing if no step is named. */
const nearestStepsSystem = (version: string): HearingSystem =>
  exhaustiveSystem({
    name: 'nearest-steps',
    version,
    description: 'steps by their distance to those that the question names',
    index: async (turns) => turns.filter(({ role }) => role === 'tool'),
    find: async (steps, { message }) => {
      const named = stepsNamed(message)
      if (named.length === 0) return []
      const distance = ({ index }: SystemTurn): number => Math.min(...named.map((step) => Math.abs(step - index)))
      const nearest = steps.toSorted((a, b) => distance(a) - distance(b))
      return nearest.map(({ id }) => ({ id, score: null }))
    },
  })

const reverse: Order = (turns) => turns.toReversed()

function shuffle(turns: readonly SystemTurn[]): readonly SystemTurn[] {
  const random = randomFrom(1)
  return turns
    .map((turn) => ({ turn, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ turn }) => turn)
}
