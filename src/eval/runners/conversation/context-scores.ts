import type { Scores, SuiteAnswer, SuiteQuestion } from './suite.ts'

/** Scores for which 0 is best. */
export const errorRates: readonly string[] = ['missed', 'falseFire', 'outdated']

/** Numbers of characters for which there is a score, such as `within@100`. */
export const contextBudgets = [100, 300, 1_000, 3_000] as const

/**
 * The scores that all conversation packs share. For lines shown unasked: `missed` if memory was needed but no line is right,
 * `falseFire` if memory was not needed but a line is shown, `outdated` if outdated turns are shown without the newest. For
 * rankings: `within@N` if the first N characters contain a turn with the evidence.
 */
export function contextScores(question: SuiteQuestion, { found, shown }: Pick<SuiteAnswer, 'found' | 'shown'>): Scores {
  const { gold, expectsSilence, isTrap = false } = question
  const { also = new Set(), earlier = new Set() } = gold
  const isNeeded = !expectsSilence && !isTrap && gold.turns.size > 0
  const isNewest = ({ id }: { readonly id: string }): boolean => gold.turns.has(id) && !earlier.has(id)
  const isRight = ({ id }: { readonly id: string }): boolean => gold.turns.has(id) || also.has(id)
  const place = found.findIndex(isNewest)
  const characters = place === -1 ? null : lengthOf(found.slice(0, place + 1))
  return {
    ...(shown !== null && {
      missed: isNeeded ? Number(!shown.some(isRight)) : null,
      falseFire: expectsSilence || isTrap ? Number(shown.length > 0) : null,
      outdated:
        isNeeded && earlier.size > 0 ? Number(!shown.some(isNewest) && shown.some(({ id }) => earlier.has(id))) : null,
      lines: shown.length,
      characters: lengthOf(shown),
    }),
    ...Object.fromEntries(
      contextBudgets.map((budget) => [
        `within@${budget}`,
        isNeeded ? Number(characters !== null && characters <= budget) : null,
      ]),
    ),
  }
}

const lengthOf = (lines: readonly { readonly characters: number }[]): number =>
  lines.reduce((sum, { characters }) => sum + characters, 0)
