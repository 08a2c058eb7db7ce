import { conflict, invalid } from '../../errors.ts'
import type { Store } from '../../memory/ports.ts'
import type { Context, MatchedForm, NearMissReason } from '../../memory/recall/context.ts'
import { recall } from '../../memory/recall/recall.ts'
import type { BeliefRecord } from '../../memory/transfer/belief-record.ts'
import { importRecords } from '../../memory/transfer/import.ts'
import type { AnswerClause, SaidInAll, System, SystemAnswer } from './system.ts'
import type { SystemsParts } from './systems.ts'

/** A pack's beliefs are imported as a person's own, because an import by others would drop the mark of a person's edit. */
const author = { actor: 'person', origin: 'corpus' } as const

type OwnParts = Pick<SystemsParts, 'openStore' | 'version'> & Partial<Pick<SystemsParts, 'openEmbedder'>>

/** Credence's own recall, through the use cases that every interface calls: by words, and with `openEmbedder` also by meaning. */
export function bm25System({ openStore, version, openEmbedder }: OwnParts): System {
  let store: Store | null = null
  /** The ids of turns in the pack, by their ids in the store. */
  let turnIds = new Map<string, string>()
  const ports = () => {
    store ??= openStore()
    // A time limit would make the results depend on the load of the machine.
    const meaning = { embedder: openEmbedder, recallByMeaning: true, recallWaitMs: Number.POSITIVE_INFINITY }
    return { store, now: () => new Date(0), newId: refuseNewId, ...(openEmbedder === undefined ? {} : meaning) }
  }
  const takeIn = (beliefs: readonly BeliefRecord[]) => {
    const records = beliefs.map((record) => ({ place: `belief ${record.id}`, record }))
    return importRecords(ports(), { user: '', author, trusted: true }, records)
  }

  const reset = async () => {
    await store?.close()
    store = null
    turnIds = new Map()
  }

  return {
    name: openEmbedder === undefined ? 'bm25' : 'credence-vectors',
    version,
    description: `Credence: entity linking by name and alias, alias-weighted BM25${openEmbedder === undefined ? '' : ', with sentence vectors'}`,
    tiers: 'all',
    reset,
    ingest: async (beliefs) => {
      const { added } = await takeIn(beliefs)
      const merged = beliefs.length - added
      const note = 'repeat or replace one of the same name and scope.'
      return merged === 0 ? [] : [`${merged} of ${beliefs.length} beliefs ${note}`]
    },
    hear: async (turns) => {
      const { hear } = await import('../../memory/conversation/hear.ts')
      const opened = ports()
      for (const { id, user, ...turn } of turns) {
        const number = turnIds.size + 1
        const scopes = [turn.scope]
        const own = { user, author, agent: null, view: scopes, scopes, learn: 'nothing', ...anyLength } as const
        const heard = { ...turn, messageId: `turn-${number}` }
        const result = await hear({ ...opened, newId: () => `b-${number}` }, { ...own, turns: [heard] })
        const [kept] = result.turns
        if (kept === undefined || kept.turn === null)
          throw invalid(`The turn ${id} could not be stored: ${kept?.reason ?? kept?.outcome}.`)
        turnIds.set(kept.turn.id, id)
      }
    },
    update: async ({ belief }) => {
      await takeIn([belief])
    },
    recall: async ({ user, scopes, message, budget, recall: options, saidInAll, explain = false }) => {
      const limits = turnIds.size === 0 && openEmbedder === undefined ? { ...budget, maxQuotes: 0 } : budget
      const request = { user, scopes, message, budget: limits, nearMisses: explain, ...options }
      const opened = ports()
      if (openEmbedder !== undefined)
        await (await import('../../memory/conversation/meaning.ts')).embedTexts(opened, { user })
      const counted = saidInAll === undefined ? opened : { ...opened, store: withAmount(opened.store, saidInAll) }
      return answerOf(await recall(counted, request), turnIds, explain)
    },
    close: reset,
  }
}

const anyLength = { maxTurnCharacters: Number.POSITIVE_INFINITY }

/** A view of the store that reports these totals of text units and words. */
const withAmount = (store: Store, { units, words }: SaidInAll): Store => ({
  ...store,
  turnPostings: async (view, terms) => ({ ...(await store.turnPostings(view, terms)), units, humanWords: words }),
})

function answerOf(context: Context, turnIds: ReadonlyMap<string, string>, explain: boolean): SystemAnswer {
  return {
    prelude: context.prelude?.text ?? null,
    pinned: context.pinned.map(({ id }) => id),
    relevant: [
      ...context.relevant.map(({ belief, score, matches }) => ({
        id: belief.id,
        score,
        clauses: matches.map(clauseOf),
        ...(explain ? { matches: matches.map(({ form, words, explanation }) => ({ form, words, explanation })) } : {}),
      })),
      // A cosine cannot be compared with the scores above.
      ...context.perhaps.map(({ belief }) => ({ id: belief.id, score: null })),
    ],
    questions: context.questions.map(({ id }) => id),
    quotes: context.quotes.map(({ turn, text, level }) => ({ turn: turnIds.get(turn) ?? turn, text, level })),
    ...(context.nearMisses && {
      nearMisses: context.nearMisses.map(({ belief, reason }) => ({ id: belief.id, reason: reasonText(reason) })),
    }),
  }
}

const clauseOf = ({ field, form, explanation }: MatchedForm): AnswerClause => ({
  path: field === 'name' ? 'canonical_name' : 'aliases',
  term: form.toLowerCase(),
  score: explanation.value,
})

/** A reason as text: `other scope: domain:cars`, `superseded: b-2`, `over budget: maxBeliefs`. */
function reasonText({ kind, ...details }: NearMissReason): string {
  const named = Object.values(details)
    .flat()
    .filter((detail) => detail !== null)
  return [kind.replaceAll('-', ' '), ...(named.length === 0 ? [] : [named.join(' ')])].join(': ')
}

function refuseNewId(): never {
  throw conflict('Importing the corpus would create beliefs that are not in it.')
}
