import type { Frame } from './frame.ts'
import { copulaFrame } from './frame-copula.ts'
import { doesFrame } from './frame-does.ts'
import { clip, headOf, possessiveFrame, withoutRelative } from './frame-possessive.ts'
import { isPerson } from './nouns.ts'
import { nounPhrase, properNames, quotedIn, wordsOf } from './phrases.ts'
import type { Split } from './split-clause.ts'
import { formsOfObject, formsOfPhrase, formsOfValue, sayingsOf } from './surface-forms.ts'

/** "Atlas runs on PostgreSQL 16", "Ana is my sister", "the launch is on 3 May". */
export function namedFrame({ subject, verb, rest }: Split, isAsked: boolean): Frame | null {
  const lower = verb.toLowerCase()
  const whole = subject
    .replace(/^(?:the|this)\s+/iu, '')
    .replace(/["“”`*]/gu, '')
    .trim()
  const plain = withoutRelative(whole)
  const of = /^(?:the\s+)?(?<noun>.+?)\s+of\s+(?:the\s+)?(?<owner>.+)$/iu.exec(subject)
  const owned = /^(?<owner>.+?)['’]s?\s+(?<noun>[^'’]+)$/u.exec(subject)
  const isOwn = /^(?:my|our)\s/iu.test(subject)
  if (/^(?:is|are|was|were|isn['’]t|aren['’]t|wasn['’]t|will)$/u.test(lower)) {
    if (rest === '') return null
    const relation = relationFrame(plain, rest, quotedIn(subject).length > 0)
    if (relation !== null && !isOwn) return relation
    const called = /^(?<how>(?:now |officially |usually |also )?(?:called|named|known as))\s+(?<name>.+)$/iu.exec(rest)
    const value = called?.groups?.name ?? rest
    const how = called === null ? verb : `${verb} ${called.groups?.how}`
    if (isOwn) return possessiveFrame({ owner: '', noun: subject.replace(/^(?:my|our)\s+/iu, ''), verb: how, value })
    if (owned !== null)
      return possessiveFrame({
        owner: withoutArticle(owned.groups?.owner ?? ''),
        noun: owned.groups?.noun ?? '',
        verb: how,
        value,
      })
    if (/\b(?:favou?rite|preferred)\b/iu.test(plain) && !of)
      return possessiveFrame({ owner: '', noun: plain, verb: how, value })
    // "The instrument I'm learning" is the speaker's own.
    const doing = /\s(?:i|we)(?:['’](?:m|re)|\s+(?:am|are))?\s+(?<doing>\p{L}+(?:\s+(?:on|in|at|with|for))?)$/iu.exec(
      whole,
    )?.groups?.doing
    if (whole !== plain && doing !== undefined && !of) {
      const own = possessiveFrame({ owner: '', noun: plain, verb: how, value })
      if (own !== null)
        return { ...own, forms: [whole, ...own.forms, `am I ${doing}`, `I'm ${doing}`, ...formsOfObject(value)] }
    }
    const frame = copulaFrame({ subject, plain, of: of?.groups ?? null, how, value, isAsked })
    return frame === null || whole === plain ? frame : { ...frame, forms: [whole, ...frame.forms] }
  }
  return doesFrame({ subject, verb: lower, rest }, plain, isOwn, isAsked)
}

const withoutArticle = (text: string): string => text.replace(/^(?:the|this)\s+/iu, '').trim()

/** "Ana is my sister", "Tom is the head of sales": how somebody is connected. */
function relationFrame(subject: string, value: string, isQuoted: boolean): Frame | null {
  const mine =
    /^(?:(?:also|now|still)\s+)?(?:my|our)\s+(?<role>[^,.;]+?)\s*(?<more>(?:[,.;]|\s(?:because|since|until|while|so that)\s).*)?$/iu.exec(
      value,
    )
  const [named] = properNames(subject, { atStart: false })
  const isName = named !== undefined || isQuoted || (wordsOf(subject).length <= 2 && /^\p{L}/u.test(subject))
  if (mine !== null && isName && subject !== '') {
    const role = mine.groups?.role ?? ''
    const noun = nounPhrase(role)
    const head = headOf(noun)
    if (!isPerson(head)) return possessiveFrame({ owner: '', noun: role, verb: 'is', value: subject })
    return {
      rule: '"X is my Y"',
      type: 'relation',
      name: clip(`${noun} ${named ?? subject}`),
      forms: [
        ...formsOfPhrase(noun),
        named ?? subject,
        ...formsOfValue(subject),
        ...sayingsOf(noun),
        `${head}'s name`,
        `${head} name`,
        ...formsOfValue(value),
      ],
      participants: [named ?? subject],
      relation: noun,
      topic: { referent: named ?? subject, isPerson: true, noun: head },
    }
  }
  return null
}
