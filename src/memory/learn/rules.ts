import { analyse } from '../../search/analyse.ts'
import { isOrdinaryWord } from '../../search/ordinary-words.ts'
import type { Extraction, Extractor, Finding, Refusal, Slot } from './extraction.ts'
import { calendarWords, isFunctionWord } from './name-of.ts'
import { type MessageSentence, sentencesIn } from './own-words.ts'
import { redacted, secretIn } from './secrets.ts'

/** Longer messages are documents. They are refused whole. */
export const longestMessage = 100_000
/** Longer sentences are documents, not statements. */
const longestStatement = 1_000

/** Finds statements by rules, without a model. */
export const rulesExtractor: Extractor = {
  name: 'rules',
  extract: async ({ text }) => findStatements(text),
}

/**
 * What a person says in a message that they mean to be kept: what they ask to be remembered, standing instructions,
 * who they are, what they prefer, and corrections. Everything else is left alone. Takes time in proportion to the text.
 */
export function findStatements(message: string): Extraction {
  const whole = { text: redacted(message.slice(0, 200)), span: { start: 0, end: message.length } }
  if (message.length > longestMessage) {
    const explanation = `The message has ${message.length} characters; nothing is learned from more than ${longestMessage}.`
    return { findings: [], refused: [{ ...whole, reason: 'too_long', explanation }] }
  }
  if (offTheRecord(message)) {
    const explanation = 'The message asks not to be kept.'
    return { findings: [], refused: [{ ...whole, reason: 'off_the_record', explanation }] }
  }
  const findings: Finding[] = []
  const refused: Refusal[] = []
  const sentences = sentencesIn(message)
  const hasOrder = sentences.some((sentence) => sentence.foreign === null && isOrder(sentence.text))
  let isPlaying = fiction.test(message)
  let announcedIn: number | null = null
  for (const sentence of sentences) {
    if (sentence.foreign === null && beginsRolePlay.test(sentence.text)) isPlaying = true
    const isAnnounced: boolean = announcedIn === sentence.paragraph
    announcedIn = isAnnounced ? announcedIn : null
    if (sentence.text.length > longestStatement * 4) continue
    const found = isAnnounced ? asked(sentence, 0) : statementIn(sentence, hasOrder)
    if (found === null) continue
    if (found === 'announcement') {
      announcedIn = sentence.paragraph
      continue
    }
    const refusal = refusalOf(sentence, found, isPlaying)
    if (refusal === null) findings.push(found)
    else
      refused.push({
        text: redacted(found.content === '' ? sentence.text : found.content),
        span: found.span,
        ...refusal,
      })
  }
  return { findings, refused }
}

function refusalOf(
  { foreign, text }: MessageSentence,
  { kind, content }: Finding,
  isPlaying: boolean,
): Pick<Refusal, 'reason' | 'explanation'> | null {
  if (foreign !== null)
    return { reason: 'not_own_words', explanation: `It is ${foreign} and not said by the person to the agent.` }
  if (isPlaying)
    return { reason: 'role_play', explanation: 'It belongs to a role or a text that the agent is to make up.' }
  if (isQuestion(text) && kind !== 'request')
    return { reason: 'question', explanation: 'It is a question and states nothing.' }
  if (kind === 'request' && (!saysSomething(content) || pointsBack.test(content)))
    return { reason: 'unnamed', explanation: 'It points at something that the sentence does not name.' }
  const secret = secretIn(content)
  if (secret !== null)
    return { reason: 'secret', explanation: `It holds ${secret}, which does not belong in a memory.` }
  if (content.length > longestStatement) {
    const explanation = `It has ${content.length} characters; at most ${longestStatement} are taken from a conversation.`
    return { reason: 'too_long', explanation }
  }
  return null
}

const isQuestion = (text: string): boolean => /\?["'”’)*_\s]{0,4}$/u.test(text)

/** "It", "that" and "she" are never filled in. */
const pointsBack = /^(?:it|its|it['’]s|this|that|these|those|he|she|they|them)\b/iu

const saysSomething = (content: string): boolean => analyse(content).some(({ word }) => !isFunctionWord(word))

/** From such a sentence on, what a message says is part of a role or of a text to be made up. */
const beginsRolePlay =
  /^\W{0,4}(?:please |now |so |ok,? |hi,? |let['’]s )?(?:(?:you are|you['’]re|you will be|your (?:task|job|role|name) is|act (?:as|like)|pretend|imagine|suppose|role-?play|simulate|play the (?:role|part))\b|(?:i want you|i['’]d like you|i need you) to (?:act|be|become|pretend|play|role)\b|(?:can|could|would|will) you (?:please )?(?:act as|pretend|role-?play|write|create|draft|generate)\b|(?:write|compose|draft|create|generate|continue) (?:me |up )?(?:an?|the|some|my|this|\d+) )/iu

const fiction =
  /\b(?:stay in character|role-?play(?:ing)?|fictional|hypothetical (?:setting|scenario|world)|(?:game|dungeon) master)\b/iu

/** Words people begin a sentence with that are no part of what it says. */
const openers =
  /^(?:(?:and|also|but|so|ok|okay|oh|ah|hey|hi|hello|well|btw|by the way|fyi|ps|p\.s\.|thanks|thank you|great|perfect|cool|yes|yeah|yep|sure|one more thing|one last thing|quick note|side note|reminder|important|in general|generally|first|second|finally|lastly)\b[\s,:;.!–—-]{1,4}){1,3}/iu

const listMark = /^(?:[-*+•–]|\(?\d{1,3}[.)]|[a-z]\))\s{1,4}/u
/** Set in bold or italics as a whole. */
const emphasis = /^[*_]{1,3}(?=[^*_]{1,1000}[*_]{1,3}$)/u

/** The place in a sentence where what it says begins. */
function beginningOf(text: string): number {
  const item = listMark.exec(text)?.[0].length ?? 0
  const mark = item + (emphasis.exec(text.slice(item))?.[0].length ?? 0)
  return mark + (openers.exec(text.slice(mark))?.[0].length ?? 0)
}

type Found = Finding | 'announcement' | null

function statementIn(sentence: MessageSentence, hasOrder: boolean): Found {
  const start = beginningOf(sentence.text)
  const text = sentence.text.slice(start)
  const request = requestLength(text)
  if (request !== null) {
    const rest = text.slice(request)
    if (rest.trim() === '' && /[:：]\s{0,4}$/u.test(text)) return 'announcement'
    const found = asked(sentence, start + request)
    return hasOrder && found.kind === 'request' && inMind.test(text.slice(0, request))
      ? { ...found, isDoubtful: true }
      : found
  }
  return (
    identity(sentence, start) ??
    instruction(sentence, start) ??
    preference(sentence, start) ??
    correction(sentence, start)
  )
}

/** What is asked to be remembered, from a place in a sentence on: an instruction or an identity where it is one. */
function asked(sentence: MessageSentence, from: number): Finding {
  const start = from + beginningOf(sentence.text.slice(from))
  const inner = identity(sentence, start) ?? instruction(sentence, start)
  if (inner !== null) return inner
  const liking = preference(sentence, start)
  const content = statementText(sentence, start)
  return {
    kind: 'request',
    type: liking === null ? 'entity' : 'preference',
    subtype: null,
    about: isAboutPerson(content) ? 'person' : 'work',
    ...placed(sentence, start),
  }
}

/** Beside an order, this mostly tells what to mind while carrying it out. */
const inMind = /\b(?:keep|bear) in mind\b/iu

/** Whether a sentence begins like an order: with a base form, "please" aside. */
function isOrder(text: string): boolean {
  const words = analyse(text.slice(beginningOf(text), 200)).map(({ word }) => word)
  const [first = ''] = words[0] === 'please' ? words.slice(1) : words
  return (
    words.length > 2 &&
    isBaseVerb(first) &&
    isOrdinaryWord(first) &&
    requestLength(text.slice(beginningOf(text))) === null
  )
}

const asksAgent =
  /^(?:please[\s,]{1,3}|kindly\s|(?:can|could|would|will) you (?:please |also |just )?|i(?:['’]d| would)? (?:want|need|like) you to |you (?:should|must|need to) |(?:just )?make sure (?:you |to )?)?/iu
const remembers = [
  /^(?:always )?(?:remember|keep in mind|bear in mind|(?:do not|don['’]?t) forget|memori[sz]e|note for later|note down|make a note|take a note|take note|save (?:it )?to (?:your )?memory|store in (?:your )?memory)(?: of)?(?: (?:this|the following|these things))?(?: for (?:later|the future|next time|future reference))?(?::\s{0,4}| that | - | – )/iu,
  // Without "that" it must be plain that a sentence follows, and not only a thing: "remember our trip".
  /^(?:remember|keep in mind|bear in mind|(?:do not|don['’]?t) forget) (?=(?:i|we|i['’](?:m|ve)|we['’](?:re|ve))\s|(?:my|our)\s[^.!?]{1,80}\s(?:is|are|has|have|must|can)\s)/iu,
  /^(?:remember|keep in mind|bear in mind|note|save|memori[sz]e|store) (?:this|it|that|these)(?: (?:for (?:later|the future|next time|future reference|me)|in (?:your )?memory|down))?[.!:]?\s{0,4}$/iu,
  /^(?:note for later|for later|note to self|for (?:future|later) reference|for the record|for next time|to remember|remember for later)\s?[:,–-]\s{0,4}/iu,
]

/** How long the part of a text is that asks for the rest to be remembered; null where none does. */
function requestLength(text: string): number | null {
  const before = asksAgent.exec(text)?.[0].length ?? 0
  for (const pattern of remembers) {
    const match = pattern.exec(text.slice(before))
    if (match === null) continue
    // "Remember that time in Lisbon?" asks, and "remember that one" points.
    if (isQuestion(text) && !/^(?:can|could|would|will) you\b/iu.test(text)) return null
    return before + match[0].length
  }
  return null
}

const standing =
  /\b(?:from now on|from here on(?: out)?|from this point (?:on|forward)|going forward|in (?:the )?future|for all future (?:answers|replies|responses|messages|conversations))\b/iu
const whenIAsk = /\b(?:whenever|when|every time|each time|any ?time) i (?:ask|request|want you)\b/iu
const wheneverYou = /^(?:whenever|every time|each time|any ?time) you\s/iu

/** "Always …", "never …", "from now on …", "when I ask for …, …": holds until further notice. */
function instruction(sentence: MessageSentence, start: number): Finding | null {
  const text = sentence.text.slice(start)
  if (supposes.test(text) || !isInstruction(text)) return null
  const { content, span } = placed(sentence, start)
  const about = isAboutAnswers(content) ? 'person' : 'work'
  return { kind: 'instruction', type: 'preference', subtype: 'instruction', about, content, span }
}

/** Behind a colon or a quotation mark somebody else may be speaking. */
const isReported = /[:"“«]/u
const supposes = /^(?:if|unless|suppose|supposing|what if|in case|let['’]s say|assum(?:e|ing))\b/iu

function isInstruction(text: string): boolean {
  if (/^(?:always|never|ever)\s/iu.test(text.replace(addressed, ''))) return isCommand(text)
  const now = standing.exec(text)
  if (now !== null && !isReported.test(text.slice(0, now.index))) {
    const rest = text.slice(now.index + now[0].length).replace(/^[\s,:–—-]{1,4}/u, '')
    // "In future" is said of much else.
    if (/^in/iu.test(now[0])) return now.index === 0 && isCommand(rest)
    if (rest.length < 2) return isCommand(text)
    return isCommand(rest) || /^(?:you\s|i(?:['’]d| would) like (?!to\b)|i (?:want|need) (?!to\b))/iu.test(rest)
  }
  const asks = whenIAsk.exec(text) ?? wheneverYou.exec(text)
  if (asks === null) return false
  if (asks.index > 0) return isCommand(text)
  const comma = text.indexOf(',')
  return comma !== -1 && isCommand(text.slice(comma + 1).trimStart())
}

/** How a command may be opened. "Don't ever" is "never". */
const addressed =
  /^(?:please[\s,]{1,3}|you (?:should|must|need to|have to)\s|i(?:['’]d| would)? (?:want|need|like) you to\s|(?:do not|don['’]?t)\s(?=ever\b)){1,2}/iu

/** Whether a text begins with a command: a base form, with "always", "never" or "do not" before it or without. */
function isCommand(text: string): boolean {
  const words = analyse(text.replace(addressed, '').slice(0, 120)).map(({ word }) => word)
  const [first = '', second = '', third] = words
  if (['always', 'never', 'ever'].includes(first)) return third !== undefined && isBaseVerb(second)
  if (first === 'do' || first === "don't" || first === 'dont') return !['i', 'you', 'we', 'they'].includes(second)
  return second !== '' && isBaseVerb(first) && isOrdinaryWord(first)
}

/** Past forms and adjectives that begin a sentence behind "always" or "never", where a command has a base form. */
const noCommand = new Set(
  `am are is was were been had has have heard knew known thought saw seen did done got gone went felt found made met took
  taken told left lost kept came gave given said understood forgot wrote spoke bought brought grew wanted
  good great nice happy fun glad sad best better easy hard lovely excited ready sure proud grateful welcome possible true
  right wrong worth mind there here`.split(/\s+/u),
)

/** Whether a word can be a command: no function word, no past form and no other inflection. */
const isBaseVerb = (word: string): boolean =>
  ['be', 'use', 'keep', 'make', 'get', 'do', 'have', 'let', 'say', 'go'].includes(word) ||
  (/^[a-z]{2,}$/u.test(word) && !isFunctionWord(word) && !noCommand.has(word) && !/(?:ed|ing|ly|[^su]s)$/u.test(word))

const own = String.raw`(?<value>\p{Lu}[\p{L}'’-]{0,30}(?: \p{Lu}[\p{L}'’.-]{0,30}){0,3})(?=$|[.,!;)]|\s(?:and|but|by the way|from|-|–)\s)`
const identities: readonly (readonly [slot: Slot, pattern: RegExp, isValue: (value: string) => boolean])[] = [
  [
    'my name',
    new RegExp(
      String.raw`^(?:[Mm]y (?:(?:full|first|real) )?name(?:['’]s| is|:)|(?:[Ff]rom now on,? )?(?:[Pp]lease |[Yy]ou (?:can|may|should) |[Jj]ust )?[Cc]all me|I(?:['’]m| am) called|I go by)\s${own}`,
      'u',
    ),
    (value) => !calendarWords().has(value.toLowerCase()),
  ],
  [
    'my pronouns',
    /^(?:my (?:preferred )?pronouns(?: are| is|:)|i use|please use|i go by)\s(?<value>\p{L}{2,5}\s?\/\s?\p{L}{2,6}(?:\s?\/\s?\p{L}{2,6})?)\b/iu,
    (value) => /\b(?:she|he|they|it|ze|xe|ey|her|him|them)\b/iu.test(value),
  ],
  [
    'my language',
    /^(?:my (?:(?:native|first|mother|main|preferred) )?(?:language|tongue)(?: is|:)|i(?:['’]m| am) an? native)\s(?<value>\p{L}{3,20})\b/iu,
    (value) => languageNames().has(value.toLowerCase()),
  ],
  [
    'my time zone',
    /^(?:[Mm]y time ?zone(?: is|:)|I(?:['’]m| am) (?:in|on)(?: the)?)\s(?<value>(?:UTC|GMT)(?:\s?[+-]\s?\d{1,2}(?::?\d\d)?)?|[A-Z][A-Za-z]{1,20}\/[A-Z][A-Za-z_]{1,20}|[A-Z]{2,4}T(?= time|\W|$)|(?:Pacific|Mountain|Central|Eastern|Atlantic)(?: (?:Standard|Daylight|European))?(?= [Tt]ime))(?![\p{L}\p{N}])/u,
    () => true,
  ],
]

function identity(sentence: MessageSentence, start: number): Finding | null {
  const text = sentence.text.slice(start)
  for (const [slot, pattern, isValue] of identities) {
    const value = pattern.exec(text)?.groups?.value
    if (value === undefined || !isValue(value)) continue
    const subtype = /\bcall me\b/iu.test(text) ? 'instruction' : null
    return { kind: 'identity', type: 'preference', subtype, about: 'person', slot, ...placed(sentence, start) }
  }
  return null
}

const prefers =
  /^(?:i (?:(?:really|generally|usually|always|much|strongly|definitely|personally|also|still|actually) )?prefer|personally,? i prefer|my (?:strong |personal )?preference is)\s/iu

/** "I prefer …": what is preferred must be said, and not left to a pronoun. */
function preference(sentence: MessageSentence, start: number): Finding | null {
  const text = sentence.text.slice(start)
  const match = prefers.exec(text)
  if (match === null || pointsBack.test(text.slice(match[0].length))) return null
  if (!saysSomething(text.slice(match[0].length))) return null
  const { content, span } = placed(sentence, start)
  const about = isAboutWork(content) ? 'work' : 'person'
  return { kind: 'preference', type: 'preference', subtype: null, about, content, span }
}

const correcting =
  /^(?:actually|correction|no|nope|sorry|wait|oops|scratch that|update|change of plans?|i was wrong|my mistake|i meant?)\b[\s,:;.!–—-]{1,4}/iu
const notOld = /,\s(?:and )?not (?<old>[^,.;!?]{1,80})[.!]?\s{0,4}$/u
/** Only where it is plain that something is corrected. */
const cuedOld = /\b(?:not|instead of|rather than) (?<old>[^,.;!?]{1,40})[.!]?\s{0,4}$/iu
const oldToNew =
  /\b(?:changed|moved|switched|migrated|renamed|went)\b[^.;!?]{0,80}?\bfrom (?<old>[^,.;!?]{1,60}?) to\b/iu

/** "Actually the port is 5433, not 5432": says what it replaces. Whether anything is known to say that is found later. */
function correction(sentence: MessageSentence, start: number): Finding | null {
  const text = sentence.text.slice(start)
  const cue = correcting.exec(text)?.[0].length ?? 0
  const old = (notOld.exec(text) ?? oldToNew.exec(text) ?? (cue > 0 ? cuedOld.exec(text) : null))?.groups?.old
  if (old === undefined && cue === 0) return null
  const replaces = old?.trim() ?? null
  return {
    kind: 'correction',
    type: 'entity',
    subtype: null,
    about: 'work',
    replaces,
    ...placed(sentence, start + cue),
  }
}

function placed({ start, text, end }: MessageSentence, from: number): Pick<Finding, 'content' | 'span'> {
  return { content: statementText({ text }, from), span: { start: start + from, end } }
}

/** From a place on, without markup around the whole of it. A request that was put as a question is none. */
const statementText = ({ text }: Pick<MessageSentence, 'text'>, from: number): string =>
  text
    .slice(from)
    .replace(/[*_]{1,3}$/u, (mark) => (/[*_]/u.test(text[from - 1] ?? '') ? '' : mark))
    .replace(/\s{0,4}\?$/u, '')
    .trim()

const firstPerson = /\b(?:i|my|me|mine|myself|i['’](?:m|ve|d|ll))\b/iu
const ofTheWork =
  /\b(?:we|our|ours|us|we['’](?:re|ve|ll)|this (?:repo(?:sitory)?|project|codebase|team|app|service)|(?:in|for) here|the (?:repo(?:sitory)?|project|codebase|team))\b/iu

const isAboutWork = (text: string): boolean => ofTheWork.test(text)
const isAboutPerson = (text: string): boolean => firstPerson.test(text) && !isAboutWork(text)

const ofAnswers =
  /\b(?:answers?|repl(?:y|ies)|respond|responses?|explain|explanations?|explaining|call|tell|ask|speak|talk|greet|conversations?|chats?|tone|emojis?|bullet points?|jargon|spelling)\b/iu

/** The style of answers is the person's, wherever it was said; other instructions are about the work at hand. */
const isAboutAnswers = (text: string): boolean =>
  !isAboutWork(text) && (ofAnswers.test(text) || firstPerson.test(text) || text.split(/[^\p{L}]+/u).some(isLanguage))

const isLanguage = (word: string): boolean => /^\p{Lu}/u.test(word) && languageNames().has(word.toLowerCase())

let languages: ReadonlySet<string> | undefined
/** The English names of the languages that have a code of two letters. */
function languageNames(): ReadonlySet<string> {
  if (languages !== undefined) return languages
  const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })
  const letters = [...'abcdefghijklmnopqrstuvwxyz']
  const codes = letters.flatMap((first) => letters.map((second) => first + second))
  languages = new Set(codes.flatMap((code) => names.of(code)?.toLowerCase() ?? []))
  return languages
}

const unrecorded =
  /\boff[ -]the[ -]record\b|\bnot for the record\b|(?<before>\b\p{L}{1,8}['’]?\p{L}{0,3}\s)?\b(?:do not|don['’]?t|never)\s(?:ever\s|please\s)?(?:(?:save|store|remember|record|log|memori[sz]e|write down|note)\s(?:this|that|it|these|any of|anything|what i|my (?:last )?message)|keep (?:this|that|it|any of this)(?= (?:in|on|anywhere|stored|saved)|[.!,]|$))/giu

/** Whether a message asks not to be kept: "off the record", "don't save this", "do not remember this". */
export function offTheRecord(message: string): boolean {
  for (const match of message.matchAll(unrecorded)) {
    // "I don't remember this" tells, and asks for nothing.
    const before = match.groups?.before?.trim().toLowerCase() ?? ''
    if (!['i', 'we', 'you', 'they', 'he', 'she', 'people', 'who', 'to'].includes(before)) return true
  }
  return false
}
