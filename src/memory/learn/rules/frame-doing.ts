import { saysWhen } from './dates.ts'
import type { Frame } from './frame.ts'
import { activity, type Doing } from './frame-activity.ts'
import { having } from './frame-having.ts'
import { calledFrame, isPronounOnly, likes, liking, topicFrom } from './frame-liking.ts'
import { clip } from './frame-possessive.ts'
import { properNames, wordsOf } from './phrases.ts'
import { formsOfObject, formsOfValue } from './surface-forms.ts'
import { asForm } from './verbs.ts'
import { edVerb, ingVerb, otherVerb } from './verbs-by-ending.ts'

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

/** "I live in Rome", "we rehearse on Mondays": what the speaker does. */
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
    return isDone(verb.lemma, tail) ? doingFrame(who, tail, how) : having(who, verb, tail, how)
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

/** "I got married in May" is about marrying. */
const isDone = (lemma: string, tail: string): boolean => {
  const done = wordsOf(tail)[0] ?? ''
  return lemma === 'get' && (asForm(done.toLowerCase(), 'participle') !== undefined || /^\p{Ll}{3,}ed$/u.test(done))
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
