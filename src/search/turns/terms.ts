import { stemmer } from 'stemmer'
import { analyse, isUnspaced, type Token } from '../analyse.ts'
import { memoize } from '../memoize.ts'

/** A word of a text by which turns are found: its stem and its position. */
export type Term = { readonly term: string; readonly start: number; readonly end: number }

/**
 * The terms of a text in order, without stop words. Words with letters other than a to z are not stemmed; in scripts without
 * spaces, every two adjacent characters are a term. With `wanted`, other terms may be left out.
 */
export const termsOf = (text: string, wanted?: WantedTerms): readonly Term[] => termsAmong(analyse(text), wanted)

function termsAmong(tokens: readonly Token[], wanted?: WantedTerms): readonly Term[] {
  const terms: Term[] = []
  for (const [at, { word, start, end, parts }] of tokens.entries()) {
    if (isUnspaced(word)) {
      const next = tokens[at + 1]
      const hasNext = next !== undefined && next.gap === 'tight' && isUnspaced(next.word)
      const isAlone = !hasNext && !(tokens[at]?.gap === 'tight' && isUnspaced(tokens[at - 1]?.word ?? ''))
      if (hasNext) terms.push({ term: word + next.word, start, end: next.end })
      else if (isAlone) terms.push({ term: word, start, end })
      continue
    }
    const whole = wanted === undefined || wanted.mayBe(word) ? termOf(word) : ''
    if (whole !== '') terms.push({ term: whole, start, end })
    // An identifier is also found by the words inside it.
    for (const part of parts) {
      const term = wanted === undefined || wanted.mayBe(part) ? termOf(part) : ''
      if (term !== '' && term !== whole) terms.push({ term, start, end })
    }
  }
  return terms
}

/** A set of terms, with a fast check whether a word may have one of them as its term. */
export type WantedTerms = {
  readonly has: (term: string) => boolean
  readonly mayBe: (word: string) => boolean
}

const letterA = 97
const letterY = 121
const letters = 26

/** The index of a word's first two letters in a table of pairs; -1 if one of them is not a plain letter. */
function pairOf(word: string): number {
  const first = word.charCodeAt(0) - letterA
  const second = word.charCodeAt(1) - letterA
  // Written so that the NaN of a missing letter gives -1 too.
  return first >= 0 && first < letters && second >= 0 && second < letters ? first * letters + second : -1
}

/** Irregular forms, by their term. */
let formsOfTerm: ReadonlyMap<string, readonly string[]> | undefined

/**
 * Filters words by their first two letters before looking them up, because looking up every word of a text would take
 * longer than splitting it. A stem has the same two letters as its word, except for a y in second place (`ays` becomes
 * `ai`).
 */
export function wantedTerms(terms: ReadonlySet<string> | ReadonlyMap<string, unknown>): WantedTerms {
  formsOfTerm ??= Map.groupBy(irregularForms.keys(), termOf)
  const pairs = new Uint8Array(letters * letters)
  for (const term of terms.keys()) {
    for (const word of [term, ...(formsOfTerm.get(term) ?? [])]) {
      const pair = pairOf(word)
      if (pair >= 0) pairs[pair] = 1
    }
    const first = term.charCodeAt(0) - letterA
    if (term.length === 1 && first >= 0 && first < letters) pairs.fill(1, first * letters, (first + 1) * letters)
  }
  return {
    has: (term) => terms.has(term),
    mayBe: (word) => {
      const pair = pairOf(word)
      return pair < 0 || pairs[pair] === 1 || word.charCodeAt(1) === letterY
    },
  }
}

/** The frequency of each term in a text, and the total numbers of terms and words. */
export function countTerms(text: string): {
  readonly counts: ReadonlyMap<string, number>
  readonly length: number
  readonly words: number
} {
  const counts = new Map<string, number>()
  const tokens = analyse(text)
  const terms = termsAmong(tokens)
  for (const { term } of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return { counts, length: terms.length, words: tokens.length }
}

/** Max length of a term. Longer words are cut. */
const maxTermLength = 64

/** The term of one normalised word; empty for a stop word. */
export const termOf = memoize((word: string): string => {
  const plain = word.replaceAll("'", '').slice(0, maxTermLength)
  if (stopWords.has(plain)) return ''
  const base = irregularForms.get(plain) ?? plain
  return /^[a-z]{3,}$/u.test(base) ? stemmer(base) : base
}, 50_000)

let asking: ReadonlySet<string> | undefined

/** Whether a term is question filler such as "recall" or "many", which gets half the weight. */
export function isAskingTerm(term: string): boolean {
  asking ??= new Set(askingWords.map(termOf))
  return asking.has(term)
}

/** Function words, which carry no topic. They are not indexed. */
const stopWords: ReadonlySet<string> = new Set(
  `a about after again all also am an and any are as at be been before being both but by can cant could couldnt did didnt
  do does doesnt don done dont during each etc few for from had has have he her here hes hey hi him his how i id if ill im
  in into is isnt it its ive just let lets may me might mine more most must my no not now of oh ok okay on once or other
  our over own really s same shall she shes should so some such t than that thats the their them then there these they
  theyre this to too under us very was wasnt we were what when where which who whom whose why will with wont would wow
  yeah you your youre youve`.split(/\s+/u),
)

/** Question filler ("do you recall how many …"), which occurs in many questions and has little to do with the topic. */
const askingWords: readonly string[] =
  `able advice ago amount ask asked average back chat check combined conversation current currently day days discuss
  discussed discussing earlier exactly first follow following gave get give go going got help idea ideas initially kind
  know last lately list long look looking many mention mentioned month months much name need next number often old order
  past percentage please previous previously provide provided question recall recent recently recommend recommendation
  recommendations remember remind reminded said say sort specific suggest suggestion suggestions take taken talk talked
  tell think thinking thought time times tip tips today together told took total type want week weeks wonder wondering
  year years yesterday`.split(/\s+/u)

/**
 * Irregular forms of common words, and everyday synonyms, each with the word whose term it shares.
 */
const irregularForms: ReadonlyMap<string, string> = new Map(
  `went>go gone>go goes>go bought>buy took>take taken>take gave>give given>give got>get gotten>get made>make saw>see
  seen>see met>meet found>find lost>lose won>win began>begin begun>begin wrote>write written>write ran>run ate>eat
  eaten>eat drank>drink drunk>drink drove>drive driven>drive rode>ride ridden>ride flew>fly flown>fly swam>swim swum>swim
  sang>sing sung>sing spoke>speak spoken>speak broke>break broken>break chose>choose chosen>choose wore>wear worn>wear
  tore>tear torn>tear grew>grow grown>grow knew>know known>know threw>throw thrown>throw drew>draw drawn>draw shown>show
  taught>teach thought>think brought>bring caught>catch fought>fight sought>seek sold>sell told>tell said>say paid>pay
  left>leave felt>feel kept>keep slept>sleep swept>sweep sent>send spent>spend lent>lend built>build held>hold
  stood>stand understood>understand sat>sit heard>hear led>lead fed>feed came>come became>become fell>fall fallen>fall
  forgot>forget forgotten>forget forgave>forgive forgiven>forgive hid>hide hidden>hide bit>bite bitten>bite shot>shoot
  lit>light stole>steal stolen>steal woke>wake woken>wake rose>rise risen>rise laid>lay lain>lie meant>mean
  dreamt>dream learnt>learn hung>hang stuck>stick struck>strike swung>swing shook>shake shaken>shake dug>dig men>man
  women>woman people>person wives>wife lives>life feet>foot teeth>tooth mice>mouse children>child kid>child kids>child
  photograph>photo picture>photo pictures>photo pic>photo pics>photo mother>mom mum>mom father>dad television>tv film>movie
  films>movie`
    .split(/\s+/u)
    .map((pair) => pair.split('>') as [string, string]),
)
