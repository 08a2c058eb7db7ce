import type { Belief } from '../../beliefs/belief.ts'
import { MemoryError } from '../../errors.ts'
import { type Budget, defaultBudget, type RelevantBelief } from './context.ts'

/** A belief that belongs in the context but did not fit, and the limit that kept it out. */
export type LeftOut = {
  readonly belief: Belief
  readonly limit: 'maxBeliefs' | 'maxPinned' | 'maxQuestions' | 'maxCharacters'
  readonly score: number | null
}

/** Fills the budget tier by tier and remembers what did not fit. */
export class Room {
  readonly leftOut: LeftOut[] = []
  readonly #budget: Budget
  #beliefs = 0
  #characters = 0

  constructor(budget: Budget) {
    this.#budget = budget
  }

  takePinned(beliefs: readonly Belief[]): readonly Belief[] {
    const taken: Belief[] = []
    for (const belief of beliefs) {
      if (taken.length >= this.#budget.maxPinned) this.#leaveOut(belief, 'maxPinned', null)
      else if (this.#fits(belief, null)) taken.push(belief)
    }
    return taken
  }

  takeRelevant(relevant: readonly RelevantBelief[]): readonly RelevantBelief[] {
    return relevant.filter(({ belief, score }) => this.#fits(belief, score))
  }

  /** Questions do not count as beliefs, and take their characters before the rest so that they are never crowded out. */
  takeQuestions(questions: readonly Belief[]): readonly Belief[] {
    const taken: Belief[] = []
    for (const question of questions) {
      if (taken.length >= this.#budget.maxQuestions) this.#leaveOut(question, 'maxQuestions', null)
      else if (this.#characters + lengthOf(question) > this.#budget.maxCharacters)
        this.#leaveOut(question, 'maxCharacters', null)
      else {
        this.#characters += lengthOf(question)
        taken.push(question)
      }
    }
    return taken
  }

  #fits(belief: Belief, score: number | null): boolean {
    const limit =
      this.#beliefs >= this.#budget.maxBeliefs
        ? ('maxBeliefs' as const)
        : this.#characters + lengthOf(belief) > this.#budget.maxCharacters
          ? ('maxCharacters' as const)
          : null
    if (limit !== null) {
      this.#leaveOut(belief, limit, score)
      return false
    }
    this.#beliefs += 1
    this.#characters += lengthOf(belief)
    return true
  }

  #leaveOut(belief: Belief, limit: LeftOut['limit'], score: number | null): void {
    this.leftOut.push({ belief, limit, score })
  }
}

const lengthOf = ({ name, content, why }: Belief): number => name.length + content.length + why.length

/** Checks a budget and fills in what it leaves open. */
export function parseBudget(given: Partial<Budget> = {}): Budget {
  for (const [name, value] of Object.entries(given)) {
    if (!(name in defaultBudget)) {
      throw new MemoryError('invalid', `"${name}" is not part of a budget.`, {
        hint: `Known: ${Object.keys(defaultBudget).join(', ')}.`,
      })
    }
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 0)) {
      throw new MemoryError('invalid', `The budget's ${name} is ${value}.`, { hint: 'Give a whole number, 0 or more.' })
    }
  }
  // An option that is there but undefined must not lift the limit.
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return { ...defaultBudget, ...set }
}
