import { isOrdinaryWord } from '../../../search/ordinary-words.ts'
import { isParticle } from './clauses.ts'
import { datesIn, saysWhen } from './dates.ts'
import type { Frame } from './frame.ts'
import { clip, headOf, possessiveFrame, withoutRelative } from './frame-possessive.ts'
import { everyday, givenNames, isPerson } from './nouns.ts'
import { looksNamed, nounPhrase, properNames, quotedIn, wordsOf } from './phrases.ts'
import { eventForms, formsOfObject, formsOfPhrase, formsOfValue, sayingsOf } from './surface-forms.ts'
import { asForm, auxiliaries, copulas, type Verb, verbForms } from './verbs.ts'

/** The subject, the verb and the rest of a clause about somebody or something other than the speaker. */
export type Split = { readonly subject: string; readonly verb: string; readonly rest: string }

/** One value at a time: said with another value, it replaces the one before. */
const functional =
  /^(?:be|live|work|reside|run|sit|lead|head|own|manage|report|cost|start|begin|end|launch|open|close|leave|arrive|depart|expire|move|weigh|last|belong|depend|deploy|host|release|retire|graduate|marry|meet|happen|take|turn|become|stay|charge|pay|earn|serve|use to|bear|replace|point|listen|sleep|wake)$/u
const clauseWords =
  /^(?:that|which|who|whom|whose|because|when|while|if|and|but|or|where|since|although|than|so|unless|until|i|we|he|she|they|it|you)$/iu

/** Finds the verb that the subject of a clause goes with; null where there is none. */
export function splitClause(text: string): Split | null {
  const words = [...text.matchAll(/[\p{L}\p{N}$][\p{L}\p{N}\p{M}'’.+#&/_-]*/gu)].map((match) => ({
    text: match[0].replace(/[.,;:!?]+$/u, ''),
    start: match.index,
  }))
  const at = verbPlace(words.map(({ text: word }) => word))
  if (at === null || at === 0) return null
  const word = words[at]
  if (word === undefined) return null
  const subject = text
    .slice(0, word.start)
    .trim()
    .replace(/[,;:]$/u, '')
    .replace(/,\s+/gu, ' ')
  return { subject, verb: word.text, rest: text.slice(word.start + word.text.length).trim() }
}

function verbPlace(words: readonly string[]): number | null {
  const isSpecial = /^(?:what|the|all|one)$/iu.test(words[0] ?? '')
  const stop = words.findIndex(
    (word, index) =>
      index > 0 &&
      clauseWords.test(word) &&
      !(isSpecial && /^(?:that|i|we|he|she|they|which|who)$/iu.test(word)) &&
      !(/^(?:and|or)$/iu.test(word) && index <= 3),
  )
  const reach = stop === -1 ? words.length : stop
  const copula = words.findIndex(
    (word, index) => index > 0 && index < Math.min(reach, 12) && isCopula(word) && !isParticle(words, index),
  )
  const lexical = words.findIndex(
    (word, index) => index > 0 && index < Math.min(reach, 8) && isLexical(word, words, index),
  )
  if (copula !== -1 && (lexical === -1 || lexical > copula || !beatsCopula(words, lexical, copula))) return copula
  return lexical === -1 ? null : lexical
}

const isCopula = (word: string): boolean => copulas.has(word.toLowerCase()) || auxiliaries.has(word.toLowerCase())

/** A verb before the copula is the verb of the clause when an object stands between: "Ana thinks the plan is good". */
const beatsCopula = (words: readonly string[], lexical: number, copula: number): boolean =>
  copula - lexical > 1 &&
  /^(?:the|a|an|my|our|his|her|their|this|that|to|on|in|at|for|with|me|us|you|him|them|it)$/iu.test(
    words[lexical + 1] ?? '',
  )

function isLexical(word: string, words: readonly string[], index: number): boolean {
  const before = (words[index - 1] ?? '').toLowerCase()
  if (
    /^(?:a|an|the|my|our|his|her|their|its|your|of|for|to|in|on|at|with|this|every|new|old|favou?rite|main|next|last)$/u.test(
      before,
    )
  )
    return false
  if (word !== word.toLowerCase() || isParticle(words, index)) return false
  const forms = verbForms(word)
  const isPlural = /s$/u.test(before) || words.slice(0, index).some((one) => /^(?:and|both)$/iu.test(one))
  if (forms.some(({ form }) => form === 'past' || (form === 'third' && !isPluralNoun(word, words, index)))) return true
  if (forms.some(({ form }) => form === 'base') && isPlural) return true
  if (
    /^\p{Ll}{4,}ed$/u.test(word) &&
    /^(?:it|the|a|an|my|our|on|to|in|by|at|us|me|him|her|them|his|their|that)$/iu.test(words[index + 1] ?? '')
  )
    return true
  // A verb that is not in the list, behind a name: "Priya shepherds billing".
  return (
    /^\p{Lu}/u.test(words[index - 1] ?? '') &&
    /^\p{Ll}{3,}(?:s|ed)$/u.test(word) &&
    isOrdinaryWord(word) &&
    words.length > index + 1
  )
}

/** "my test results are": the plural of a noun, with the verb right behind it. */
const isPluralNoun = (_word: string, words: readonly string[], index: number): boolean => {
  const next = (words[index + 1] ?? '').toLowerCase()
  return isCopula(next) || asForm(next, 'third') !== undefined
}

/** Whether a subject is one particular thing: named, or told apart by "the", "my", "our". */
export function isParticular(subject: string): boolean {
  const [first = ''] = wordsOf(subject)
  return /^(?:the|my|our|this|his|her|their)$/iu.test(first) || isPerson(subject.toLowerCase()) || isNamed(subject)
}

/** "Tom" and "Slack" are names, "Cats" and "Programming" the first words of a sentence. */
const isNameAlone = (word: string): boolean =>
  givenNames.has(word.toLowerCase()) ||
  !isOrdinaryWord(word.toLowerCase()) ||
  /\p{Ll}\p{Lu}|\d|^\p{Lu}{2,}$/u.test(word)

export const isNamed = (subject: string): boolean =>
  properNames(subject, { atStart: true }).length > 0 ||
  quotedIn(subject).length > 0 ||
  (wordsOf(subject).length === 1 && looksNamed(subject) && isNameAlone(subject)) ||
  /^\p{Lu}\p{L}+ (?:\p{L}+ )?\p{Lu}/u.test(subject)

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
  const mine = /^(?:(?:also|now|still)\s+)?(?:my|our)\s+(?<role>[^,.;]+?)\s*(?<more>[,.;].*)?$/iu.exec(value)
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

type CopulaSaid = {
  readonly subject: string
  readonly plain: string
  readonly of: Record<string, string | undefined> | null
  readonly how: string
  readonly value: string
  readonly isAsked: boolean
}

function copulaFrame({ subject, plain, of, how, value, isAsked }: CopulaSaid): Frame | null {
  const isName = isNamed(plain) || (/^\p{Lu}\p{Ll}+$/u.test(subject) && (isAsked || personal.test(value)))
  const named = isName && !/^(?:the|this)\s/iu.test(subject)
  const isConcrete =
    properNames(value, { atStart: false }).length > 0 ||
    quotedIn(value).length > 0 ||
    /\d/u.test(value) ||
    saysWhen(value)
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
          ? (subjectNames(subject)[0] ?? plain)
          : subject,
      isPerson:
        isPersonal(subject, value) ||
        (/called|named/u.test(how) && /\b(?:one|boy|girl|baby|kid|toddler)$/iu.test(plain)) ||
        wordsOf(subject).some((word) => isPerson(word.toLowerCase())),
      noun: null,
    },
  }
}

/** "Parked behind the shed", "under the stairs": where a thing is to be found. */
const placed =
  /^(?:(?:parked|kept|stored|hidden|located|hanging|hung|buried|left|tucked|plugged|mounted|moored|locked|always|usually|now)\s+(?:away\s+|up\s+)?)*(?:in|at|on|under|underneath|behind|above|below|beneath|beside|by|next to|near|inside|outside|between|opposite|against)\s+(?!(?:the\s+)?(?:progress|time|order|danger|trouble|fire|sale|fact|general|question|doubt|use|stock|charge|hand|purpose|control|construction|review|way|works|mind|hold|track|least|best|risk|shape|dark|end|moment|air|rise|case)\b|it\b|that\b|this\b|them\b)\p{L}/iu
/** Said of people and animals, so that the one word before it is a name. */
const personal =
  /^(?:(?:very|quite|really|a bit|not|now|also|still)\s+)*(?:afraid|scared|terrified|allergic|intolerant|married|engaged|divorced|single|vegan|vegetarian|pregnant|shy|deaf|blind|left-handed|right-handed|fond of|keen on|good at|bad at|retired|diabetic|coeliac|celiac|asthmatic|pescatarian|colou?r-?blind|dyslexic)\b/iu
const staying = /^(?:sit|hang|stand|lie|live|hide|rest|stay)$/u

/** "Renewal date is 30 November": a noun by itself, with a value that only one thing has. */
const isBareNoun = (subject: string): boolean =>
  wordsOf(subject).length <= 4 &&
  !/^(?:it|he|she|they|this|that|these|those|there|you|everyone|everything|nothing|what|who|all|some|most|many|one|here|today|tomorrow|now)\b|^\p{L}+ing$/iu.test(
    subject,
  )

/** "Priya leads billing", "our servers run on Hetzner", "my sister lives in Rome". */
function doesFrame({ subject, verb, rest }: Split, plain: string, isOwn: boolean, isAsked: boolean): Frame | null {
  const own = subject.replace(/^(?:my|our)\s+/iu, '')
  const who = (isOwn ? own : plain).replace(/\s+(?:there|here)$/iu, '')
  const owned = /^(?<owner>.+?)['’]s?\s+(?<noun>[^'’]+)$/u.exec(who)?.groups
  const found = verbOf(verb)
  const lemma = found?.lemma ?? verb.replace(/s$/u, '')
  const helper = auxiliaries.has(verb)
  const isAboutNothing =
    /^(?:seem|look|sound|feel|say|think|mean|make|let|try|need|want|fail|crash|help|appear|tend|show|break)$/u.test(
      lemma,
    )
  const hasValue = properNames(rest, { atStart: false }).length > 0 || /\d/u.test(rest) || saysWhen(rest)
  const isConcrete = isNamed(subject) || isOwn || hasValue || (staying.test(lemma) && placed.test(rest))
  // "Juniper runs on Debian": a word that begins the sentence is a name when what follows is about one thing.
  const isFelt =
    /^(?:give|make|cause|help|keep|calm|wake|hurt|remind|bother|annoy|scare|upset|cost|relax)$/u.test(lemma) &&
    /\b(?:me|us|my|our)\b/iu.test(rest) &&
    !/^(?:it|that|this|these|those|he|she|they|you|the|which|what)\b/iu.test(subject)
  const mayBeName = /^\p{Lu}\p{Ll}+$/u.test(subject) && !/ing$|s$/u.test(subject) && hasValue
  // "Bins go out on Wednesdays"
  const isRegular =
    saysWhen(rest) &&
    isBareNoun(subject) &&
    /^(?:go|come|open|close|start|begin|end|leave|arrive|run|meet|happen|take)$/u.test(lemma)
  if (!isParticular(subject) && !isAsked && !mayBeName && !isFelt && !isRegular) return null
  if (!isAsked && !isFelt && (!isConcrete || (isAboutNothing && !isNamed(subject) && !isOwn))) return null
  if (rest === '' && !(isAsked && isNamed(subject))) return null
  const particle =
    /^(?:on|in|at|for|to|with|by|as|from|into|about|under|over|up|out|off|until)\b/iu.exec(rest)?.[0] ?? ''
  const object = nounPhrase(rest.replace(/^(?:on|in|at|for|to|with|by|as|from|into|about)\s+/iu, ''))
  const isFunctional = functional.test(lemma) && !helper
  const name = isFunctional
    ? `${who} ${verb}${particle === '' ? '' : ` ${particle.toLowerCase()}`}`
    : `${who} ${verb} ${firstWords(rest)}`
  const names = subjectNames(subject)
  const connected = [...names, ...properNames(rest, { atStart: false })].filter((one) => datesIn(one).length === 0)
  const isRelation =
    names.length > 0 &&
    /^(?:lead|head|manage|own|report|run|mentor|supervise|coach|chair|teach|marry|know|represent|replace|maintain|depend|belong|support|work)$/u.test(
      lemma,
    ) &&
    !isOwn &&
    object !== ''
  const relative = wordsOf(who)
    .map((word) => word.toLowerCase())
    .find(isPerson)
  const noun = relative ?? headOf(who)
  return {
    rule: 'a statement about a named thing',
    type: isRelation ? 'relation' : 'entity',
    name: clip(name),
    forms: [
      ...formsOfPhrase(who),
      ...(relative === undefined ? [] : [relative]),
      ...(owned?.noun === undefined || properNames(owned.owner ?? '', { atStart: false }).length > 0
        ? []
        : formsOfPhrase(owned.noun)),
      ...(isOwn && everyday.has(headOf(who)) ? [`my ${headOf(who)}`, `our ${headOf(who)}`] : []),
      ...formsOfValue(subject, { atStart: true }),
      ...formsOfObject(rest.replace(/^(?:on|in|at|for|to|with|by|as|from|into|about)\s+/iu, '')).filter(
        (form) => form.includes(' ') || isRelation || !helper,
      ),
      ...formsOfValue(rest),
      ...(object === '' || saysWhen(object) ? [] : [`${lemma} ${object}`, `${verb} ${object}`]),
      ...(saysWhen(rest) ? [...eventForms(lemma), `${who} ${lemma}`] : []),
      ...(isRelation && /^(?:lead|head|manage|run|own|maintain)$/u.test(lemma)
        ? [`${object} lead`, `head of ${object}`, `in charge of ${object}`, `responsible for ${object}`]
        : []),
      ...sayingsOf(`${who} ${rest}`),
    ],
    isSlot: isFunctional,
    ...(isRelation
      ? {
          participants: connected.length > 1 ? connected.slice(0, 4) : [...connected, object],
          relation: `${verb}${particle === '' ? '' : ` ${particle}`}`,
        }
      : {}),
    topic: {
      referent: names[0] ?? (isOwn ? `my ${own}` : subject),
      isPerson: isPerson(noun) || isPersonal(subject, rest),
      noun,
    },
  }
}

function verbOf(word: string): Verb | undefined {
  return asForm(word, 'third', 'past') ?? asForm(word, 'base') ?? asForm(word.replace(/s$/u, ''), 'base')
}

/** A capitalised word alone is a name, even where it is a word too: Tom, Rose, Slack. */
function subjectNames(subject: string): readonly string[] {
  const found = properNames(subject, { atStart: true })
  return found.length === 0 && /^\p{Lu}[\p{L}\p{N}-]+$/u.test(subject) && isNameAlone(subject) ? [subject] : found
}

const firstWords = (text: string): string =>
  wordsOf(text.replace(/[,;(].*$/u, ''))
    .slice(0, 5)
    .join(' ')

/** People lead, live and are born; a name of two capitalised words that does so is a person's. */
const isPersonal = (subject: string, rest: string): boolean =>
  /^\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)?$/u.test(subject.trim()) &&
  /^(?:my|our|an?)\s|lives?|works?|leads?|manages?|born|loves?|likes?/iu.test(rest)
