import { everything } from '../../src/eval/system/calibration.ts'
import { Corpus } from '../../src/eval/system/corpus.ts'
import type { System } from '../../src/eval/system/system.ts'
import type { BeliefRecord } from '../../src/memory/transfer/belief-record.ts'

/** A third-party search over the texts of beliefs. */
export type Peer = {
  readonly name: string
  readonly version: string
  /** The settings of the peer, and the source that recommends them. */
  readonly settings: string
  /** Whether hits have scores; without scores, only the number of hits can be limited. */
  readonly hasScores: boolean
  /** Indexes a corpus. The ranker returns all its hits, best first. */
  index(beliefs: readonly BeliefRecord[]): Promise<Ranker> | Ranker
}

export type Ranker = {
  rank(message: string): Promise<readonly RankedHit[]> | readonly RankedHit[]
  close?(): void
}
export type RankedHit = { readonly id: string; readonly score: number }

/** Limits on a peer's hits. */
export type Cut = { readonly k: number; readonly threshold: number | null }

/**
 * A peer as a system under evaluation. The harness applies user, scope, life cycle and pins, as for our own backends, so that only
 * the matching differs. After a change, the corpus is indexed again at the next query.
 */
export function peerSystem(peer: Peer, name: string, { k, threshold }: Cut): System {
  let corpus = new Corpus()
  let ranker: Ranker | null = null
  const forget = (): void => {
    ranker?.close?.()
    ranker = null
  }
  return {
    name,
    version: peer.version,
    description: `${peer.settings}; ${cutText({ k, threshold })}`,
    tiers: 'relevant',
    reset: async () => {
      corpus = new Corpus()
      forget()
    },
    ingest: async (beliefs) => {
      corpus = new Corpus(beliefs)
      forget()
      return []
    },
    update: async ({ belief }) => {
      corpus.put(belief)
      forget()
    },
    recall: async (query) => {
      ranker ??= await peer.index(corpus.all())
      const inView = new Map(corpus.candidates(query).map((belief) => [belief.id, belief]))
      const hits = (query.message.trim() === '' ? [] : await ranker.rank(query.message))
        .filter(({ id, score }) => inView.has(id) && (threshold === null || score >= threshold))
        .slice(0, k)
      const found = hits.map(({ id }) => inView.get(id) as BeliefRecord)
      const pulled = corpus.participantsOf(found, query).map(({ id }) => ({ id, score: 0 }))
      return { prelude: null, pinned: [], relevant: [...hits, ...pulled], questions: [] }
    },
    close: async () => forget(),
  }
}

/** The peer without limits, for choosing the limits. */
export const systemWithoutCut = (peer: Peer): System => peerSystem(peer, peer.name, everything)

const cutText = ({ k, threshold }: Cut): string =>
  `${k === Number.POSITIVE_INFINITY ? 'everything' : `the best ${k}`}${threshold === null ? '' : ` with a score of at least ${threshold.toPrecision(3)}`}`
