import { hear } from '../../../memory/conversation/hear.ts'
import { searchTurns } from '../../../memory/conversation/search-turns.ts'
import type { Ports } from '../../../memory/ports.ts'
import { recall } from '../../../memory/recall/recall.ts'
import { inverseDocFreq } from '../../../search/bm25.ts'
import { withoutSteps } from '../../../search/turns/steps.ts'
import { countTerms } from '../../../search/turns/terms.ts'
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

const user = 'person'
const scope = 'project:suite'
const author = { actor: 'person', origin: 'suite' } as const

/** Credence, through the use cases that serve everybody. */
export function credenceTurns(open: () => Omit<Ports, 'now'> & { readonly dispose?: () => Promise<void> }): TurnSystem {
  let opened: ReturnType<typeof open> | null = null
  let keys = new Map<string, FoundTurn>()
  const close = async (): Promise<void> => {
    await opened?.store.close()
    await opened?.dispose?.()
    opened = null
  }
  return {
    name: 'credence',
    description: 'Credence: search over turns as people and agents use it; push for silence',
    ingest: async (turns) => {
      await close()
      opened = open()
      keys = new Map()
      const ports = { ...opened, now: () => new Date(turns.at(-1)?.at ?? 0) }
      const heard = await hear(ports, {
        ...{ user, author, agent: null, view: [scope], scopes: [scope] },
        turns: turns.map((turn) => ({ ...turn, scope })),
      })
      for (const [place, { turn }] of heard.turns.entries()) {
        const own = turns[place]
        if (turn !== null && own !== undefined) keys.set(turn.id, own)
      }
    },
    ask: async ({ text, askedAt }) => {
      if (opened === null) throw new Error('Nothing was ingested.')
      const ports = { ...opened, now: () => new Date(askedAt) }
      const found = await searchTurns(ports, { user, query: text, scopes: [scope] })
      const context = await recall(ports, { user, scopes: [scope], message: text })
      const beliefs = await opened.store.getMany(user, context.prelude?.beliefIds ?? [])
      const placeOf = (turn: string): readonly FoundTurn[] => {
        const place = keys.get(turn)
        return place === undefined ? [] : [place]
      }
      return {
        found: found.flatMap(({ turn }) => placeOf(turn)),
        standing: beliefs.flatMap((belief) => placeOf(belief.provenance.sourceId ?? '')),
        pushes: context.quotes.length > 0,
      }
    },
    close,
  }
}

/** Okapi BM25 over single turns, or over whole sessions, with the usual constants. Nothing else. */
export function plainBm25(unit: 'turn' | 'session'): TurnSystem {
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
    description: `plain BM25 over ${unit}s`,
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
      const terms = [...countTerms(withoutSteps(text)).counts.keys()]
      const scored = documents.map((document, place) => {
        const score = terms.reduce((sum, term) => {
          const frequency = document.counts.get(term) ?? 0
          const norm = frequency + k1 * (1 - b + (b * document.length) / averageLength)
          const idf = inverseDocFreq({ docFreq: frequencies.get(term) ?? 0, docCount: documents.length })
          return sum + (frequency === 0 ? 0 : (idf * frequency * (k1 + 1)) / norm)
        }, 0)
        return { document, place, score }
      })
      const found = scored
        .filter(({ score }) => score > 0)
        .sort((one, other) => other.score - one.score || one.place - other.place)
        .slice(0, 100)
        .flatMap(({ document }) => document.turns)
      return { found, standing: [], pushes: null }
    },
    close: async () => {},
  }
}
