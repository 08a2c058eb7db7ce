import { authorityOf, type Belief } from '../../beliefs/belief.ts'
import { findNearestName } from '../../did-you-mean.ts'
import { invalid } from '../../errors.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { type Budget, type BudgetLimit, defaultBudget, lowConfidence, type Prelude } from './context.ts'

/** A belief that belongs in the context but did not fit, and the limit that kept it out. */
export type LeftOut = {
  readonly belief: Belief
  readonly limit: BudgetLimit
  readonly score: number | null
}

/** Fills the context tier by tier and records the beliefs that did not fit. */
export class ContextBudget {
  readonly leftOut: LeftOut[] = []
  readonly #limits: Budget
  #beliefs = 0
  #fromAgents = 0
  #charactersFromAgents = 0
  #characters = 0

  constructor(limits: Budget) {
    this.#limits = limits
  }

  /** Open questions do not count as beliefs. They get their characters before all beliefs, so that beliefs cannot crowd them out. */
  takeQuestions(questions: readonly Belief[]): readonly Belief[] {
    let taken = 0
    return questions.filter((question) => {
      const isTaken = this.#take(question, null, taken >= this.#limits.maxQuestions ? 'maxQuestions' : null)
      taken += Number(isTaken)
      return isTaken
    })
  }

  takePinned(beliefs: readonly Belief[]): readonly Belief[] {
    const before = this.#beliefs
    return beliefs.filter((belief) => {
      const isFull = this.#beliefs - before >= this.#limits.maxPinned
      return this.#takeBelief(belief, null, isFull ? 'maxPinned' : null)
    })
  }

  takeRelevant<One extends { readonly belief: Belief; readonly score?: number }>(
    relevant: readonly One[],
  ): readonly One[] {
    // Agents' beliefs come last, so that even a long one cannot displace a belief of another author.
    const ofAgents = relevant.filter(({ belief }) => isByAgent(belief))
    const others = relevant.filter(({ belief }) => !isByAgent(belief))
    const taken = new Set(
      [...others, ...ofAgents].filter(({ belief, score = null }) => this.#takeBelief(belief, score, null)),
    )
    return relevant.filter((one) => taken.has(one))
  }

  #takeBelief(belief: Belief, score: number | null, reached: LeftOut['limit'] | null): boolean {
    const { maxBeliefs } = this.#limits
    const isFromAgent = isByAgent(belief)
    const share = isFromAgent && this.#isShareTaken(lengthOf(belief)) ? 'maxFromAgents' : null
    const isTaken = this.#take(belief, score, reached ?? share ?? (this.#beliefs >= maxBeliefs ? 'maxBeliefs' : null))
    this.#beliefs += Number(isTaken)
    this.#fromAgents += Number(isTaken && isFromAgent)
    this.#charactersFromAgents += isTaken && isFromAgent ? lengthOf(belief) : 0
    return isTaken
  }

  /**
   * Whether agents' share of beliefs or of characters is used up. The first belief of an agent may exceed the share of
   * characters. Otherwise a long belief could never be recalled.
   */
  #isShareTaken(length: number): boolean {
    const { maxBeliefs, maxFromAgents, maxCharacters } = this.#limits
    if (this.#fromAgents >= maxFromAgents) return true
    const maxLength = (maxCharacters * maxFromAgents) / Math.max(1, maxBeliefs)
    return this.#fromAgents > 0 && this.#charactersFromAgents + length > maxLength
  }

  /** `reached`: a limit that keeps the belief out regardless of its length. */
  #take(belief: Belief, score: number | null, reached: LeftOut['limit'] | null): boolean {
    const length = lengthOf(belief)
    const limit = reached ?? (this.#characters + length > this.#limits.maxCharacters ? 'maxCharacters' : null)
    if (limit === null) this.#characters += length
    else this.leftOut.push({ belief, limit, score })
    return limit === null
  }
}

const lengthOf = ({ name, content, why }: Belief): number => name.length + content.length + why.length

/** Whether an agent, a tool or a model wrote a belief, and no person took it over. */
export const isByAgent = (belief: Belief): boolean => !['person', 'document'].includes(authorityOf(belief))

/** Checks a budget and fills in the defaults. */
export function parseBudget(given: Partial<Budget> = {}, agentShare = 0.25): Budget {
  const set = omitUndefined(given)
  for (const [name, value] of Object.entries(set)) {
    if (!(name in defaultBudget)) {
      const known = Object.keys(defaultBudget)
      const meant = findNearestName(name, known)
      throw invalid(
        `"${name}" is not part of a budget.`,
        `${meant === undefined ? '' : `Did you mean ${meant}? `}Known: ${known.join(', ')}.`,
      )
    }
    if (!Number.isSafeInteger(value) || value < 0)
      throw invalid(`The budget's ${name} is ${value}.`, 'Give a whole number, 0 or more.')
  }
  const { maxBeliefs = defaultBudget.maxBeliefs } = set
  return { ...defaultBudget, maxFromAgents: Math.ceil(maxBeliefs * agentShare), ...set }
}

/** Only a person's own words, or words that a person accepted, are shown under this title. */
export const preludeTitle = 'Preferences and standing instructions'

/** Max standing beliefs to read. More never fit; the least recently reinforced ones are left out. */
export const maxPreludeBeliefs = 40

/** The prelude that was last made for each list of beliefs. */
const preludes = new WeakMap<readonly Belief[], { readonly maxCharacters: number; readonly prelude: Prelude | null }>()

/** The prelude of a list of beliefs, cached: stores return the same list until something changes. */
export function preludeOf(standing: readonly Belief[], maxCharacters: number): Prelude | null {
  const known = preludes.get(standing)
  if (known?.maxCharacters === maxCharacters) return known.prelude
  const prelude = makePrelude(standing, maxCharacters)
  preludes.set(standing, { maxCharacters, prelude })
  return prelude
}

/**
 * Standing instructions and preferences as one text: as many statements as fit, in the given order, then the `why` of each, if
 * there is room. Leaves out exploratory beliefs and those that only agents wrote.
 */
function makePrelude(standing: readonly Belief[], maxCharacters: number): Prelude | null {
  const lines: { belief: Belief; text: string }[] = []
  // Every line except the first also costs a line break.
  let left = maxCharacters + 1
  for (const belief of standing) {
    const text = statementOf(belief)
    if (belief.status === 'exploratory' || isByAgent(belief) || text.length + 1 > left) continue
    lines.push({ belief, text })
    left -= text.length + 1
  }
  if (lines.length === 0) return null
  for (const line of lines) {
    const why = line.belief.why === '' ? '' : ` ${asSentence(line.belief.why)}`
    if (why.length > left) continue
    line.text += why
    left -= why.length
  }
  return { text: lines.map(({ text }) => text).join('\n'), beliefIds: lines.map(({ belief }) => belief.id) }
}

function statementOf({ status, content, confidence }: Belief): string {
  const tendency = status === 'inferred' ? 'Tends to: ' : ''
  const doubt = confidence < lowConfidence ? ` (confidence ${confidence})` : ''
  return `${tendency}${asSentence(content)}${doubt}`
}

const asSentence = (text: string): string => {
  const flat = text.replace(/\s+/gu, ' ').trim()
  return /[.!?…:;"”')\]]$/u.test(flat) ? flat : `${flat}.`
}
