import { saysWhen } from './dates.ts'
import type { Frame } from './frame.ts'
import { doingFrame } from './frame-doing.ts'
import { shortList, topicFrom } from './frame-liking.ts'
import { clip, headOf } from './frame-possessive.ts'
import { isProfession } from './nouns.ts'
import { nounPhrase, properNames, wordsOf } from './phrases.ts'
import { formsOfObject, formsOfPhrase, formsOfValue, sayingsOf } from './surface-forms.ts'
import { asForm } from './verbs.ts'
import { ingVerb } from './verbs-by-ending.ts'

/** What may stand before the verb and changes nothing. */
export const adverbs =
  'also|really|just|usually|always|never|often|still|mostly|currently|now|recently|finally|personally|generally|sometimes|only|already|actually|typically|mainly|absolutely|particularly|especially|definitely|strongly|occasionally|rarely|simply|both|all|first|then|originally|officially|formally|basically|normally|primarily|once|even|almost|barely|hardly|quite|kind of|sort of|proudly|happily|sadly|previously|formerly'

/** "I'm a nurse", "I'm from Porto", "I'm allergic to nuts", "we're moving to Rome in May". */
export function beingFrame(who: 'I' | 'we', rest: string, copula = 'am'): Frame | null {
  const text = rest.replace(new RegExp(String.raw`^(?:(?:${adverbs}|not)\s+)+`, 'iu'), '')
  const isNegative = /^not\b/iu.test(rest)
  const [first = ''] = wordsOf(text)
  const gerund = asForm(first.toLowerCase(), 'gerund') ?? (/^\p{Ll}{3,}ing$/u.test(first) ? ingVerb(first) : undefined)
  if (gerund !== undefined && !isNegative)
    return doingFrame(who, `${first} ${text.slice(first.length).trim()}`, { isGerund: true })
  const am = who === 'I' ? 'am I' : 'are we'
  if (/^born\b/iu.test(text)) {
    const where = /\bin\s+(?!(?:19|20)\d\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/iu.test(text)
    const name = where && !saysWhen(text) ? 'where I was born' : 'my birthday'
    return {
      rule: '"I was born …"',
      type: 'entity',
      name,
      forms: [
        'birthday',
        'date of birth',
        'I born',
        'was I born',
        'place of birth',
        'birthplace',
        ...formsOfValue(text),
      ],
      isSlot: true,
      topic: null,
    }
  }
  const age = /^(?:turning\s+)?(\d{1,3})(?:\s+years?(?:\s+old)?)?(?:\s+(?:now|this year))?\s*[.!]?$/iu.exec(text)
  if (age !== null)
    return {
      rule: '"I am N years old"',
      type: 'entity',
      name: 'my age',
      forms: ['how old am I', 'old am I', 'my age', 'years old'],
      isSlot: true,
      topic: null,
    }
  const from = /^(?:originally\s+)?from\s+(.+)$/iu.exec(text)
  if (from !== null)
    return {
      rule: '"I am from …"',
      type: 'entity',
      name: 'where I am from',
      forms: [
        'am I from',
        'I am from',
        'home country',
        'hometown',
        'home town',
        'my origin',
        'come from',
        ...formsOfValue(text),
        ...formsOfObject(from[1] ?? ''),
      ],
      isSlot: true,
      topic: null,
    }
  const based = /^(?:based|living|located|staying)\s+(?:in|at|near)\s+(.+)$/iu.exec(text)
  if (based !== null)
    return {
      rule: '"I am based in …"',
      type: 'entity',
      name: 'where I live',
      forms: [
        'am I based',
        'I am based',
        'do I live',
        'I live',
        'my city',
        'am I living',
        'home city',
        ...formsOfValue(text),
      ],
      isSlot: true,
      topic: null,
    }
  const allergic = /^(?:(?:severely|very|mildly|badly|highly)\s+)?(?:allergic|intolerant)\s+to\s+(.+)$/iu.exec(text)
  if (allergic !== null) {
    const what = allergic[1] ?? ''
    return {
      rule: '"I am allergic to …"',
      type: 'entity',
      name: clip(`${isNegative ? 'not ' : ''}allergic to ${shortList(what)}`),
      forms: ['allergy', 'allergic', 'my allergies', 'food allergy', ...formsOfObject(what)],
      topic: null,
    }
  }
  const married = /^(?:married|engaged)\s+to\s+(.+)$/iu.exec(text)
  if (married !== null) {
    const names = properNames(married[1] ?? '', { atStart: false })
    return {
      rule: '"I am married to …"',
      type: 'relation',
      name: 'spouse',
      forms: ['married to', 'am I married', 'wife', 'husband', 'spouse', 'partner', ...formsOfValue(married[1] ?? '')],
      isSlot: true,
      participants: names,
      relation: 'married to',
      topic: names[0] === undefined ? null : { referent: names[0], isPerson: true, noun: null },
    }
  }
  const skilled =
    /^(?:(?:very|quite|really|pretty|fairly|totally|completely|reasonably)\s+)?(?:an?\s+)?(?:(?:expert|specialist|beginner|novice|newbie|newcomer|pro)\s+(?:in|at|on|with|to)|experienced\s+(?:in|with)|fluent\s+in|proficient\s+(?:in|with)|good\s+(?:at|with)|bad\s+at|terrible\s+at|new\s+to|comfortable\s+with|familiar\s+with|unfamiliar\s+with|skilled\s+(?:in|at|with))\s+(.+)$/iu.exec(
      text,
    )
  if (skilled !== null) {
    const what = skilled[1] ?? ''
    const kind = (wordsOf(text)[0] ?? '').toLowerCase()
    return {
      rule: 'a statement about what the speaker knows',
      type: 'preference',
      name: clip(
        `${text
          .slice(0, text.length - what.length)
          .replace(/^an?\s+/iu, '')
          .trim()} ${shortList(what)}`,
      ),
      forms: [
        ...formsOfObject(what),
        ...formsOfValue(what),
        `${am} ${kind}`,
        ...(kind === 'fluent' ? ['languages I speak', 'do I speak', 'fluent'] : []),
      ],
      topic: topicFrom(what),
    }
  }
  const role = /^(?:an?|the)\s+(.+)$/iu.exec(text)
  if (role !== null) {
    const phrase = nounPhrase(role[1] ?? '')
    const head = headOf(phrase)
    const isJob =
      isProfession(head) ||
      /^(?:an?|the)\s+(?:[\p{L}-]+\s+){0,3}(?:engineer|developer|manager|designer|officer|director|lead|head|owner|founder|co-founder|partner|student|assistant|fellow|resident|clerk)\b/iu.test(
        text,
      )
    const name = isJob && !isNegative ? 'my job' : clip(`${isNegative ? 'not ' : ''}${phrase}`)
    return {
      rule: '"I am a …"',
      type: 'entity',
      name,
      forms: [
        ...(isJob
          ? [
              'my job',
              'my profession',
              'my occupation',
              'profession',
              'occupation',
              'do for a living',
              'job title',
              'my role',
              'what I do',
            ]
          : [`${am} a ${phrase}`]),
        ...formsOfPhrase(phrase),
        ...formsOfValue(role[1] ?? ''),
        ...sayingsOf(text),
      ],
      isSlot: isJob && !isNegative,
      topic: null,
    }
  }
  const [named] = properNames(rest, { atStart: false })
  if (isNegative && /^not\s+\p{Lu}\p{L}+[.!]*$/u.test(rest)) return null
  if (named !== undefined && rest.startsWith(named) && who === 'I' && copula !== 'was') {
    return {
      rule: '"I am NAME"',
      type: 'entity',
      name: 'my name',
      forms: ['my name', 'name is', 'am I called', 'who I am', 'who am I', ...formsOfValue(rest)],
      isSlot: true,
      topic: null,
    }
  }
  const phrase = wordsOf(text).slice(0, 6).join(' ')
  const isPassing =
    /^(?:going|here|there|at|on|in|not|so|too|very|really|just|about|able|happy|glad|sorry|sure|afraid|ready|using)$/iu.test(
      first,
    )
  if (phrase === '' || (isPassing && !saysWhen(text) && properNames(text, { atStart: false }).length === 0)) return null
  return {
    rule: '"I am …"',
    type: 'entity',
    name: clip(`${isNegative ? 'not ' : ''}${phrase}`),
    forms: [
      `${am} ${first}`,
      ...formsOfObject(text),
      ...formsOfValue(text),
      ...sayingsOf(text),
      ...(/^(?:married|single|divorced|widowed|engaged)\b/iu.test(text) ? ['marital status', 'am I married'] : []),
    ],
    topic: topicFrom(text),
  }
}
