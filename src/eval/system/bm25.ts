import { conflict } from '../../errors.ts'
import type { Store } from '../../memory/ports.ts'
import type { Context, MatchedForm, NearMissReason } from '../../memory/recall/context.ts'
import { recall } from '../../memory/recall/recall.ts'
import type { BeliefRecord } from '../../memory/transfer/belief-record.ts'
import { importRecords } from '../../memory/transfer/import.ts'
import type { BackendParts } from './backends.ts'
import type { Answer, AnswerClause, System } from './system.ts'

/** A fixture is written by a person, so that its marks of edits by a person are kept. */
const author = { actor: 'person', origin: 'corpus' } as const

/** Credence's own recall, through the use cases that every interface calls. */
export function bm25System({ openStore, version }: Pick<BackendParts, 'openStore' | 'version'>): System {
  let store: Store | null = null
  const opened = (): Store => {
    store ??= openStore()
    return store
  }
  const ports = () => ({ store: opened(), now: () => new Date(0), newId: refuseNewId })
  const takeIn = (beliefs: readonly BeliefRecord[]) => {
    const records = beliefs.map((record) => ({ place: `belief ${record.id}`, record }))
    return importRecords(ports(), { user: '', author, trusted: true }, records)
  }

  const reset = async () => {
    await store?.close()
    store = null
  }

  return {
    name: 'bm25',
    version,
    description: 'Credence: entity linking by name and alias, alias-weighted BM25',
    tiers: 'all',
    reset,
    ingest: async (beliefs) => {
      const { added } = await takeIn(beliefs)
      const merged = beliefs.length - added
      const note = 'repeat or replace one of the same name and scope.'
      return merged === 0 ? [] : [`${merged} of ${beliefs.length} beliefs ${note}`]
    },
    update: async ({ belief }) => {
      await takeIn([belief])
    },
    recall: async ({ user, scopes, message, budget, recall: options, explain = false }) => {
      // An answer has no place for quotes, and a corpus has no turns to quote from.
      const limits = { ...budget, maxQuotes: 0 }
      const request = { user, scopes, message, budget: limits, nearMisses: explain, ...options }
      return answerOf(await recall(ports(), request), explain)
    },
    close: reset,
  }
}

function answerOf(context: Context, explain: boolean): Answer {
  return {
    prelude: context.prelude?.text ?? null,
    pinned: context.pinned.map(({ id }) => id),
    relevant: context.relevant.map(({ belief, score, matches }) => ({
      id: belief.id,
      score,
      clauses: matches.map(clauseOf),
      ...(explain ? { matches: matches.map(({ form, words, explanation }) => ({ form, words, explanation })) } : {}),
    })),
    questions: context.questions.map(({ id }) => id),
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

/** `other scope: domain:cars`, `superseded: b-2`, `over budget: maxBeliefs`. */
function reasonText({ kind, ...details }: NearMissReason): string {
  const named = Object.values(details)
    .flat()
    .filter((detail) => detail !== null)
  return [kind.replaceAll('-', ' '), ...(named.length === 0 ? [] : [named.join(' ')])].join(': ')
}

function refuseNewId(): never {
  throw conflict('Importing the corpus would create beliefs that are not in it.')
}
