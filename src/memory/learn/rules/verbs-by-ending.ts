import { isOrdinaryWord } from '../../../search/ordinary-words.ts'
import type { Verb } from './verbs.ts'

/** A verb that is not in the list, by its ending. */
export function ingVerb(word: string): Verb {
  const lemma = word.toLowerCase().replace(/ing$/u, '')
  return { lemma, third: `${lemma}s`, past: `${lemma}ed`, participle: `${lemma}ed`, gerund: word.toLowerCase() }
}

export function edVerb(word: string): Verb {
  const lemma = word.toLowerCase().replace(/ed$/u, '')
  return { lemma, third: `${lemma}s`, past: word.toLowerCase(), participle: word.toLowerCase(), gerund: `${lemma}ing` }
}

const noVerbs =
  /^(?:all|any|both|each|either|every|few|many|most|neither|none|some|such|about|above|after|along|among|around|before|behind|below|beside|beyond|down|during|inside|like|near|off|onto|outside|over|past|per|since|than|then|though|through|until|upon|via|with|within|without|yes|maybe|perhaps|well|very|too|quite|rather|sure|able|glad|happy|sorry|here|there|where|when|while|what|who|why|how|which|because|although|unless|mean|guess|see|hope|doubt|wonder)$/u

/** Behind "I" and "we" an ordinary word is a verb, whether or not it is in the list. */
export const otherVerb = (word: string): Verb | undefined =>
  /^\p{Ll}{3,}$/u.test(word) && isOrdinaryWord(word) && !noVerbs.test(word) && !/ly$/u.test(word)
    ? plainVerb(word)
    : undefined

const plainVerb = (lemma: string): Verb => {
  const stem = lemma.replace(/e$/u, '')
  return { lemma, third: `${lemma}s`, past: `${stem}ed`, participle: `${stem}ed`, gerund: `${stem}ing` }
}
