import { saysWhen } from './dates.ts'
import type { Frame } from './frame.ts'
import { clip, headOf } from './frame-possessive.ts'
import { nounPhrase, properNames, quotedIn, wordsOf } from './phrases.ts'
import { formsOfObject, formsOfPhrase, formsOfValue, sayingsOf } from './surface-forms.ts'

/** "There are twelve people in our choir." */
export function existsFrame(text: string): Frame | null {
  const what = /^there(?:['’]s|\s+(?:is|are|was|were|will be))\s+(?<what>.+)$/iu.exec(text)?.groups?.what
  if (what === undefined) return null
  const isParticular =
    /\b(?:my|our|the)\b/iu.test(what) || properNames(what, { atStart: false }).length > 0 || saysWhen(what)
  if (
    !isParticular ||
    /^(?:a|an|some|no) (?:way|chance|problem|issue|error|bug|reason|question|need|difference)\b/iu.test(what)
  )
    return null
  const object = what.replace(
    /^(?:an?|some|about|around|exactly|only|\d[\d,.]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+/iu,
    '',
  )
  return {
    rule: '"there is …"',
    type: 'entity',
    name: clip(wordsOf(object).slice(0, 6).join(' ')),
    forms: [
      ...formsOfPhrase(nounPhrase(object)),
      ...formsOfObject(object.replace(/^.*?\s(?:in|at|on)\s/iu, '')),
      ...formsOfValue(what),
    ],
    topic: topicIn(what),
  }
}

/** "Ramipril 5 mg once a day" is asked for as ramipril. */
export const headsBefore = (text: string): readonly string[] => {
  const head = /^(?<head>\p{L}[\p{L}'’-]+(?:\s\p{L}[\p{L}'’-]*){0,2}?)\s+\d/u.exec(text)?.groups?.head
  return head === undefined ? [] : [head]
}

/** Something that was to be remembered, or an item of a list, in whatever words. */
export function plainFrame(text: string, rule: string): Frame | null {
  const words = wordsOf(text)
  if (words.length === 0) return null
  const phrase = nounPhrase(text)
  const name = clip(words.length <= 8 ? text.replace(/[.!]+$/u, '') : words.slice(0, 8).join(' '))
  return {
    rule,
    type: 'entity',
    name,
    forms: [
      ...headsBefore(text),
      ...(wordsOf(phrase).length <= 6 ? formsOfPhrase(phrase) : []),
      ...formsOfObject(text),
      ...formsOfValue(text, { atStart: true }),
      ...sayingsOf(text),
    ],
    topic: topicIn(text),
  }
}

/** What "it" means after a text: the first name in it, else its noun. */
export function topicIn(text: string): Frame['topic'] {
  const [named] = [...quotedIn(text), ...properNames(text, { atStart: false })]
  if (named !== undefined) return { referent: named, isPerson: false, noun: null }
  const phrase = nounPhrase(text)
  return phrase === '' || wordsOf(phrase).length > 4
    ? null
    : { referent: phrase, isPerson: false, noun: headOf(phrase) }
}
