import { saysWhen } from './dates.ts'
import type { Frame } from './frame.ts'
import { clip, headOf } from './frame-possessive.ts'
import { isPerson, isProfession } from './nouns.ts'
import { enumerated, isDistinctive, nounPhrase, properNames, quotedIn, wordsOf } from './phrases.ts'
import { eventForms, formsOfDoing, formsOfObject, formsOfPhrase, formsOfValue, sayingsOf } from './surface-forms.ts'
import { asForm, type Verb } from './verbs.ts'

const adverbs =
  'also|really|just|usually|always|never|often|still|mostly|currently|now|recently|finally|personally|generally|sometimes|only|already|actually|typically|mainly|absolutely|particularly|especially|definitely|strongly|occasionally|rarely|simply|both|all|first|then|originally|officially|formally|basically|normally|primarily|once|even|almost|barely|hardly|quite|kind of|sort of|proudly|happily|sadly|previously|formerly'
const subject = new RegExp(
  String.raw`^(?<who>I|we)(?<short>['’](?:m|re|ve|d|ll)|m|ve)?\s+(?<adverbs>(?:(?:${adverbs})\s+)*)`,
  'iu',
)

const likes =
  /^(?:prefer|like|love|enjoy|adore|hate|dislike|detest|despise|avoid|favou?r|appreciate|value|tolerate|care|want|wish|opt|crave|fancy|loathe)$/u
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

/** "I …" and "we …": what the speaker is, does, has and likes. */
export function firstPersonFrame(text: string): Frame | null {
  const match = subject.exec(text)
  if (match === null) return null
  const who = match.groups?.who?.toLowerCase() === 'we' ? ('we' as const) : ('I' as const)
  const short = (match.groups?.short ?? '').replace(/^['’]/u, '')
  const rest = text.slice(match[0].length).trim()
  const always = /\b(?:always|never|usually)\b/iu.test(match.groups?.adverbs ?? '')
  const isNever = /\bnever\b/iu.test(match.groups?.adverbs ?? '')
  if (short === 'm' || short === 're') return beingFrame(who, rest)
  if (short === 've') return pastFrame(who, rest)
  if (short === 'd') return wishFrame(who, rest)
  if (short === 'll') return plannedFrame(who, rest)
  const [first = ''] = wordsOf(rest)
  const lower = first.toLowerCase()
  const tail = rest.slice(first.length).trim()
  if (/^(?:am|are|was|were)$/u.test(lower)) return beingFrame(who, tail, lower)
  if (/^(?:will|shall)$/u.test(lower)) return plannedFrame(who, tail)
  if (
    /^(?:have|had)$/u.test(lower) &&
    /^(?:(?:always|never|just|also|already|recently|not)\s+)*(?:been|\p{L}+ed|started|begun|worked|lived|known|had|got|used|moved|learned|become|taken|written|read|bought|sold|made|built|won|met|seen|gone|done|chosen|decided|switched)\b/iu.test(
      tail,
    )
  )
    return pastFrame(who, tail)
  if (/^(?:would)$/u.test(lower)) return wishFrame(who, tail)
  const negated = /^(?:don['’]?t|do not|can['’]?t|cannot|won['’]?t|didn['’]?t|never)\s+(?<more>.+)$/iu.exec(rest)
  if (negated !== null) return negatedFrame(who, negated.groups?.more ?? '')
  if (lower === 'can') return doingFrame(who, tail, { isAbility: true })
  return doingFrame(who, rest, { isHabit: always, isNegative: isNever })
}

/** "I'm a nurse", "I'm from Porto", "I'm allergic to nuts", "we're moving to Rome in May". */
function beingFrame(who: 'I' | 'we', rest: string, copula = 'am'): Frame | null {
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

/** "I've been learning it since …", "I've moved to …", "I had my first lesson in May". */
function pastFrame(who: 'I' | 'we', rest: string): Frame | null {
  const text = rest.replace(new RegExp(String.raw`^(?:(?:${adverbs}|not)\s+)+`, 'iu'), '')
  const been = /^been\s+(?<more>.+)$/iu.exec(text)
  if (been === null) return doingFrame(who, text, {})
  const more = (been.groups?.more ?? '').replace(new RegExp(String.raw`^(?:(?:${adverbs})\s+)+`, 'iu'), '')
  const [first = ''] = wordsOf(more)
  return asForm(first.toLowerCase(), 'gerund') !== undefined || /^\p{Ll}{3,}ing$/u.test(first)
    ? doingFrame(who, more, { isGerund: true })
    : beingFrame(who, more, 'was')
}

/** "I'd prefer tea", "I'd rather not fly". Other wishes are not settled. */
function wishFrame(who: 'I' | 'we', rest: string): Frame | null {
  const [, wish] =
    /^(?:much\s+)?(?:prefer|rather|love|like)\s+(?:to be called\s+|it if\s+|that\s+)?(.+)$/iu.exec(rest) ?? []
  if (wish === undefined) return null
  if (/^(?:prefer|like) to be called/iu.test(rest)) return calledFrame(wish)
  if (
    /^(?:you\b|to (?:know|ask|see|hear|learn more)|help|some help|a )/iu.test(wish) &&
    !/^(?:much )?prefer/iu.test(rest)
  )
    return null
  return liking('prefer', wish.replace(/^(?:have|get|use|take|be given)\s+/iu, ''), who)
}

/** "I'll be in Rome from 3 to 7 May", "we will launch on Monday". */
function plannedFrame(who: 'I' | 'we', rest: string): Frame | null {
  const text = rest.replace(new RegExp(String.raw`^(?:(?:${adverbs}|not)\s+)+`, 'iu'), '')
  const isNegative = /^not\b/iu.test(rest)
  const [first = ''] = wordsOf(text)
  if (first.toLowerCase() === 'be') return beingFrame(who, text.slice(2).trim())
  const frame = doingFrame(who, text, { isNegative })
  return frame === null ? null : { ...frame, rule: 'a plan' }
}

const passive =
  /^(?:think|know|mean|guess|suppose|see|feel|hear|say|tell|ask|hope|wonder|forget|remember|believe|understand|agree|promise|thank|try|get|let|look|happen|seem)$/u

type Doing = {
  readonly isGerund?: boolean
  readonly isHabit?: boolean
  readonly isNegative?: boolean
  readonly isAbility?: boolean
}

function doingFrame(who: 'I' | 'we', rest: string, how: Doing): Frame | null {
  const [first = ''] = wordsOf(rest)
  const lower = first.toLowerCase()
  const verb =
    how.isGerund === true
      ? (asForm(lower, 'gerund') ?? ingVerb(lower))
      : (asForm(lower, 'base', 'past', 'participle') ?? (/^\p{Ll}{3,}ed$/u.test(lower) ? edVerb(lower) : undefined))
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
  if (fact !== undefined && !(how.isNegative === true)) {
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
      name: who === 'we' ? name.replace('I ', 'we ').replace('my ', 'our ') : isWork ? `work ${clip(tail)}` : name,
      forms: [...forms, ...places, ...(isWork ? formsOfObject(tail) : [])],
      isSlot: !isWork,
      topic: topicFrom(tail),
    }
  }
  return activity(who, verb, tail, how, first)
}

/** Everything else somebody does: found by the verb with what follows, and by what is in it. */
function activity(who: 'I' | 'we', verb: Verb, tail: string, how: Doing, first = verb.lemma): Frame | null {
  if (isPronounOnly(tail) && !saysWhen(tail)) return null
  const after = tail.replace(/^(?:to|on|in|at|for|with|as|about|up|out|from|into)\s+/iu, '')
  const object = enumerated(after).length > 1 && !saysWhen(after) ? shortList(after) : nounPhrase(after)
  const particle = /^(?:to|on|in|at|for|with|as|about|up|out|from|into|off|over)\b/iu.exec(tail)?.[0] ?? ''
  const inner = wordsOf(tail)[0] ?? ''
  const innerGerund = asForm(inner.toLowerCase(), 'gerund')
  const isStart = /^(?:start|begin|stop|finish|quit|keep|continue)$/u.test(verb.lemma)
  const when = saysWhen(tail)
  const does = how.isGerund === true ? verb.gerund : verb.lemma
  const said = (how.isGerund === true ? verb.gerund : first).toLowerCase()
  const isLasting =
    how.isGerund === true &&
    /\b(?:since|for (?:\d|a |one|two|three|four|five|six|seven|eight|nine|ten|many|several|over|almost|about))/iu.test(
      tail,
    )
  const words = wordsOf(tail.replace(/[,;(].*$/u, ''))
  const isDateObject = saysWhen(object) || object === ''
  const name =
    innerGerund !== undefined && isStart
      ? `${said} ${inner} ${nounPhraseAfter(tail, inner)}`
      : isDateObject
        ? isLasting
          ? `${said} since`
          : `${who} ${said}`
        : `${said} ${particle === '' ? '' : `${particle} `}${wordsOf(object).slice(0, 5).join(' ')}`
  const forms = [
    ...formsOfDoing(who, verb, ''),
    ...(particle === '' ? [] : formsOfDoing(who, verb, particle)),
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
      : formsOfObject(tail.replace(/^(?:to|on|in|at|for|with|as|about|up|out|from|into)\s+/iu, ''))),
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

/** "I prefer X over Y", "I hate Z". */
function liking(lemma: string, object: string, who: 'I' | 'we', isNegative = false): Frame | null {
  const versus = /^(?<one>.+?)\s+(?:over|to|rather than|instead of|more than|than)\s+(?<other>[^,.;]+)/iu.exec(object)
  const isVersus = versus !== null && /^(?:prefer|like|love|favou?r)$/u.test(lemma) && !/^to\b/iu.test(object)
  const one = nounPhrase(versus?.groups?.one ?? object)
  const other = nounPhrase(versus?.groups?.other ?? '')
  const verbal = /^to\s+(?<verb>.+)$/iu.exec(object)
  const phrase = verbal === null ? (isVersus ? one : shortList(object)) : clip(verbal.groups?.verb ?? '')
  if (phrase === '') return null
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

/** "I have two cats, Miso and Taro", "I have a flight on Friday". */
function having(who: 'I' | 'we', verb: Verb, tail: string, how: Doing): Frame | null {
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

/** "I don't eat meat", "we can't deploy on Fridays". */
function negatedFrame(who: 'I' | 'we', rest: string): Frame | null {
  const text = rest.replace(new RegExp(String.raw`^(?:(?:${adverbs}|any ?more|any longer)\s+)+`, 'iu'), '')
  const [first = ''] = wordsOf(text)
  const verb = asForm(first.toLowerCase(), 'base')
  const tail = text.slice(first.length).trim()
  if (/^(?:stand|bear)$/u.test(first.toLowerCase())) return liking('hate', tail, who)
  if (
    verb === undefined ||
    (passive.test(verb.lemma) && !/^(?:trust|eat|speak)$/u.test(verb.lemma)) ||
    tail === '' ||
    isPronounOnly(tail)
  )
    return null
  if (likes.test(verb.lemma)) {
    if (/^(?:you|to be|me|care|mind)\b/iu.test(tail) || verb.lemma === 'care') return null
    return liking(verb.lemma, tail, who, true)
  }
  const object = nounPhrase(tail)
  if (object === '') return null
  if (verb.lemma === 'have' && !saysWhen(tail) && /^(?:any (?:idea|questions?)|time|access|much|enough)\b/iu.test(tail))
    return null
  return {
    rule: `"${who} don't …"`,
    type: 'preference',
    name: clip(`not ${verb.lemma} ${object}`),
    forms: [
      `do ${who} ${verb.lemma}`,
      `${verb.lemma} ${object}`,
      ...formsOfObject(tail),
      ...formsOfValue(tail),
      ...sayingsOf(tail),
      ...(/^(?:eat|drink)$/u.test(verb.lemma) ? ['diet', 'dietary'] : []),
    ],
    topic: topicFrom(tail),
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

const isPronounOnly = (text: string): boolean =>
  /^(?:it|that|this|them|these|those|him|her|you|me|us|so|one|some|there|here)?\s*(?:too|as well|a lot|very much|now|then|already|yet|again|all|so much)?\s*[.!]*$/iu.test(
    text.trim(),
  )

const shortList = (text: string): string =>
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

const nounPhraseAfter = (text: string, word: string): string => {
  const after = text.slice(text.indexOf(word) + word.length).trim()
  const phrase = nounPhrase(after.replace(/^(?:on|in|at|since|from|back in)\s+.*$/iu, ''))
  return saysWhen(phrase) || /^(?:it|that|this|there)$/iu.test(phrase) ? '' : phrase
}

function topicFrom(text: string): Frame['topic'] {
  const [named] = [...quotedIn(text), ...properNames(text, { atStart: false })]
  if (named !== undefined) return { referent: named, isPerson: false, noun: null }
  const phrase = nounPhrase(text)
  return phrase === '' || wordsOf(phrase).length > 3 || saysWhen(phrase) || /^(?:it|that|this|them)$/iu.test(phrase)
    ? null
    : { referent: phrase, isPerson: false, noun: headOf(phrase) }
}

/** A verb that is not in the list, by its ending. */
function ingVerb(word: string): Verb {
  const lemma = word.toLowerCase().replace(/ing$/u, '')
  return { lemma, third: `${lemma}s`, past: `${lemma}ed`, participle: `${lemma}ed`, gerund: word.toLowerCase() }
}

function edVerb(word: string): Verb {
  const lemma = word.toLowerCase().replace(/ed$/u, '')
  return { lemma, third: `${lemma}s`, past: word.toLowerCase(), participle: word.toLowerCase(), gerund: `${lemma}ing` }
}
