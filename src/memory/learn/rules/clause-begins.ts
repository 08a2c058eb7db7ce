import { contracted, hasVerb, verbWithin } from './finite-verbs.ts'
import { asForm } from './verbs.ts'

const subjects =
  'I|we|he|she|they|it|you|there|this|that|these|those|my|our|his|her|their|its|the|a|an|one|both|everyone|nobody'

const pronounStart = new RegExp(String.raw`^(?:${subjects})(?:['’](?:m|re|ve|ll|d|s))?(?=\s)`, 'iu')

const properStart = /^(?:\p{Lu}[\p{L}\p{N}'’.-]*\s+){1,4}/u

/** "birthday: 4 May" */
export const entry = /^\p{L}[\p{L}'’ ]{1,30}\s?[:=]\s+\S/u

/** What stands before a clause: nothing but a comma, a clause of the same build, a semicolon. */
type Joint = {
  readonly afterCommaOnly: boolean
  readonly isSeries: boolean
  readonly isEntry: boolean
  /** It says what somebody does, by name. */
  readonly isParallel: boolean
}

/** "Anna pays 640": what comes after may say the same of somebody else. */
export const namedDoes = /^(?:and\s+)?\p{Lu}\p{L}+\s+\p{Ll}+s\s|\bhas\s/u

/** A clause of its own: a subject at the very beginning, and a verb right behind its few words. */
export function beginsClause(right: string, { afterCommaOnly, isSeries, isEntry, isParallel }: Joint): boolean {
  const head = untilNextMark(right)
  if (isEntry && entry.test(head)) return true
  if (asksToKeep.test(head)) return true
  const pronoun = pronounStart.exec(head)
  if (pronoun !== null) {
    // "NeonDB, it's a key-value store" goes on about the same.
    if (
      afterCommaOnly &&
      /^(?:it|he|she|they|that)(?:['’](?:s|re)|\s+(?:is|are|was))\s+(?:basically\s+|just\s+|really\s+)?(?:an?|the|my|our)\s/iu.test(
        head,
      )
    )
      return false
    if (contracted.test(pronoun[0])) return true
    if (/^(?:I|we|he|she|they|it|you|there)$/iu.test(pronoun[0])) return hasVerb(head)
    // After a bare comma "that", "the" and "a" mostly explain what stands before.
    if (afterCommaOnly && /^(?:the|a|an|this|that|these|those|one|both)$/iu.test(pronoun[0]))
      return isSeries && /^the\s/iu.test(head) && verbWithin(head, 6)
    // "a mortgage and a broken boiler, so what would you cook?"
    return verbWithin(/^an?$/iu.test(pronoun[0]) ? (head.split(',')[0] ?? head) : head, 8)
  }
  if (!afterCommaOnly && askingClause.test(head)) return true
  const proper = properStart.exec(head)
  // "Ana is the chair, Bo is the treasurer"
  const isNext =
    /^(?:\p{Lu}[\p{L}'’-]*\s+){1,3}(?:is|are|was|were|has)\s/u.test(head) ||
    asForm(
      /^\p{Lu}\p{Ll}+\s+(?<verb>\p{Ll}+)\s+(?:(?:the|a|an|my|our|his|her|two|three|four|five)\s|[€$£]?\d)/u.exec(head)
        ?.groups?.verb ?? '',
      'third',
      'past',
    ) !== undefined ||
    (isParallel && asForm(/^\p{Lu}\p{Ll}+\s+(?<verb>\p{Ll}+)\s/u.exec(head)?.groups?.verb ?? '', 'third') !== undefined)
  if (proper !== null) return afterCommaOnly ? isNext : verbWithin(head, 6)
  return possessiveEllipsis.test(head) || bareNounClause.test(head)
}

/** "I'm moving in May, new address is Quay 4": a noun without an article, and what it is. */
const bareNounClause =
  /^(?!(?:all|what|which|who|where|when|that|this|there|here|it|if|as|and|or|but|so|most|some|each|one)\b)(?:\p{Ll}[\p{L}-]*\s+){1,3}(?:is|are)\s+(?:at\s+|on\s+|in\s+|called\s+)?["“]?[\p{Lu}\d]/u

/** ", so please keep this in my notes": what stands before it is said by itself. */
const asksToKeep =
  /^(?:please|pls|kindly|(?:can|could|would|will) you)\s+(?:please\s+|also\s+)*(?:keep|save|store|note|remember|write|put|record|add|jot|log)\s.{0,60}?(?:\b(?:this|that|it|these|them|following|below|all|memory|notes?)\b|\.md\b)/iu

/** ", so what would you cook?" */
const askingClause =
  /^(?:what|who|when|where|why|how|which|can|could|would|should|do|does|is|are)\s(?:.*\s)?(?:i|you|we|it|he|she|they|the|my|our)\s.*\?\s*$/iu

/** "and Tom's is on Friday" */
const possessiveEllipsis = /^\p{L}+['’]s\s+(?:is|are|was|were)\b/iu

const untilNextMark = (text: string): string => text.split(/[;]|\s[—–]\s/u)[0] ?? text
