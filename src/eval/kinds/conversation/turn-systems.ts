import { MemoryError } from '../../../errors.ts'
import { hear } from '../../../memory/conversation/hear.ts'
import { embedTurns } from '../../../memory/conversation/meaning.ts'
import { searchTurns } from '../../../memory/conversation/search-turns.ts'
import type { Ports } from '../../../memory/ports.ts'
import { recall } from '../../../memory/recall/recall.ts'
import { inverseDocFreq } from '../../../search/bm25.ts'
import type { Embedder } from '../../../search/embedder.ts'
import { cosine } from '../../../search/embedder.ts'
import { sentencesOf } from '../../../search/sentences.ts'
import { withoutSteps } from '../../../search/turns/steps.ts'
import { countTerms } from '../../../search/turns/terms.ts'
import { randomFrom } from '../../score/statistics.ts'
import { turnSystemNames } from '../../system/system.ts'
import type { FoundTurn, SuiteAnswer, SuiteTurn } from './suite.ts'

/** A memory of conversations under evaluation. It sees turns and questions only. */
export type TurnSystem = {
  readonly name: string
  readonly description: string
  /** Forgets everything and takes in these turns. */
  ingest(turns: readonly SuiteTurn[]): Promise<void>
  ask(question: { readonly text: string; readonly askedAt: string }): Promise<SuiteAnswer>
  close(): Promise<void>
}

/** What turn systems are made of. */
export type TurnSystemParts = {
  /** The ports of a new, empty memory. `dispose` removes what it left on the disk. */
  readonly open: () => Promise<Omit<Ports, 'now' | 'embedder'> & { readonly dispose: () => Promise<void> }>
  readonly openEmbedder: () => Promise<Embedder>
}

export function openTurnSystem(given: string, { open, openEmbedder }: TurnSystemParts): TurnSystem {
  const name = turnSystemNames.find((known) => known === given)
  if (name === undefined) {
    throw new MemoryError('invalid', `"${given}" is not a memory of conversations.`, {
      hint: `Use one of ${turnSystemNames.join(', ')}.`,
    })
  }
  switch (name) {
    case 'credence':
      return credenceTurns(open, null)
    case 'credence-vectors':
      return credenceTurns(open, openEmbedder)
    case 'credence-shuffled-times':
      return retimed(credenceTurns(open, null), name, shuffled)
    case 'credence-reversed-times':
      return retimed(credenceTurns(open, null), name, (turns) => turns.toReversed())
    case 'bm25-turns':
      return plainBm25('turn')
    case 'bm25-sessions':
      return plainBm25('session')
    case 'vectors':
      return vectorsAlone(openEmbedder)
    case 'everything':
      return inOrder('everything', 'every turn, the newest first', (turns) => turns.toReversed())
    case 'chance':
      return inOrder('chance', 'every turn in a random order', shuffled)
    case 'none':
      return inOrder('none', 'nothing', () => [])
  }
}

const user = 'person'
const scope = 'project:suite'
const author = { actor: 'person', origin: 'suite' } as const

/** Credence, through the use cases that serve everybody. */
function credenceTurns(open: TurnSystemParts['open'], openEmbedder: (() => Promise<Embedder>) | null): TurnSystem {
  let opened: (Omit<Ports, 'now'> & { readonly dispose: () => Promise<void> }) | null = null
  let keys = new Map<string, FoundTurn>()
  const close = async (): Promise<void> => {
    await opened?.store.close()
    await opened?.dispose()
    opened = null
  }
  return {
    name: openEmbedder === null ? 'credence' : 'credence-vectors',
    description: `Credence: search over turns as it serves everybody${openEmbedder === null ? '' : ', with sentence vectors'}`,
    ingest: async (turns) => {
      await close()
      opened = { ...(await open()), ...(openEmbedder === null ? {} : { embedder: openEmbedder }) }
      const heard = await hear(
        { ...opened, now: () => new Date(turns.at(-1)?.at ?? 0) },
        {
          ...{ user, author, agent: null, view: [scope], scopes: [scope] },
          turns: turns.map((turn) => ({ ...turn, scope })),
        },
      )
      keys = new Map(
        heard.turns.flatMap(({ turn }, place) => (turn === null ? [] : [[turn.id, turns[place] as FoundTurn]])),
      )
      if (openEmbedder !== null) await embedTurns(opened, { user })
    },
    ask: async ({ text, askedAt }) => {
      if (opened === null) throw new Error('Nothing was ingested.')
      const ports = { ...opened, now: () => new Date(askedAt) }
      const found = await searchTurns(ports, { user, query: text, scopes: [scope] })
      const { prelude, quotes } = await recall(ports, { user, scopes: [scope], message: text })
      const standing = await opened.store.getMany(user, prelude?.beliefIds ?? [])
      const turnsOf = (ids: readonly (string | null)[]): readonly FoundTurn[] =>
        ids.flatMap((id) => keys.get(id ?? '') ?? [])
      return {
        found: turnsOf(found.map(({ turn }) => turn)),
        standing: turnsOf(standing.map(({ provenance }) => provenance.sourceId)),
        pushes: quotes.length > 0,
      }
    },
    close,
  }
}

/** A control: the same memory, told that every turn was said when another one was. What depends on time must fall. */
const retimed = (
  memory: TurnSystem,
  name: string,
  order: (turns: readonly SuiteTurn[]) => readonly SuiteTurn[],
): TurnSystem => ({
  ...memory,
  name,
  description: `${memory.description}; its turns carry the times of others`,
  ingest: (turns) => {
    const times = order(turns).map(({ at }) => at)
    return memory.ingest(turns.map((turn, place) => ({ ...turn, at: times[place] ?? turn.at })))
  },
})

/** The same memory with search and push switched off. */
export const withoutSearch = (memory: TurnSystem): TurnSystem => ({
  ...memory,
  ask: async () => ({ found: [], standing: [], pushes: false }),
})

const onlyFound = (found: readonly FoundTurn[]): SuiteAnswer => ({ found, standing: [], pushes: null })
const close = async (): Promise<void> => {}
const mostFound = 100

/** Okapi BM25 over single turns, or over whole sessions, with the usual constants. Nothing else. */
function plainBm25(unit: 'turn' | 'session'): TurnSystem {
  type Document = {
    readonly turns: readonly SuiteTurn[]
    readonly counts: ReadonlyMap<string, number>
    readonly length: number
  }
  let documents: readonly Document[] = []
  let frequencies = new Map<string, number>()
  let averageLength = 1
  const [k1, b] = [1.2, 0.75]
  return {
    name: `bm25-${unit}s`,
    description: `plain BM25 over ${unit}s (k1 ${k1}, b ${b})`,
    ingest: async (turns) => {
      const groups =
        unit === 'turn' ? turns.map((turn) => [turn]) : [...Map.groupBy(turns, ({ session }) => session).values()]
      documents = groups.map((own) => ({ turns: own, ...countTerms(own.map(({ text }) => text).join('\n')) }))
      frequencies = new Map()
      for (const { counts } of documents)
        for (const term of counts.keys()) frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
      averageLength = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length)
    },
    ask: async ({ text }) => {
      // The numbers of steps would match other numbers.
      const terms = [...countTerms(withoutSteps(text)).counts.keys()].filter((term) => frequencies.has(term))
      const scoreOf = ({ counts, length }: Document): number =>
        terms.reduce((sum, term) => {
          const frequency = counts.get(term) ?? 0
          const norm = frequency + k1 * (1 - b + (b * length) / averageLength)
          const idf = inverseDocFreq({ docFreq: frequencies.get(term) ?? 0, docCount: documents.length })
          return sum + (frequency === 0 ? 0 : (idf * frequency * (k1 + 1)) / norm)
        }, 0)
      const scored = documents.map((document) => ({ document, score: scoreOf(document) }))
      return onlyFound(best(scored).flatMap(({ document }) => document.turns))
    },
    close,
  }
}

/** What scores more than nothing, best first; of equals the earlier one. */
const best = <Item extends { readonly score: number }>(scored: readonly Item[]): readonly Item[] =>
  scored
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, mostFound)

/** A turn is as near as the nearest of its sentences. Only people's turns, as in Credence. */
function vectorsAlone(openEmbedder: () => Promise<Embedder>): TurnSystem {
  let sentences: readonly { readonly turn: SuiteTurn; readonly vector: Float32Array }[] = []
  return {
    name: 'vectors',
    description: 'sentence vectors alone',
    ingest: async (turns) => {
      const embedder = await openEmbedder()
      const pieces = turns
        .filter(({ role }) => role !== 'assistant')
        .flatMap((turn) =>
          sentencesOf(turn.text.slice(0, 4_000))
            .slice(0, 20)
            .map(({ text }) => ({ turn, text })),
        )
      const vectors = await embedder.embed(pieces.map(({ text }) => text.slice(0, 400)))
      sentences = pieces.map(({ turn }, place) => ({ turn, vector: vectors[place] as Float32Array }))
    },
    ask: async ({ text }) => {
      const [asked] = await (await openEmbedder()).embed([text])
      if (asked === undefined) return onlyFound([])
      const nearest = new Map<SuiteTurn, number>()
      for (const { turn, vector } of sentences)
        nearest.set(turn, Math.max(nearest.get(turn) ?? 0, cosine(asked, vector)))
      return onlyFound(best([...nearest].map(([turn, score]) => ({ turn, score }))).map(({ turn }) => turn))
    },
    close,
  }
}

function inOrder(
  name: string,
  description: string,
  order: (turns: readonly SuiteTurn[]) => readonly SuiteTurn[],
): TurnSystem {
  let found: readonly SuiteTurn[] = []
  return {
    name,
    description,
    ingest: async (turns) => {
      found = order(turns)
    },
    ask: async () => onlyFound(found),
    close,
  }
}

function shuffled(turns: readonly SuiteTurn[]): readonly SuiteTurn[] {
  const random = randomFrom(1)
  return turns
    .map((turn) => ({ turn, key: random() }))
    .sort((one, other) => one.key - other.key)
    .map(({ turn }) => turn)
}
