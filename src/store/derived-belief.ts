import { type Belief, isCurrent, isStanding, reinforcedAt, subtypes } from '../beliefs/belief.ts'
import { analyse, type Token } from '../search/analyse.ts'
import { type IndexEntries, indexEntries } from '../search/forms.ts'
import { agentKey, nameKeyInScope, typeCode } from './belief-row.ts'
import { countTerms, textFields, textTerms } from './text-terms.ts'

/** Everything the derived tables contain about one belief, computed from the belief alone. */
export type DerivedBelief = IndexEntries & {
  readonly belief: Belief
  readonly current: boolean
  readonly nameKey: string
  readonly scopes: readonly string[]
  readonly agent: string
  readonly audience: string
  readonly isPinned: boolean
  readonly flags: number
  readonly reinforced: number
  /** The words of each searchable field. */
  readonly texts: readonly (readonly string[])[]
  readonly words: number
}

export function deriveBelief(belief: Belief): DerivedBelief {
  const current = isCurrent(belief)
  const scopes = [...new Set(belief.scopes)].sort()
  // Analysed once, because name and aliases are needed both as forms and as text.
  const analysed = new Map([belief.name, ...belief.aliases].map((form) => [form, analyse(form)]))
  const tokensOf = (text: string): readonly Token[] => analysed.get(text) ?? analyse(text)
  const terms = textTerms(belief, tokensOf)
  return {
    belief,
    current,
    nameKey: nameKeyInScope(belief.name),
    scopes,
    agent: agentKey(belief.agent),
    audience: JSON.stringify([belief.agent, ...scopes]),
    isPinned: belief.pinned && current,
    flags: packFlags(belief),
    reinforced: reinforcedAt(belief),
    ...indexEntries(belief, tokensOf),
    texts: textFields.map((field) => terms[field]),
    words: countTerms(terms),
  }
}

/** The rank of a standing belief in a scope: 0 for an instruction, 1 for another preference. Null for other beliefs. */
export const standingRank = (scope: string, belief: Belief): number | null =>
  isStanding(belief, scope) ? Number(belief.subtype !== 'instruction') : null

/** Type, subtype and pin of a belief in one number. */
const packFlags = ({ type, subtype, pinned }: Belief): number =>
  typeCode(type) * 8 + (subtype === null ? 0 : subtypes.indexOf(subtype) + 1) * 2 + Number(pinned)
