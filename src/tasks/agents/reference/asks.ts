import { type Segment, segmentsOf } from './segments.ts'
import { withoutOpening, withoutShells } from './shells.ts'
import { forgetting, wholeMemory } from './whole-memory.ts'

/**
 * What a prompt wants to hear. `question`: one thing. `everything`: all that is known, or all about a topic.
 * `forget`: that something be removed.
 */
export type Ask =
  | {
      readonly kind: 'question'
      readonly text: string
      /** Questions of one sentence or one item of a list have the same number. */
      readonly place: number
    }
  | { readonly kind: 'everything'; readonly about: string | null }
  | { readonly kind: 'forget'; readonly about: string }

const interrogative =
  /^(?:(?:in|on|at|to|for|from|by|with|of|about|since|until|under|after)\s+)?(?:what|which|who|whom|whose|when|where|why|how)(?:['’](?:s|re|d|ll))?\b/iu
const inversion =
  /^(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|should|shall|may|must|isn['’]t|aren['’]t|don['’]t|doesn['’]t|didn['’]t)\s+(?:i|we|you|he|she|it|they|my|our|your|the|there|this|that|any|anyone|somebody|\p{Lu}[\p{L}'’-]*)\b/iu

const storing =
  /^(?:(?:can|could|would|will)\s+(?:you|i)\s+|(?:did|have|do|are)\s+you\s+|(?:please|kindly)\s+)*(?:\w+ly\s+)?(?:stor|sav|keep|kept|writ|wrote|record|not(?:e|ed|ing)\b|put|add|persist|memori[sz]|confirm|updat|chang|correct|commit|make sure|be sure|ensur|acknowledg|understand|understood|get (?:that|it|this)|got (?:that|it|this)|log\b|file\b|forget|delet|remov|eras|help|hear|follow)\w*/iu
const confirmation =
  /^(?:ok(?:ay)?|alright|right|got it|understood|clear|yes|no|sound(?:s)? good|make(?:s)? sense|deal)\W*$/iu

const smallTalk =
  /^(?:(?:so\W+)?how (?:are|is|was|do|goes|have) (?:you|it going|things|it|your day|everything)\b.*|what['’]?s (?:up|new)|who are you|what can you do|are you (?:there|ready|ok(?:ay)?)|can you (?:hear|see) me|(?:is|was) (?:that|this|it) (?:ok(?:ay)?|clear|all right|fine))\W*$/iu
/** "Tell me when it is saved" asks for a word, not for a time. */
const whenDone =
  /^(?:when|once|as soon as|if|whether|that)\b.*\b(?:stored|saved|kept|noted|recorded|done|finished|ready|written|remembered|safe|have (?:it|all|them|everything|this)|(?:is|are) in\b)/iu
const isExclamation = (text: string): boolean => /^(?:what an?|how|such)\b[^?]*!$/iu.test(text)

/** Everything a prompt asks for, in order. */
export function asksOf(prompt: string): readonly Ask[] {
  const segments = segmentsOf(prompt)
  return segments.flatMap(asksOfSegment)
}

function asksOfSegment(segment: Segment, place: number): readonly Ask[] {
  const text = withoutOpening(segment.text)
  const forget = forgetting(text)
  if (forget !== null) return [{ kind: 'forget', about: forget }]
  const everything = wholeMemory(text)
  if (everything !== null) return [everything]
  const asked = askedText(segment, text)
  return asked === null ? [] : splitQuestion(asked).map((question) => ({ kind: 'question', text: question, place }))
}

/** What is asked in a segment, without what only introduces it; null when nothing is. */
function askedText(segment: Segment, text: string): string | null {
  if (confirmation.test(text) || smallTalk.test(text) || isExclamation(text)) return null
  const isMarked = /\?["'”’)\]]*$/u.test(text)
  if (storing.test(text) && !interrogative.test(text)) return null
  const inner = withoutShells(text)
  const hadShell = inner !== text
  if (hadShell && (inner === '' || /^(?:that|to|it|this|so|me|you|if you|whether you)\b/iu.test(inner))) return null
  if (hadShell && (isPointer(inner) || whenDone.test(inner))) return null
  const isQuestion = isMarked || interrogative.test(inner) || (hadShell && /^(?:if|whether)\b/iu.test(inner))
  if (isQuestion || (hadShell && isTopic(inner))) return inner.replace(/^(?:if|whether)\s+/iu, '')
  if (segment.isItem && segment.leadIn !== null && isAskingLeadIn(segment.leadIn)) return inner
  return inversion.test(inner) && !/[.!]$/u.test(inner) ? inner : null
}

/** "Tell me the following:" and "Answer these questions" point at what comes next. */
const isPointer = (text: string): boolean =>
  /^(?:(?:all|each|every one|both) of )?(?:the |these |those |this |my |all |some |a few |a couple of |each )*(?:\w+ )?(?:following|below|questions?|things|items|answers?|ones?)(?: (?:questions?|things|items|below|again|about me|please|in order|from (?:it|memory)))*\s*[:.?]*$/iu.test(
    text,
  )

/** "my mentor's name", "the launch date", "Ana's tea": something that can be looked up. */
const isTopic = (text: string): boolean =>
  /^(?:my|our|the|her|his|their|its|all|every|any|both)\b|^\p{Lu}[\p{L}-]*['’]s?\b/u.test(text)

const isAskingLeadIn = (text: string): boolean =>
  !/\b(?:remember|store|save|note|keep|write down|record|know that|facts? about|told you)\b/iu.test(text) &&
  /\b(?:tell|remind|answer|questions?|what|recall|give|list|want to know|need to know|look up|find|remember about)\b/iu.test(
    text,
  )

const questionWord = String.raw`(?:(?:in|on|at|to|for|from|by|with|of|about|since)\s+)?(?:what|which|who|whom|whose|when|where|why|how)(?:['’](?:s|re|d))?\b`
const joint = new RegExp(
  String.raw`\s*(?:[,;–—]\s*(?:and|or|but|plus|as well as)?|\s(?:and|or|but|plus|as well as|&))\s*(?:also\s+|then\s+)?(?=${questionWord})`,
  'iu',
)

/** "What is it called, and what does it do" are two questions. */
const splitQuestion = (text: string): readonly string[] =>
  text
    .split(joint)
    .map((part) => part.replace(/^[\s,;]+|[\s,;:]+$/gu, ''))
    .filter((part) => /[\p{L}\p{N}]/u.test(part))
