import type { Topic } from './frame.ts'
import { asForm } from './verbs.ts'

/** What has been spoken of, for what comes after. */
export type Spoken = {
  readonly person: string | null
  readonly thing: string | null
  /** What it was said to be: Ana, the sister; NeonDB, the project. */
  readonly nouns: Readonly<Record<string, string>>
  /** What somebody was said to have, for "and Tom's is …". */
  readonly possessed: string | null
}

export const nothingSpoken: Spoken = { person: null, thing: null, nouns: {}, possessed: null }

export function spokenAfter(spoken: Spoken, topic: Topic | null): Spoken {
  if (topic === null) return spoken
  const nouns = topic.noun === null ? spoken.nouns : { ...spoken.nouns, [topic.referent]: topic.noun }
  return topic.isPerson ? { ...spoken, nouns, person: topic.referent } : { ...spoken, nouns, thing: topic.referent }
}

/** A statement with its pronoun replaced, and the pronoun with what it stands for; null where nothing is known. */
export type Resolved =
  | { readonly kind: 'none' }
  | { readonly kind: 'resolved'; readonly plain: string; readonly pronoun: string; readonly referent: string }
  | { readonly kind: 'unknown'; readonly pronoun: string }

const expletive =
  /^(?:it|that)(?:['’]s|\s+is)\s+(?:now\s+|all\s+|finally\s+)?(?:settled|decided|final|agreed)\b|^it(?:['’]s|\s+is|\s+was)\s+(?:important|true|clear|hard|easy|good|great|nice|time|likely|possible|worth|not that|because|my|our|up to|fine|best|better|just)\b/iu

/** "The third is under review", "the new one is called Ada": one of what was spoken of last. */
const oneOf =
  /^(?<which>(?:the|my|our)\s+(?:one|(?:first|second|third|fourth|fifth|other|last|next|latest|new|old|current|bigger|smaller|older|younger)(?:\s+one)?))(?=\s+(?:is|are|was|were|has|will|costs?|lives?|works?)\b)/iu

/** Finds the pronoun a statement hangs on. */
export function resolved(text: string, spoken: Spoken): Resolved {
  const which = oneOf.exec(text)?.groups?.which
  const kind = which === undefined ? null : lastKind(spoken)
  if (which !== undefined && kind !== null) {
    const plain = `${which.replace(/\s+one$/iu, '')} ${kind}${text.slice(which.length)}`
    return { kind: 'resolved', plain, pronoun: which, referent: kind }
  }
  if (expletive.test(text) || /\sit is(?: then)?$/iu.test(text)) return { kind: 'none' }
  const possessive = /^(?<pronoun>his|her|their|its)\s+(?=\p{L})/iu.exec(text)
  if (possessive !== null && !/^her\s+(?:is|was)\b/iu.test(text)) {
    const pronoun = possessive.groups?.pronoun ?? ''
    const referent = /^(?:his|her|their)$/iu.test(pronoun)
      ? (spoken.person ?? personalName(spoken.thing) ?? (/^their$/iu.test(pronoun) ? spoken.thing : null))
      : spoken.thing
    return known(text, possessive[0], pronoun, referent, (name) => `${name}'s ${text.slice(possessive[0].length)}`)
  }
  const subject = /^(?<pronoun>he|she|they|it|this|that|these|those)(?<short>['’](?:s|re|ll|ve|d))?(?=\s)/iu.exec(text)
  if (subject !== null) {
    const pronoun = subject.groups?.pronoun ?? ''
    const next = /^\s+(?<word>[\p{L}'’]+)/u.exec(text.slice(subject[0].length))?.groups?.word ?? ''
    // "This project is called …", "that dog is …": no pronoun.
    if (
      /^(?:this|that|these|those)$/iu.test(pronoun) &&
      subject.groups?.short === undefined &&
      !/^(?:is|was|are|were|will|has|had|can|runs|uses|means|should|must|started|starts|works)$/iu.test(next)
    )
      return { kind: 'none' }
    const isPerson = /^(?:he|she)$/iu.test(pronoun)
    const referent = isPerson
      ? (spoken.person ?? personalName(spoken.thing))
      : /^they$/iu.test(pronoun)
        ? (spoken.person ?? spoken.thing)
        : (spoken.thing ?? null)
    const helper =
      { s: ' is', re: ' are', ll: ' will', ve: ' have', d: ' would' }[
        (subject.groups?.short ?? '').replace(/['’]/u, '')
      ] ?? ''
    const rest = /^they$/iu.test(pronoun) ? inSingular(text.slice(subject[0].length)) : text.slice(subject[0].length)
    return known(text, subject[0], pronoun, referent, (name) => `${name}${helper}${rest}`)
  }
  const object = /(?<=[\s])(?<pronoun>it|there|him|them)(?=[\s.,;!?]|$)/iu.exec(text)
  if (
    object !== null &&
    !/^(?:it|that|this|you|there)\b/iu.test(text) &&
    !/\bthere (?:is|are|was|were)\b/iu.test(text)
  ) {
    const pronoun = object.groups?.pronoun ?? ''
    // In a clause further on it means what stands in the clause before.
    if (/\b(?:because|since|so|that|which|when|while|if|and|but|as|until|where)\b/iu.test(text.slice(0, object.index)))
      return { kind: 'none' }
    const referent = /^him$/iu.test(pronoun)
      ? spoken.person
      : (spoken.thing ?? (/^them$/iu.test(pronoun) ? spoken.person : null))
    const head = text.slice(0, object.index)
    const name = (referent ?? '').replace(/^(?:in|at)\s+/iu, '')
    return known(
      text,
      pronoun,
      pronoun,
      referent,
      () => `${head}${/^there$/iu.test(pronoun) ? 'in ' : ''}${name}${text.slice(object.index + pronoun.length)}`,
    )
  }
  return { kind: 'none' }
}

/** What kind of thing was spoken of last: the noun, and one of them. */
const lastKind = ({ thing, nouns }: Spoken): string | null => {
  const noun =
    thing === null ? undefined : (nouns[thing] ?? /^(?:my|our|the|two|three|four|five|\d+)\s/iu.exec(thing)?.input)
  const last = noun?.split(' ').at(-1)
  return last === undefined || !/^\p{Ll}{3,}$/u.test(last) ? null : last.replace(/(?<=[^s])s$/u, '')
}

/** Who was only named may be a person, or an animal with a name. */
const personalName = (name: string | null): string | null =>
  name !== null && /^(?:(?:Dr|Mr|Mrs|Ms|Prof)\.?\s+)?\p{Lu}\p{Ll}+(?:\s+\p{Lu}\p{Ll}+)?$/u.test(name) ? name : null

/** "they use" of one firm is "uses". */
const inSingular = (text: string): string =>
  text.replace(
    /^\s+(?<verb>\p{Ll}+)/u,
    (found, verb: string) => ` ${asForm(verb, 'base')?.third ?? (verb === 'are' ? 'is' : found.trim())}`,
  )

function known(
  _text: string,
  _found: string,
  pronoun: string,
  referent: string | null,
  replace: (name: string) => string,
): Resolved {
  if (referent === null) return { kind: 'unknown', pronoun }
  return { kind: 'resolved', plain: replace(referent), pronoun, referent }
}
