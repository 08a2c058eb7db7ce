import { forgetRequestIn } from '../../../memory/learn/for-reference-agent.ts'
import { questionParts } from './question-parts.ts'
import { type Segment, segmentsOf } from './segments.ts'
import { withoutOpening, withoutShells } from './shells.ts'
import { wholeMemory } from './whole-memory.ts'

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
      /** The number or letter that the person gave it. */
      readonly label: string | null
      /** How it was put, when the text has more in it: "why" of "Which one is it, and why?". */
      readonly said: string
      /** Whether it goes on with the question before it in the same sentence. */
      readonly goesOn: boolean
    }
  | { readonly kind: 'everything'; readonly about: string | null }
  | { readonly kind: 'forget'; readonly about: string }

const interrogative =
  /^(?:(?:in|on|at|to|for|from|by|with|of|about|since|until|till|under|near|below|above|after|before|over|against|through|within|into)\s+)?(?:what|which|who|whom|whose|when|where|why|how)(?:['’](?:s|re|d|ll))?\b/iu
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
/** "Can you draft a note?" wants something done, not something looked up. */
const isRequest = /^(?:can|could|would|will)\s+you\b/iu
/** "When I run, I listen to jazz" tells something. */
const isClause =
  /^(?:when(?:ever)?|where(?:ver)?|what(?:ever)?|how|why)\s+(?:i|we|you|he|she|it|they|my|our|the)\b(?!['’]).*[.,!]/iu
const isExclamation = (text: string): boolean => /^(?:what an?|how|such)\b[^?]*!$/iu.test(text)

/** Everything a prompt asks for, in order. */
export function asksOf(prompt: string): readonly Ask[] {
  const segments = segmentsOf(prompt)
  const asks = segments.map(asksOfSegment)
  return asks.flatMap((own, at) => (leadsToQuestions(segments, asks, at) ? [] : own))
}

function asksOfSegment(segment: Segment, place: number): readonly Ask[] {
  const text = withApostrophes(withoutOpening(segment.text))
  const forget = forgetRequestIn(text)
  if (forget !== null) return [{ kind: 'forget', about: forget }]
  const everything = wholeMemory(text)
  if (everything !== null) return [everything]
  const asked = askedText(segment, text)
  if (asked === null) return []
  const { label } = segment
  return questionParts(asked).map((part) => ({ kind: 'question', ...part, place, label }))
}

/** "What do my notes say?" before a list of questions only leads to them, and so does whatever ends in a colon. */
function leadsToQuestions(segments: readonly Segment[], asks: readonly (readonly Ask[])[], at: number): boolean {
  const segment = segments[at]
  const end = segments.findIndex(({ isItem }, index) => index > at && !isItem)
  const items = asks.slice(at + 1, end === -1 ? undefined : end)
  if (segment === undefined || segment.isItem || !items.some((own) => own.length > 0)) return false
  return segment.text.endsWith(':') || !saysMore.test(segment.text.replace(aboutAsking, ' '))
}

/** Words that speak of asking and of what is written down, and of nothing else. */
const aboutAsking =
  /\S*\.(?:md|txt|json)\b|\b(?:hi|hello|hey|there|again|so|now|ok|okay|please|just|quick|few|couple|questions?|what|which|how|can|could|would|will|do|does|did|have|has|had|got|are|is|was|you|your|i|me|my|mine|we|us|our|the|these|those|this|that|them|it|in|on|of|about|from|for|to|at|and|or|a|an|some|all|any|following|below|things?|points?|items?|details|answers?|tell|told|say|said|give|look|check|read|see|find|help|know|remember|remembered|recall|memory|memories|notes?|files?|stored?|saved?|written|down|up|back|with|go|take|let|one|by)\b|['’](?:s|re|ve|d|ll)\b/giu
const saysMore = /\p{L}/u

const forms: Readonly<Record<string, string>> = {
  whats: "what's",
  whos: "who's",
  wheres: "where's",
  whens: "when's",
  hows: "how's",
  cant: "can't",
  dont: "don't",
  doesnt: "doesn't",
  didnt: "didn't",
  isnt: "isn't",
  arent: "aren't",
  wasnt: "wasn't",
  shouldnt: "shouldn't",
  im: "I'm",
  ive: "I've",
}

/** "whats" is "what's". */
const withApostrophes = (text: string): string =>
  text.replace(/\b\p{L}+\b(?!['’])/gu, (word) => forms[word.toLowerCase()] ?? word)

/** What is asked in a segment, without what only introduces it; null when nothing is. */
function askedText(segment: Segment, text: string): string | null {
  if (confirmation.test(text) || smallTalk.test(text) || isExclamation(text)) return null
  const isMarked = /[?？]["'”’)\]]*$/u.test(text)
  if (storing.test(text) && !interrogative.test(text)) return null
  const inner = withoutShells(text)
  const hadShell = inner !== text
  if (!hadShell && (isRequest.test(text) || (!isMarked && !segment.isItem && isClause.test(text)))) return null
  if (hadShell && (inner === '' || /^(?:that|to|it|this|so|me|you|if you|whether you)\b/iu.test(inner))) return null
  if (hadShell && (isPointer(inner) || whenDone.test(inner))) return null
  const isQuestion =
    (isMarked && !hadShell) || interrogative.test(inner) || (hadShell && /^(?:if|whether)\b/iu.test(inner))
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
  /^(?:my|our|the|her|his|their|its|all|every|any|both)\b|^\p{Lu}[\p{L}-]*(?:['’]s?\b|\W*$)/u.test(text)

const isAskingLeadIn = (text: string): boolean =>
  !/\b(?:remember|store|save|note|keep|write down|record|know that|facts? about|told you)\b/iu.test(text) &&
  /\b(?:tell|remind|answer|questions?|what|recall|give|list|want to know|need to know|look up|find|remember about)\b/iu.test(
    text,
  )
