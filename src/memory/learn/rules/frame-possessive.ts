import { saysWhen } from './dates.ts'
import type { Frame, Topic } from './frame.ts'
import { everyday, isPerson, oneOfAKind, several, things } from './nouns.ts'
import { nounPhrase, properNames, quotedIn, wordsOf } from './phrases.ts'
import { formsOfObject, formsOfPhrase, formsOfValue, sayingsOf } from './surface-forms.ts'

/** "project codename": the name of a project. */
const nameLike = /^(?<what>.*[^'’s]|.*[^'’]s)\s+(?:name|codename|code name|title|nickname)$/iu
const preferred = /\b(?:favou?rite|preferred|go-to|least favou?rite|preference)\b/iu

type Said = { readonly owner: string; readonly noun: string; readonly verb: string; readonly value: string }

/** "My X is Y", "our X is called Y", "Ana's X is Y". `owner` is empty for the speaker's own. */
export function possessiveFrame({ owner, noun, verb, value }: Said): Frame | null {
  const whole = noun.replace(/\s+/gu, ' ').trim()
  const plain = withoutRelative(whole).replace(/\s+(?:there|here|now|currently)$/iu, '')
  const head = headOf(plain)
  const isNegative = /n['’]t$|\bnot\b/iu.test(verb)
  const kind = kindOfValue(value)
  const isOwned = owner !== ''
  const called = isOwned ? `${owner}'s ${plain}` : plain
  const isSeveral = several.has(head) && !preferred.test(plain)
  const isNaming = properNames(value, { atStart: false }).length > 0 || quotedIn(value).length > 0
  const isNamedOne = isNaming && isPerson(head)
  const isCalling = /\b(?:called|named)\b/iu.test(verb)
  const describes = (isPerson(head) || things.has(head)) && kind === 'plain' && !preferred.test(plain) && !isCalling
  const short = shortValue(value)
  const names = properNames(value, { atStart: false })
  const name =
    describes || isNegative
      ? `${called} ${verb} ${short}`
      : isSeveral && isNamedOne
        ? `${called} ${names[0] ?? short}`
        : called
  const forms = [
    called,
    ...(isOwned
      ? [
          `${owner} ${plain}`,
          ...(owner.includes(' ') && properNames(owner, { atStart: false }).length === 0 ? [] : [owner]),
          `${plain} of ${owner}`,
        ]
      : [...(whole === plain ? [] : [whole]), ...formsOfOwn(plain)]),
    ...(isOwned || plain !== head || !everyday.has(head) ? [] : [`my ${head}`, `our ${head}`]),
    ...formsOfValue(value),
    ...(!isOwned &&
    !/\b(?:name|codename|title|nickname)$/iu.test(plain) &&
    (isCalling || (isNaming && /^(?:the\s+|an?\s+)?["“'‘`*]*\p{Lu}/u.test(value)))
      ? [`${head} name`, `name of my ${head}`, `${head} called`, `${head}'s name`]
      : []),
    ...(preferred.test(plain) || describes ? formsOfObject(value) : []),
    ...(saysWhen(value) && !isOwned
      ? [`when is my ${plain}`, ...(/(?:date|day)$/iu.test(plain) ? [] : [`${plain} date`])]
      : []),
  ]
  const called_ = nameLike.exec(plain)?.groups?.what
  if (called_ !== undefined && !isOwned) forms.push(...formsOfPhrase(called_), `${called_} called`, `${called_} name`)
  const type = preferred.test(plain) ? 'preference' : isNamedOne && !isOwned ? 'relation' : 'entity'
  return {
    rule: isOwned
      ? 'a statement about what somebody has'
      : /called|named/iu.test(verb)
        ? '"my X is called Y"'
        : '"my X is Y"',
    type,
    name: clip(name),
    forms,
    isSlot: !describes && !isNegative && !isSeveral,
    topic: topicOf(called, head, value, isOwned),
    ...(type === 'relation' ? { participants: names.slice(0, 4), relation: plain } : {}),
  }
}

/** What "it" or "she" means afterwards: the name that was given, else the thing itself. */
function topicOf(noun: string, head: string, value: string, isOwned: boolean): Topic | null {
  const [named] = [...quotedIn(value), ...properNames(value, { atStart: false })]
  const short = nounPhrase(value)
  const isShort = wordsOf(short).length <= 3 && short !== '' && !saysWhen(value) && !/^\d/u.test(short)
  const referent = named ?? (preferred.test(noun) && isShort ? short : isOwned ? noun : `my ${noun}`)
  return { referent, isPerson: isPerson(head), noun: head }
}

/** "project I'm working on" is a project. */
export const withoutRelative = (noun: string): string =>
  noun.replace(/\s+(?:(?:that|which|who|whom)\s+|(?=(?:i|we|he|she|they)(?:['’]\p{L}+)?\s)).*$/iu, '').trim() || noun

const kindOfValue = (value: string): 'named' | 'plain' => {
  const isNamed = properNames(value, { atStart: false }).length > 0 || quotedIn(value).length > 0
  return isNamed || /\d/u.test(value) || saysWhen(value) ? 'named' : 'plain'
}

const shortValue = (value: string): string =>
  wordsOf(value.replace(/[,;(].*$/u, ''))
    .slice(0, 5)
    .join(' ')

/** "wife's birthday" is asked for with the wife, never as a birthday alone; "team's motto" is a motto. */
function formsOfOwn(noun: string): readonly string[] {
  const [, owner, rest] = /^(.+?)['’]s?\s+(.+)$/u.exec(noun) ?? []
  if (owner === undefined || rest === undefined) return [...formsOfPhrase(noun), ...sayingsOf(noun)]
  const isSomebodys = isPerson(headOf(owner)) || properNames(owner, { atStart: false }).length > 0
  const whose = [`${rest} of my ${owner}`, `${owner} ${rest}`, owner]
  return isSomebodys ? whose : [...whose.slice(0, 2), ...formsOfPhrase(rest), ...sayingsOf(rest)]
}

/** The noun that a phrase is about: the last word before a preposition. */
export function headOf(phrase: string): string {
  const [base = ''] = phrase.split(/\s+(?:of|in|at|for|with|from|on|to)\s+/iu)
  const words = wordsOf(base)
  const last = (words.at(-1) ?? '').toLowerCase()
  const two = words.slice(-2).join('-').toLowerCase()
  if (oneOfAKind.has(two)) return two
  return oneOfAKind.has(last) || several.has(last)
    ? last
    : last.replace(/s$/u, (end) => (several.has(last.slice(0, -1)) ? '' : end))
}

export const clip = (name: string): string => {
  const words = name
    .replace(/["“”`*]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .split(' ')
  return words
    .slice(0, 8)
    .join(' ')
    .replace(/[.,;:!?]+$/u, '')
    .slice(0, 120)
}
