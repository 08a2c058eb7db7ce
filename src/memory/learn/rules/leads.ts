import { asksNotToStore } from './do-not-store.ts'
import type { Lead } from './parts.ts'
import { properNames, wordsOf } from './phrases.ts'
import { type Reason, refusalOf } from './refusals.ts'

/** What the line above a list says about its items. */
export type LeadSays =
  | { readonly kind: 'refuse'; readonly reason: Reason }
  /** Asked to be remembered, or about the speaker: items stand for themselves. */
  | { readonly kind: 'keep' }
  /** All items are about this person or thing. */
  | { readonly kind: 'about'; readonly subject: string }
  /** Items complete it: "I am allergic to:". */
  | { readonly kind: 'complete'; readonly text: string }
  | { readonly kind: 'none' }

const memoryWords =
  /\b(?:remember|save|store|note|memori[sz]e|keep|record|write|writing|jot|add|learn|know|memory|facts?|information|info|details|things|notes|points|mind|about me|myself)\b/iu
const taskWords =
  /\b(?:fix|implement|refactor|do|check|test|explain|answer|questions?|tasks?|to-?dos?|steps|requirements|review|following (?:changes|features|bugs|issues|questions|tasks|steps)|acceptance criteria|instructions)\b/iu

export function whatLeadSays(lead: Lead | null): LeadSays {
  if (lead === null) return { kind: 'none' }
  const text = lead.text.replace(/^(?:and|also|so|ok(?:ay)?|now|next|then)[,\s]+/iu, '').trim()
  if (asksNotToStore(text))
    return {
      kind: 'refuse',
      reason: { reason: 'do_not_store', explanation: 'The line above the list asks for it not to be kept.' },
    }
  const about =
    /^(?:(?:some |a few |more |important |key |the |basic |quick |other )*(?:facts?|things?|notes?|info(?:rmation)?|details?|data|bits|background|context|everything|stuff|what (?:you should|to) know|what i know)\s+)?(?:about|on|regarding|for|concerning|re)\s+(?<who>.+)$/iu.exec(
      text,
    )?.groups?.who
  if (about !== undefined) return aboutSomebody(about)
  const isRequest =
    /^(?:please|can you|could you|would you|i want|i need|i['’]d like|here|these|some|remember|save|store|note|keep|record|write|add|memori[sz]e|learn|let me|make|take|a few|for (?:the record|future|later)|important|personal|my (?:info|details|facts|profile|preferences|notes))/iu.test(
      text,
    )
  if (
    isRequest &&
    memoryWords.test(text) &&
    !/\b(?:tasks?|to-?dos?|steps|bugs|features|code|function|script|tests?)\b/iu.test(text)
  )
    return { kind: 'keep' }
  if (
    /^(?:facts?|notes?|info(?:rmation)?|details|preferences|profile|background|context|memory|summary|about me|me|myself|key (?:facts|points|info)|general|misc(?:ellaneous)?|other|basics|personal|people|dates|decisions)$/iu.test(
      text,
    )
  )
    return { kind: 'keep' }
  const isOpen =
    /\b(?:is|are|am|was|to|like|love|hate|prefer|use|with|have|of|include|includes|including|in|speak|play|own|need|avoid|at|on|for|as follows)$/iu.test(
      text.replace(/\s+(?:the following|these|as follows)$/iu, ''),
    )
  const refused = refusalOf(text, false)
  if (refused !== null && !(isOpen && /^(?:i|we|my|our)\b/iu.test(text))) return { kind: 'refuse', reason: refused }
  if (
    /^(?:i|we|my|our|things|foods?|people|places|books|films|movies|music|languages|tools|stuff|what)\b/iu.test(text) ||
    isOpen
  ) {
    return { kind: 'complete', text: text.replace(/\s+(?:the following|these|as follows)$/iu, '') }
  }
  if (taskWords.test(text) && !memoryWords.test(text)) {
    return { kind: 'refuse', reason: { reason: 'instruction', explanation: 'The list says what is to be done.' } }
  }
  return aboutSomebody(text)
}

function aboutSomebody(who: string): LeadSays {
  const plain = who
    .replace(/['’]s?\s+(?:details|facts|info(?:rmation)?|profile|data|preferences)$/iu, '')
    .replace(/[.:]+$/u, '')
    .trim()
  if (/^(?:me|myself|us|ourselves|you|this|these|it|that|the following|my (?:life|self))$/iu.test(plain))
    return { kind: 'keep' }
  const isShort = wordsOf(plain).length <= 4
  const isParticular =
    /^(?:my|our|the|project|team)\s/iu.test(plain) || properNames(plain, { atStart: false }).length > 0
  return isShort && isParticular ? { kind: 'about', subject: plain } : { kind: 'none' }
}
