import { isOrdinaryWord } from '../../../search/ordinary-words.ts'
import { datesIn, saysWhen } from './dates.ts'
import type { Frame } from './frame.ts'
import { calledFrame, isPronounOnly, likes, liking, shortList, topicFrom } from './frame-liking.ts'
import { clip, headOf } from './frame-possessive.ts'
import { isPerson } from './nouns.ts'
import { enumerated, nounPhrase, properNames, wordsOf } from './phrases.ts'
import { eventForms, formsOfDoing, formsOfObject, formsOfPhrase, formsOfValue, sayingsOf } from './surface-forms.ts'
import { asForm, type Verb } from './verbs.ts'

/** One value at a time: another one takes the place of the one before. Each with its name and the ways to ask for it. */
const functional: readonly (readonly [RegExp, string, readonly string[]])[] = [
  [
    /^(?:live|reside)\s+(?:in|at|on|near|with)\b/iu,
    'where I live',
    [
      'do I live',
      'I live',
      'am I living',
      'home town',
      'hometown',
      'city I live in',
      'where I am based',
      'home city',
      'my city',
      'my address',
    ],
  ],
  [
    /^(?:move|relocate)\s+(?:(?:back|over|here|house)\s+)?(?:to|from|into)\b/iu,
    'where I live',
    ['do I live', 'I live', 'did I move', 'I moved', 'moved', 'home town', 'where I moved', 'my move'],
  ],
  [
    /^(?:work|be employed)\s+(?:at|for|with|in)\b/iu,
    'where I work',
    [
      'do I work',
      'I work',
      'am I working',
      'my employer',
      'employer',
      'my company',
      'workplace',
      'my job',
      'company I work for',
    ],
  ],
  [
    /^work\s+as\b/iu,
    'my job',
    [
      'my job',
      'my profession',
      'my occupation',
      'profession',
      'occupation',
      'do for a living',
      'do I work',
      'job title',
      'my role',
    ],
  ],
  [/^(?:wake|get)\s+up\b/iu, 'when I get up', ['do I get up', 'do I wake up', 'wake up']],
  [/^(?:go|commute)\s+(?:to work|to bed)\b/iu, 'my routine', ['do I go', 'go to bed', 'commute']],
  [/^weigh\b/iu, 'my weight', ['do I weigh', 'weight']],
  [/^drive\s+an?\b/iu, 'my car', ['do I drive', 'my car', 'car I drive']],
]

/** Verbs of saying and thinking, which tell nothing that lasts. */
export const passive =
  /^(?:think|know|mean|guess|suppose|see|feel|hear|say|tell|ask|hope|wonder|forget|remember|believe|understand|agree|promise|thank|try|let|look|happen|seem)$/u

export type Doing = {
  readonly isGerund?: boolean
  readonly isHabit?: boolean
  readonly isNegative?: boolean
  readonly isAbility?: boolean
}

export function doingFrame(who: 'I' | 'we', rest: string, how: Doing): Frame | null {
  const [first = ''] = wordsOf(rest)
  const lower = first.toLowerCase()
  const verb =
    how.isGerund === true
      ? (asForm(lower, 'gerund') ?? ingVerb(lower))
      : (asForm(lower, 'base', 'past', 'participle') ??
        (/^\p{Ll}{3,}ed$/u.test(lower) ? edVerb(lower) : otherVerb(first)))
  if (verb === undefined) return null
  const tail = rest.slice(first.length).trim()
  if (likes.test(verb.lemma) && how.isGerund !== true && !/^(?:to be called)/u.test(tail)) {
    if (/^(?:want|wish|like)$/u.test(verb.lemma) && /^(?:you|to (?:know|ask|see|understand|hear))\b/iu.test(tail))
      return null
    return tail === '' || isPronounOnly(tail) ? null : liking(verb.lemma, tail, who, how.isNegative === true)
  }
  if (passive.test(verb.lemma) && !(saysWhen(tail) || /^(?:speak|know)$/u.test(verb.lemma))) return null
  if (/^(?:go)$/u.test(verb.lemma) && /^by\s+/iu.test(tail)) return calledFrame(tail.replace(/^by\s+/iu, ''))
  if (verb.lemma === 'have' || verb.lemma === 'own' || (verb.lemma === 'get' && how.isGerund !== true))
    return having(who, verb, tail, how)
  if (verb.lemma === 'use' && /^to\s/iu.test(tail) && lower === 'used') return formerly(who, tail.slice(3))
  const fact = functional.find(([pattern]) => pattern.test(`${verb.lemma} ${tail}`))
  // "I lived in Nairobi" says where somebody once lived.
  const isOver =
    /^(?:live|work|reside|drive|weigh|commute|go|wake)$/u.test(verb.lemma) &&
    asForm(lower, 'past') !== undefined &&
    asForm(lower, 'base') === undefined
  if (fact !== undefined && !isOver && !(how.isNegative === true)) {
    const [, name, forms] = fact
    const isWork =
      name === 'where I work' && /^(?:in|with)\b/iu.test(tail) && properNames(tail, { atStart: false }).length === 0
    const places = [
      ...formsOfValue(tail),
      ...formsOfObject(tail.replace(/^(?:in|at|for|with|to|near|on|from|as|into)\s+/iu, '')).filter(
        (form) => !saysWhen(form),
      ),
    ]
    return {
      rule: `"${who} ${verb.lemma} …"`,
      type: 'entity',
      name:
        who === 'we' && name !== 'where I live'
          ? name.replace('I ', 'we ').replace('my ', 'our ')
          : isWork
            ? `work ${clip(tail)}`
            : name,
      forms: [
        ...(who === 'we'
          ? forms.map((form) =>
              form
                .replace(/\bI\b/u, 'we')
                .replace(/\b(?:am we|we am)\b/u, (found) => (found === 'am we' ? 'are we' : 'we are'))
                .replace(/^my /u, 'our '),
            )
          : []),
        ...forms,
        ...places,
        ...(isWork ? formsOfObject(tail) : []),
      ],
      isSlot: !isWork,
      topic: topicFrom(tail),
    }
  }
  return activity(who, verb, tail, how, first)
}

const timeBehind =
  /\s+(?:today|tonight|tomorrow|yesterday|now|soon|again|daily|weekly|monthly|(?:next|last|this|every|each)\s+\p{L}+|every other \p{L}+)(?:\s+(?:morning|afternoon|evening|night))?$/iu

/** Everything else somebody does: found by the verb with what follows, and by what is in it. */
function activity(who: 'I' | 'we', verb: Verb, tail: string, how: Doing, first = verb.lemma): Frame | null {
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

/** "I have two cats, Miso and Taro", "I have a flight on Friday". */
function having(who: 'I' | 'we', verb: Verb, tail: string, how: Doing): Frame | null {
  const done = wordsOf(tail)[0] ?? ''
  if (verb.lemma === 'get' && (asForm(done.toLowerCase(), 'participle') !== undefined || /^\p{Ll}{3,}ed$/u.test(done)))
    return doingFrame(who, tail, how)
  const to = /^to\s+(.+)$/iu.exec(tail)
  if (to !== null) return activityAfter(who, to[1] ?? '')
  const object = nounPhrase(tail.replace(/^(?:one|two|three|four|five|six|seven|eight|nine|ten|\d+)\s+/iu, ''))
  if (
    object === '' ||
    isPronounOnly(tail) ||
    /^(?:idea|question|problem|issue|look|fun|time|chance|sense|feeling|point|clue|doubt|thoughts?)$/iu.test(
      headOf(object),
    )
  )
    return null
  const [named] = properNames(tail, { atStart: false })
  const head = headOf(object)
  if (/^(?:quid|pounds?|euros?|dollars?|francs?)$/iu.test(head) || /^[€$£]\d/u.test(tail))
    return {
      rule: `"${who} get …"`,
      type: 'entity',
      name: clip(`${who} ${verb.lemma} ${tail}`),
      forms: [
        `do ${who} ${verb.lemma}`,
        'get paid',
        `are ${who} paid`,
        'fee',
        ...formsOfValue(tail),
        ...formsOfObject(tail.replace(/^.*?\sfor\s+/iu, '')),
      ],
      topic: null,
    }
  return {
    rule: `"${who} have …"`,
    type: 'entity',
    name: clip(`${how.isNegative === true ? 'no ' : ''}${object}`),
    forms: [
      ...formsOfPhrase(object),
      ...(isPerson(head)
        ? [head, 'pet', 'pets'].slice(
            0,
            /^(?:cat|dog|pet|horse|hamster|parrot|rabbit|goldfish|puppy|kitten)$/u.test(head) ? 3 : 1,
          )
        : []),
      ...(/\b(?:called|named)\b/iu.test(tail) || named !== undefined
        ? [`${head} called`, `${head} name`, `${head}'s name`]
        : []),
      `do ${who} have ${object}`,
      ...(verb.lemma === 'own' ? [`do ${who} own`] : []),
      ...formsOfObject(tail),
      ...formsOfValue(tail),
      ...sayingsOf(tail),
    ],
    topic: { referent: named ?? `my ${object}`, isPerson: isPerson(head), noun: head },
  }
}

/** "I have to renew my passport in March": something to be done, worth keeping when it says when. */
function activityAfter(who: 'I' | 'we', text: string): Frame | null {
  const [first = ''] = wordsOf(text)
  const verb = asForm(first.toLowerCase(), 'base')
  if (verb === undefined) return null
  const frame = activity(who, verb, text.slice(first.length).trim(), {})
  return frame === null ? null : { ...frame, rule: 'something to be done' }
}

/** "I used to live in Rome" says how it was. */
function formerly(who: 'I' | 'we', text: string): Frame | null {
  const phrase = wordsOf(text).slice(0, 6).join(' ')
  return phrase === ''
    ? null
    : {
        rule: '"I used to …"',
        type: 'entity',
        name: clip(`used to ${phrase}`),
        forms: [
          `did ${who} ${wordsOf(text)[0]}`,
          ...formsOfValue(text),
          ...formsOfObject(text.replace(/^\S+\s+(?:in|at|for|to|on)?\s*/u, '')),
        ],
        topic: topicFrom(text),
      }
}

const nounPhraseAfter = (text: string, word: string): string => {
  const after = text.slice(text.indexOf(word) + word.length).trim()
  const undated = datesIn(after).reduce((rest, date) => rest.replace(date, ''), after)
  const phrase = nounPhrase(undated.replace(/(?:^|\s)(?:on|in|at|since|from|back in)\s*.*$/iu, ''))
  return saysWhen(phrase) || /^(?:it|that|this|there)$/iu.test(phrase) ? '' : phrase
}

/** A verb that is not in the list, by its ending. */
export function ingVerb(word: string): Verb {
  const lemma = word.toLowerCase().replace(/ing$/u, '')
  return { lemma, third: `${lemma}s`, past: `${lemma}ed`, participle: `${lemma}ed`, gerund: word.toLowerCase() }
}

function edVerb(word: string): Verb {
  const lemma = word.toLowerCase().replace(/ed$/u, '')
  return { lemma, third: `${lemma}s`, past: word.toLowerCase(), participle: word.toLowerCase(), gerund: `${lemma}ing` }
}

const noVerbs =
  /^(?:all|any|both|each|either|every|few|many|most|neither|none|some|such|about|above|after|along|among|around|before|behind|below|beside|beyond|down|during|inside|like|near|off|onto|outside|over|past|per|since|than|then|though|through|until|upon|via|with|within|without|yes|maybe|perhaps|well|very|too|quite|rather|sure|able|glad|happy|sorry|here|there|where|when|while|what|who|why|how|which|because|although|unless|mean|guess|see|hope|doubt|wonder)$/u

/** Behind "I" and "we" an ordinary word is a verb, whether or not it is in the list. */
const otherVerb = (word: string): Verb | undefined =>
  /^\p{Ll}{3,}$/u.test(word) && isOrdinaryWord(word) && !noVerbs.test(word) && !/ly$/u.test(word)
    ? plainVerb(word)
    : undefined

const plainVerb = (lemma: string): Verb => {
  const stem = lemma.replace(/e$/u, '')
  return { lemma, third: `${lemma}s`, past: `${stem}ed`, participle: `${stem}ed`, gerund: `${stem}ing` }
}
