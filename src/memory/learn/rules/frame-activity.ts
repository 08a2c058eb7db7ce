import { datesIn, saysWhen } from './dates.ts'
import type { Frame } from './frame.ts'
import { isPronounOnly, shortList, topicFrom } from './frame-liking.ts'
import { clip } from './frame-possessive.ts'
import { enumerated, nounPhrase, wordsOf } from './phrases.ts'
import { eventForms, formsOfDoing, formsOfObject, formsOfValue, sayingsOf } from './surface-forms.ts'
import { asForm, type Verb } from './verbs.ts'

export type Doing = {
  readonly isGerund?: boolean
  readonly isHabit?: boolean
  readonly isNegative?: boolean
  readonly isAbility?: boolean
}

const timeBehind =
  /\s+(?:today|tonight|tomorrow|yesterday|now|soon|again|daily|weekly|monthly|(?:next|last|this|every|each)\s+\p{L}+|every other \p{L}+)(?:\s+(?:morning|afternoon|evening|night))?$/iu

/** Everything else somebody does: found by the verb with what follows, and by what is in it. */
export function activity(who: 'I' | 'we', verb: Verb, tail: string, how: Doing, first = verb.lemma): Frame | null {
  if (isPronounOnly(tail) && !saysWhen(tail)) return null
  const after = tail.replace(/^(?:to|on|in|at|for|with|as|about|up|out|from|into|over|off|down|back)\s+/iu, '')
  const object = (enumerated(after).length > 1 && !saysWhen(after) ? shortList(after) : nounPhrase(after)).replace(
    timeBehind,
    '',
  )
  const particle = /^(?:to|on|in|at|for|with|as|about|up|out|from|into|off|over)\b/iu.exec(tail)?.[0] ?? ''
  const inner = wordsOf(tail)[0] ?? ''
  const innerGerund = asForm(inner.toLowerCase(), 'gerund')
  const isStart = /^(?:start|begin|stop|finish|quit|keep|continue)$/u.test(verb.lemma)
  const when = saysWhen(tail)
  const does = how.isGerund === true ? verb.gerund : verb.lemma
  const said = (how.isGerund === true ? verb.gerund : first).toLowerCase()
  const isOver = asForm(said, 'past') !== undefined && asForm(said, 'base') === undefined
  const isLasting =
    how.isGerund === true &&
    /\b(?:since|for (?:\d|a |one|two|three|four|five|six|seven|eight|nine|ten|many|several|over|almost|about))/iu.test(
      tail,
    )
  const words = wordsOf(tail.replace(/[,;(].*$/u, ''))
  // "We come back on 3 June"
  const way = /^(?:back|home|over|away)\b/iu.exec(tail)?.[0].toLowerCase() ?? ''
  const isDateObject = saysWhen(object) || object === ''
  const name =
    innerGerund !== undefined && isStart
      ? `${said} ${inner} ${nounPhraseAfter(tail, inner)}`
      : isDateObject
        ? isLasting
          ? `${said} since`
          : `${how.isGerund === true ? (who === 'I' ? 'I am' : 'we are') : who} ${said}${way === '' ? '' : ` ${way}`}`
        : `${said} ${particle === '' ? '' : `${particle} `}${wordsOf(object).slice(0, 5).join(' ')}`
  const forms = [
    ...formsOfDoing(who, verb, '', isOver),
    ...(particle === '' ? [] : formsOfDoing(who, verb, particle, isOver)),
    ...(way === ''
      ? []
      : [
          `${verb.lemma} ${way}`,
          `${verb.gerund} ${way}`,
          ...(who === 'I' ? ['am I back'] : ['are we back']),
          'return',
        ].slice(0, way === 'back' ? 4 : 2)),
    ...(isDateObject ? [] : [`${does} ${object}`, `${verb.lemma} ${object}`, `${verb.gerund} ${object}`]),
    ...(innerGerund === undefined
      ? []
      : [
          `${verb.lemma} ${inner}`,
          `${verb.past} ${inner}`,
          `${inner} since`,
          `been ${inner}`,
          `am I ${inner}`,
          `I ${innerGerund.lemma}`,
          `${inner} ${nounPhraseAfter(tail, inner)}`,
          `${inner} start date`,
        ]),
    ...(isLasting
      ? [`been ${verb.gerund}`, `${verb.gerund} since`, `start ${verb.gerund}`, `started ${verb.gerund}`, `start date`]
      : []),
    ...(when ? eventForms(verb.lemma) : []),
    ...(verb.lemma === 'work' && particle === 'on' ? ['working on', 'my project'] : []),
    ...(verb.lemma === 'speak' ? ['do I speak', 'languages I speak'] : []),
    ...(isDateObject
      ? []
      : formsOfObject(tail.replace(/^(?:to|on|in|at|for|with|as|about|up|out|from|into|over|off|down|back)\s+/iu, ''))),
    ...formsOfValue(tail),
    // "We pay 15 euros an hour for piano lessons"
    ...formsOfObject(
      /\sfor\s+(?<what>\p{Ll}[\p{L} -]{3,40})$/u.exec(tail.replace(/[.!]+$/u, ''))?.groups?.what ?? '',
    ).filter((form) => !saysWhen(form)),
    ...sayingsOf(`${verb.lemma} ${tail}`),
  ]
  if (words.length === 0 && how.isHabit !== true) return null
  return {
    rule: `"${who} ${verb.lemma} …"`,
    type: 'entity',
    name: clip(`${how.isNegative === true ? 'never ' : ''}${name}`),
    forms: forms.filter(
      (form) =>
        !/^(?:do|did) (?:I|we) (?:do|be|have|get|use|make|take|go)$|^(?:I|we) (?:do|did|am|have|had|use|used|get|got|make|made|take|took|go|went)$|^(?:am I|are we) (?:doing|being|having|using|getting|making|taking|going)$/iu.test(
          form,
        ),
    ),
    topic: topicFrom(tail),
  }
}

/** "I have to renew my passport in March": something to be done, worth keeping when it says when. */
export function activityAfter(who: 'I' | 'we', text: string): Frame | null {
  const [first = ''] = wordsOf(text)
  const verb = asForm(first.toLowerCase(), 'base')
  if (verb === undefined) return null
  const frame = activity(who, verb, text.slice(first.length).trim(), {})
  return frame === null ? null : { ...frame, rule: 'something to be done' }
}

const nounPhraseAfter = (text: string, word: string): string => {
  const after = text.slice(text.indexOf(word) + word.length).trim()
  const undated = datesIn(after).reduce((rest, date) => rest.replace(date, ''), after)
  const phrase = nounPhrase(undated.replace(/(?:^|\s)(?:on|in|at|since|from|back in)\s*.*$/iu, ''))
  return saysWhen(phrase) || /^(?:it|that|this|there)$/iu.test(phrase) ? '' : phrase
}
