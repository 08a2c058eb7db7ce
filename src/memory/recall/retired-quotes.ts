import { authorityOf, type Belief, isCurrent, isVisibleTo } from '../../beliefs/belief.ts'
import type { TurnRole } from '../../beliefs/turn.ts'
import { informativeWords, searchableWords } from '../../search/searchable-text.ts'
import { sentencesOf } from '../../search/sentences.ts'
import { isRestated } from '../change/restatement.ts'
import type { Store } from '../ports.ts'

/** A sentence of a turn that may be shown. */
export type Said = { readonly turn: string; readonly role: TurnRole; readonly at: string; readonly text: string }

/** Why a sentence is no longer true: a belief that stated it was replaced or settled. */
export type Retirement = {
  /** When the belief was replaced or settled. */
  readonly at: string
  /** The belief that the sentence stated. */
  readonly old: Belief
  /** The current statement; null if there is none, or if it is not visible. */
  readonly current: Belief | null
}

type View = { readonly user: string; readonly agent: string | null; readonly scopes: readonly string[] | null }

/** Max beliefs to compare with a sentence, of those that share words with it. */
const maxCompared = 50

/** The retirement of a sentence; null if it may be shown as it is. */
export async function findRetirement(store: Store, view: View, said: Said): Promise<Retirement | null> {
  const words = [...new Set(informativeWords(said.text))]
  if (words.length < 2) return null
  const sharing = async (includeRetired: true | 'only'): Promise<readonly Belief[]> => {
    const hits = await store.matchText({ ...view, words, atLeast: 2, includeRetired, limit: maxCompared })
    return store.getMany(
      view.user,
      hits.map(({ beliefId }) => beliefId),
    )
  }
  // Retired beliefs are compared first, because there are few of them.
  const retired = await sharing('only')
  if (retired.length < maxCompared && !retired.some((belief) => states(said, belief))) return null
  const stating = (await sharing(true)).filter((belief) => states(said, belief))
  // If a current belief makes the same statement, the person may have returned to it.
  if (stating.length === 0 || stating.some(isCurrent)) return null
  for (const old of stating) {
    const retirement = await retirementBy(store, view, old)
    if (retirement !== null && isByAuthority(retirement, said) && Date.parse(said.at) <= Date.parse(retirement.at))
      return retirement
  }
  return null
}

/** Whether a belief was learned from this sentence, or makes the same statement. */
export function states({ turn, text }: Pick<Said, 'turn' | 'text'>, { content, provenance }: Belief): boolean {
  if (provenance.sourceId === turn && (hasWordsOf(text, content) || hasWordsOf(content, text))) return true
  return sentencesOf(text).some((sentence) => isRestated(sentence.text, content))
}

const hasWordsOf = (text: string, part: string): boolean => {
  const words = new Set(searchableWords(text))
  return informativeWords(part).every((word) => words.has(word))
}

async function retirementBy(store: Store, view: View, old: Belief): Promise<Retirement | null> {
  if (old.resolvedAt !== null && old.proposedFor === null) return { at: old.resolvedAt, old, current: null }
  if (old.supersededBy === null) return null
  const chain: Belief[] = []
  let next: Belief | null = old
  while (next !== null && next.supersededBy !== null && chain.length < maxCompared) {
    next = await store.get(view.user, next.supersededBy)
    if (next !== null) chain.push(next)
  }
  const head = chain.at(-1)
  const isInView =
    head !== undefined &&
    isCurrent(head) &&
    isVisibleTo(head.agent, view.agent) &&
    (view.scopes === null || head.scopes.some((scope) => view.scopes?.includes(scope)))
  return { at: chain[0]?.provenance.at ?? old.updatedAt, old, current: isInView ? head : null }
}

/** Only a person's statement replaces a person's statement. */
function isByAuthority({ old, current }: Retirement, { role }: Said): boolean {
  return role !== 'user' || authorityOf(current ?? old) === 'person'
}
