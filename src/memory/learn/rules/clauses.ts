import { borrowedSubject, impliedSubject } from './borrowed-subject.ts'
import { beginsClause, entry, namedDoes } from './clause-begins.ts'
import { hasVerb } from './finite-verbs.ts'
import { type Gap, gapIn } from './gapping.ts'
import type { Span } from './parts.ts'

/** A part of a sentence that says something by itself. */
export type Clause = Span & {
  /** Set when the subject stands in the clause before: "I like tea and hate coffee". */
  readonly borrowed: string | null
  /** Set when words of the clause before are to be understood: "Ana drinks tea, Bo coffee". */
  readonly gap?: Gap
}

/** What stands between two clauses: a mark with or without a joining word, or the word alone. */
const joints =
  /(?:\s*,?\s+and\s+that\s+|\s*,\s+that\s+|\s*[,;]?\s+(?:\(\d{1,2}\)|(?<!\([^()]*)\d{1,2}\))\s+|\s*[;]\s*(?:and\s+|but\s+|also\s+|so\s+)?|\s+[—–]\s+|\s*,\s*(?:and|but|so|while|whereas|plus|also|yet|then|after that|afterwards)\s+(?:also\s+|then\s+|now\s+)?|\s+(?:and|but|while|whereas|plus|btw|by the way|n|&)\s+(?:also\s+|then\s+|now\s+)?|\s*,\s+)/giu

/** Says that something is no longer what it was; what it is now is still to come. */
const saysChanged =
  /\b(?:switched|changed|swapped|replaced)\s+\S+(?:\s\S+){0,3}$|['’]s?\s[^,;]{2,40}\s(?:has\s+|have\s+)?(?:changed|moved)$|^(?:my|our|the)\s[^,;]{2,40}\s(?:has\s+|have\s+)?(?:changed|moved)$|\b(?:any ?more|any longer)$|\bno longer\s[^,;]{2,60}$/iu

const longestSentence = 3_000

/** Splits a sentence where a new clause with a subject and a verb of its own begins. */
export function clausesIn(message: string, sentence: Span): readonly Clause[] {
  const text = message.slice(sentence.start, sentence.end)
  // Nobody says so much in one sentence; it is refused whole.
  if (text.length > longestSentence) return [{ ...sentence, borrowed: null }]
  const shielded = shieldedPlaces(text)
  const cuts: {
    readonly end: number
    readonly start: number
    readonly borrowed: string | null
    readonly after?: string
  }[] = []
  let from = 0
  // The last clause that has all its words.
  let complete = ''
  for (const match of text.matchAll(joints)) {
    const at = match.index
    if (at <= from) continue
    if (shielded.some(({ start, end }) => at > start && at < end)) continue
    const left = text.slice(from, at)
    const right = text.slice(at + match[0].length)
    const isMarkOnly = /^[\s,]*$/u.test(match[0])
    const isAfterEntry = /[,;]/u.test(match[0]) && entry.test(left.trim())
    const isBorrowing = (cuts.at(-1)?.borrowed ?? null) !== null
    const isGapped = cuts.at(-1)?.after !== undefined
    const whole = isGapped ? complete : left
    if (gapIn(whole, untilJoint(right)) !== null && hasVerb(whole)) {
      complete = whole
      cuts.push({ end: at, start: at + match[0].length, borrowed: null, after: whole })
      from = at + match[0].length
      continue
    }
    // "We've switched banks, it's Nordea now" is one statement.
    if (
      isMarkOnly &&
      saysChanged.test(left) &&
      /^(?:now\s+)?(?:it|that|they)(?:['’]|s\s|\s+(?:is|are)\s)/iu.test(right)
    )
      continue
    const isPlainly = /^[^\p{L}]*,?\s*but\s/iu.test(match[0]) && /^(?:my|our|i)\s/iu.test(right)
    // "Salt & Stone" is one name.
    if (/&/u.test(match[0]) && /\p{Lu}[\p{L}\p{N}'’-]*$/u.test(left.trimEnd()) && /^\p{Lu}/u.test(right)) continue
    if (!(hasVerb(left) || isAfterEntry || isBorrowing || isPlainly || isGapped) || endsOpen(left)) continue
    const isSeries = /^(?:the|my|our)(?:\s+[\p{L}'’-]+){1,4}\s+(?:is|are|was|were)\b/iu.test(left.trim())
    const isOwn = beginsClause(right, {
      afterCommaOnly: isMarkOnly,
      isSeries,
      isEntry: match[0].includes(';') || isAfterEntry,
      isParallel: namedDoes.test(left.trim()),
    })
    const borrowed = isOwn ? null : isMarkOnly ? impliedSubject(left, right) : borrowedSubject(left, right)
    if (!isOwn && borrowed === null) continue
    cuts.push({ end: at, start: at + match[0].length, borrowed })
    from = at + match[0].length
  }
  const starts = [{ start: 0, borrowed: null, after: undefined }, ...cuts]
  return starts.map(({ start, borrowed, after }, index) => {
    const end = cuts[index]?.end ?? text.length
    const gap = after === undefined ? null : gapIn(after, text.slice(start, end))
    const span = { start: sentence.start + start, end: sentence.start + end, borrowed }
    return gap === null ? span : { ...span, gap }
  })
}

/** Up to where another clause may begin. */
const untilJoint = (text: string): string => text.split(/\s*[,;]\s|\s+and\s+(?=\p{Lu})/u)[0] ?? text

/** Ends in a word that cannot end a clause. */
const endsOpen = (left: string): boolean =>
  /(?:^|\s)(?:between|both|either|neither|the|a|an|my|our|of|to|in|on|at|for|with|from|by|is|are|was|were)$/iu.test(
    left.trim(),
  )

/** Quotes, brackets and dates hold commas that join nothing. */
function shieldedPlaces(text: string): readonly Span[] {
  return [
    ...text.matchAll(
      /"[^"]*"|“[^”]*”|`[^`]*`|(?<![\p{L}\p{N}])['‘][^'’]{2,}['’](?!\p{L})|\([^)]*\)|\[[^\]]*\]|,\s+(?:who|which|whose)\s[^,]*(?=,)/gu,
    ),
  ].map((match) => ({ start: match.index, end: match.index + match[0].length }))
}
