import type { Belief } from '../beliefs/belief.ts'
import { beliefFormKeys, type FormKeyOf } from './forms.ts'
import { deletions, isMeantWord } from './typo.ts'

/** What a store must be able to look a belief up by, derived from the belief alone. */
export type IndexEntries = {
  readonly forms: readonly FormKeyOf[]
  /** Distinct words of its forms that a slip may stand for. */
  readonly meantWords: readonly string[]
}

export function indexEntries(belief: Belief): IndexEntries {
  const forms = beliefFormKeys(belief)
  return { forms, meantWords: [...new Set(forms.flatMap((form) => form.words))].filter(isMeantWord) }
}

/** The keys a slip for `word`, or a slip written as `word`, is looked up by. */
export const slipKeys = deletions
