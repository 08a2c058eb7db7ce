/** A range of steps that a text names, both ends inclusive; an open end is Infinity. */
export type StepRange = { readonly from: number; readonly to: number }

type Mention = {
  readonly start: number
  readonly end: number
  readonly steps: readonly number[]
  readonly range: StepRange | null
}

/** Max length of a written range, such as "steps 3 to 6", that names each of its steps. A longer one names only its ends. */
const maxSpelledOut = 8
const maxMentions = 200

const stepWord = /\b(?:steps?|turns?)\b/giu
/** The text between the word and its number: "step #3", "step number 3", "turn [3]". */
const beforeNumber = /(?:\s+(?:index|number|no\.?|idx))?[\s:#=]{0,3}\[?/uy
const number = /(\d{1,5})\]?(?![\d%]|\.\d)/uy
const separator =
  /\s*(,\s*and|,\s*or|,|and\b|or\b|to\b|through\b|until\b|-|–|—|&|→|\/)\s*(?:(?:at|in)\s+)?(?:(?:steps?|turns?)\b\s*)?#?\[?/iuy
const spansTo = /^(?:to|through|until|-|–|—|→)$/iu

/** The steps of a trajectory that a text names, such as "step 12", "steps 3, 5 and 7" or "turns 3 to 6". */
export const stepsNamed = (text: string): readonly number[] => [
  ...new Set(mentionsIn(text).flatMap(({ steps }) => steps)),
]

/** The text without the steps that it names, so that their numbers are not searched for as words. */
export function withoutSteps(text: string): string {
  let rest = ''
  let at = 0
  for (const { start, end } of mentionsIn(text)) {
    rest += `${text.slice(at, start)} `
    at = end
  }
  return rest + text.slice(at)
}

/**
 * The range to which a question restricts the steps: "between step 3 and 9", "before step 9", "after step 12"; null for
 * no restriction.
 */
export function stepRange(text: string): StepRange | null {
  for (const { start, steps, range } of mentionsIn(text)) {
    const before = text.slice(Math.max(0, start - 40), start)
    if (range !== null) return range
    const [first, second] = steps
    if (first === undefined) continue
    if (second !== undefined && /\bbetween\s+(?:the\s+)?$/iu.test(before))
      return { from: Math.min(first, second), to: Math.max(first, second) }
    if (/\b(?:before|prior to|preceding|up to|by|until|leading (?:up )?to)\s+(?:the\s+)?$/iu.test(before))
      return { from: 0, to: first }
    if (/\b(?:after|following|since)\s+(?:the\s+)?$/iu.test(before))
      return { from: first, to: Number.POSITIVE_INFINITY }
  }
  return null
}

function mentionsIn(text: string): readonly Mention[] {
  const mentions: Mention[] = []
  let end = 0
  for (const word of text.matchAll(stepWord)) {
    if (word.index < end || mentions.length >= maxMentions) continue
    const mention = mentionAt(text, word.index, word.index + word[0].length)
    if (mention === null) continue
    mentions.push(mention)
    end = mention.end
  }
  return mentions
}

function mentionAt(text: string, start: number, wordEnd: number): Mention | null {
  const first = numberAt(text, skip(text, wordEnd, beforeNumber))
  if (first === null) return null
  const steps = [first.value]
  let range: StepRange | null = null
  let { end } = first
  for (;;) {
    separator.lastIndex = end
    const between = separator.exec(text)
    const next = between === null ? null : numberAt(text, separator.lastIndex)
    // In "step 3 and 4 steps later", the second number counts steps and names none.
    if (next === null || /^\s*(?:steps?|turns?|x)\b/iu.test(text.slice(next.end, next.end + 10))) break
    const last = steps.at(-1) as number
    if (spansTo.test(between?.[1] ?? '') && next.value > last) {
      range = { from: last, to: next.value }
      const isNarrow = next.value - last <= maxSpelledOut
      if (isNarrow) for (let step = last + 1; step < next.value; step += 1) steps.push(step)
    }
    steps.push(next.value)
    end = next.end
  }
  return { start, end, steps, range }
}

function skip(text: string, from: number, pattern: RegExp): number {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : from
}

function numberAt(text: string, from: number): { readonly value: number; readonly end: number } | null {
  number.lastIndex = from
  const found = number.exec(text)
  return found === null ? null : { value: Number(found[1]), end: number.lastIndex }
}
