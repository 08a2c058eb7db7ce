import { saysWhen } from './dates.ts'
import type { Frame } from './frame.ts'
import { clip, headOf } from './frame-possessive.ts'
import { enumerated, isDistinctive, nounPhrase, properNames, quotedIn, wordsOf } from './phrases.ts'
import { formsOfObject, formsOfPhrase, formsOfValue } from './surface-forms.ts'

export const likes =
  /^(?:prefer|like|love|enjoy|adore|hate|dislike|detest|despise|avoid|favou?r|appreciate|value|tolerate|care|want|wish|opt|crave|fancy|loathe)$/u

/** "I prefer X over Y", "I hate Z". */
export function liking(lemma: string, object: string, who: 'I' | 'we', isNegative = false): Frame | null {
  const versus = /^(?<one>.+?)\s+(?:over|to|rather than|instead of|more than|than)\s+(?<other>[^,.;]+)/iu.exec(object)
  const isVersus = versus !== null && /^(?:prefer|like|love|favou?r)$/u.test(lemma) && !/^to\b/iu.test(object)
  const one = nounPhrase(versus?.groups?.one ?? object)
  const other = nounPhrase(versus?.groups?.other ?? '')
  const verbal = /^to\s+(?<verb>.+)$/iu.exec(object)
  const phrase = verbal === null ? (isVersus ? one : shortList(object)) : clip(verbal.groups?.verb ?? '')
  if (phrase === '' || /^(?:that|this|these|those)\s/iu.test(object)) return null
  const name = isVersus ? `${one} over ${other}` : isDistinctive(phrase) ? phrase : `${lemma} ${phrase}`
  const forms = [
    ...(isVersus
      ? [`${one} or ${other}`, `${other} or ${one}`, ...formsOfPhrase(one), ...formsOfPhrase(other)]
      : formsOfObject(verbal?.groups?.verb ?? object)),
    ...(/^\p{L}+\s+(?:on|in|at|with|by|to|for)\s/iu.test(object)
      ? formsOfObject(object.replace(/^\p{L}+\s+(?:on|in|at|with|by|to|for)\s+/iu, ''))
      : []),
    ...formsOfValue(object),
    `${lemma} ${phrase}`,
    ...(/^(?:hate|dislike|detest|despise|avoid|loathe)$/u.test(lemma) || isNegative
      ? [`do ${who} ${lemma}`]
      : [`do ${who} ${lemma}`]),
  ]
  return {
    rule: `"${who} ${lemma} …"`,
    type: 'preference',
    name: clip(name),
    forms,
    topic: topicFrom(isVersus ? one : object),
  }
}

/** "Call me Sam", "I go by Sam". */
export function calledFrame(name: string): Frame {
  return {
    rule: '"call me …"',
    type: 'preference',
    name: 'what to call me',
    forms: ['my name', 'call me', 'name is', 'should you call me', 'nickname', 'my nickname', ...formsOfValue(name)],
    isSlot: true,
    topic: null,
  }
}

export const isPronounOnly = (text: string): boolean =>
  /^(?:it|that|this|them|these|those|him|her|you|me|us|so|one|some|there|here)?\s*(?:too|as well|a lot|very much|now|then|already|yet|again|all|so much)?\s*[.!]*$/iu.test(
    text.trim(),
  )

/** The first parts of an enumeration, short enough for a name. */
export const shortList = (text: string): string =>
  enumerated(
    text.split(/\s+(?:because|since|so|but|which|when|if|although|though|in|at|on|for|with|after|before|as)\s/iu)[0] ??
      text,
  )
    .slice(0, 4)
    .map((part) =>
      wordsOf(part.replace(/^(?:a|an|the|my|some)\s+/iu, ''))
        .slice(0, 5)
        .join(' '),
    )
    .filter((part) => part !== '')
    .join(', ')

/** What "it" means afterwards. */
export function topicFrom(text: string): Frame['topic'] {
  const [named] = [...quotedIn(text), ...properNames(text, { atStart: false })]
  if (named !== undefined) return { referent: named, isPerson: false, noun: null }
  const phrase = nounPhrase(text)
  return phrase === '' || wordsOf(phrase).length > 3 || saysWhen(phrase) || /^(?:it|that|this|them)$/iu.test(phrase)
    ? null
    : { referent: phrase, isPerson: false, noun: headOf(phrase) }
}
