import { saysWhen } from './dates.ts'
import type { Frame } from './frame.ts'
import { clip } from './frame-possessive.ts'
import { isPerson } from './nouns.ts'
import { firstWords, isBareNoun, isNamed, isParticular, isPersonal, placed, subjectNames } from './particular.ts'
import { nounPhrase, properNames, quotedIn, wordsOf } from './phrases.ts'
import { formsOfObject, formsOfPhrase, formsOfValue, sayingsOf } from './surface-forms.ts'

type CopulaSaid = {
  readonly subject: string
  readonly plain: string
  readonly of: Record<string, string | undefined> | null
  readonly how: string
  readonly value: string
  readonly isAsked: boolean
}

/** "The launch is on 3 May", "Ana is afraid of dogs": what something is. */
export function copulaFrame({ subject, plain, of, how, value, isAsked }: CopulaSaid): Frame | null {
  const isName = isNamed(plain) || (/^\p{Lu}\p{Ll}+$/u.test(subject) && (isAsked || personal.test(value)))
  const named = isName && !/^(?:the|this)\s/iu.test(subject)
  const isConcrete =
    properNames(value, { atStart: false }).length > 0 ||
    quotedIn(value).length > 0 ||
    /\d/u.test(value) ||
    saysWhen(value) ||
    // "The cats (Bobbin and Thimble) are …"
    /\(\p{Lu}[^)]*\)/u.test(subject)
  const isPlaced = placed.test(value)
  if (!isParticular(subject) && !isName && !isAsked && !((isConcrete || isPlaced) && isBareNoun(plain))) return null
  // "The weather is nice" is about nothing that lasts.
  if (!named && !isConcrete && !isPlaced && !isAsked && !/^(?:called|named)/iu.test(how)) return null
  if (
    !named &&
    /\b(?:weather|movie|film|error|code|bug|answer|output|problem|question|issue|idea)$/iu.test(plain) &&
    !isAsked &&
    !/\d|called|named/u.test(`${how} ${value}`)
  )
    return null
  const isNegative = /n['’]t$/iu.test(how) || /^not\b/iu.test(value)
  const lastWord = nounPhrase(value)
  const isKind = /^(?:an?|the)\s/iu.test(value) || !isConcrete
  const byValue = named && isKind
  const name = byValue
    ? plain
    : isConcrete && !isNegative
      ? named && !of
        ? `${plain} ${how} ${firstWords(value)}`
        : plain
      : `${plain} ${how} ${firstWords(value)}`
  const when = saysWhen(value)
  return {
    rule: /called|named/u.test(how) ? '"X is called Y"' : when ? 'a dated fact' : '"X is Y"',
    type: 'entity',
    name: clip(byValue ? `${plain} ${how} ${lastWord}` : name),
    forms: [
      ...formsOfPhrase(plain),
      ...(of === null
        ? []
        : [
            `${of.owner} ${of.noun}`,
            `${of.owner}'s ${of.noun}`,
            ...formsOfPhrase(of.noun ?? ''),
            ...formsOfValue(of.owner ?? ''),
          ]),
      ...formsOfValue(subject, { atStart: true }),
      ...formsOfValue(value),
      ...(isKind ? formsOfPhrase(lastWord) : []),
      ...(/called|named/u.test(how) ? [`${plain} name`, `${plain} called`, `name of my ${plain}`] : []),
      ...formsOfObject(
        /^\p{L}+\s+(?:to|of|at|with|in|for|by|under|on)\s+(?<what>.+)$/iu.exec(value)?.groups?.what ?? '',
      ).filter((form) => !saysWhen(form)),
      ...(when && !named
        ? [
            ...(/(?:date|day|deadline)$/iu.test(plain) ? [] : [`${plain} date`]),
            `when is the ${plain}`,
            `date of the ${plain}`,
          ]
        : []),
      ...sayingsOf(`${plain} ${/\bdue\b/u.test(value) ? 'due' : ''} ${/\bborn\b/u.test(value) ? 'born on' : ''}`),
    ],
    isSlot: !named && isConcrete && !isNegative,
    topic: {
      referent: /called|named/u.test(how)
        ? (quotedIn(value)[0] ?? properNames(value, { atStart: false })[0] ?? plain)
        : named
          ? // "They" are both of them.
            /\sand\s/u.test(plain)
            ? plain
            : (subjectNames(subject)[0] ?? plain)
          : subject,
      isPerson:
        isPersonal(subject, value) ||
        (/called|named/u.test(how) && /\b(?:one|boy|girl|baby|kid|toddler)$/iu.test(plain)) ||
        wordsOf(subject).some((word) => isPerson(word.toLowerCase())),
      noun: null,
    },
  }
}

/** Said of people and animals, so that the one word before it is a name. */
const personal =
  /^(?:(?:very|quite|really|a bit|not|now|also|still)\s+)*(?:afraid|scared|terrified|allergic|intolerant|married|engaged|divorced|single|vegan|vegetarian|pregnant|shy|deaf|blind|left-handed|right-handed|fond of|keen on|good at|bad at|retired|diabetic|coeliac|celiac|asthmatic|pescatarian|colou?r-?blind|dyslexic)\b/iu
