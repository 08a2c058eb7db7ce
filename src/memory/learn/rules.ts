import { analyse } from '../../search/analyse.ts'
import { isOrdinaryWord } from '../../search/ordinary-words.ts'
import { correctionCue } from '../../search/sentences.ts'
import { maxTypedLength, ownParts } from '../../search/turns/pasted.ts'
import type { Extraction, Extractor, Finding, Refusal, Slot } from './extraction.ts'
import { calendarWords, isFunctionWord, phrasesOf, statementNameOf } from './name-of.ts'
import { isOffTheRecord } from './off-the-record.ts'
import { listMark, type MessageSentence, sentencesIn } from './own-words.ts'
import { describeSecret, redactSecrets } from './secrets.ts'

const maxSentences = 200
/** Max characters of a sentence that counts as a statement. */
const maxStatementLength = 1_000

/** Finds statements by rules, without a model. */
export const rulesExtractor: Extractor = {
  name: 'rules',
  extract: async ({ text }) => findStatements(text),
}

/**
 * Finds requests to remember, standing instructions, facts about the person, preferences and corrections in a message.
 * Everything else is ignored. Takes time in proportion to the text.
 */
export function findStatements(message: string): Extraction {
  if (isOffTheRecord(message)) return refuseWholeMessage(message, 'off_the_record', 'The message asks not to be kept.')
  const findings: Finding[] = []
  const refused: Refusal[] = []
  const sentences = sentencesIn(message)
    .filter(({ end }) => end < maxTypedLength || message.length <= maxTypedLength)
    .slice(0, maxSentences)
  let isRolePlay = fiction.test(message.slice(0, maxTypedLength))
  /** The paragraph of "please remember the following:". Every later sentence in that paragraph is remembered. */
  let listedIn: number | null = null
  /** The topic of the list in that paragraph, as in "remember this for the Lisbon trip:". */
  let topic: readonly string[] = []
  const [own] = ownParts(message)
  const statements: Finding[] = []
  for (const sentence of sentences) {
    const { foreign, text, paragraph } = sentence
    if (foreign === null && beginsRolePlay.test(text) && requestLength(text) === null) isRolePlay = true
    if (listedIn !== paragraph) listedIn = null
    const isTooLong = text.length > maxStatementLength * 4
    const found = isTooLong ? [] : listedIn === null ? statementsIn(sentence) : [listedStatement(sentence, topic)]
    if (found === 'announcement') {
      listedIn = paragraph
      topic = phrasesOf(/\s(?:for|about|on|from)\s.*$/su.exec(text)?.[0] ?? '')
      continue
    }
    if (found.length === 0 && !isTooLong && own !== undefined && !own.perhapsPasted && sentence.end <= own.end) {
      const said = plainStatement(sentence)
      if (said !== null && refusalOf(sentence, said, isRolePlay) === null) statements.push(said)
    }
    for (const one of found) {
      const refusal = refusalOf(sentence, one, isRolePlay)
      if (refusal === null) findings.push(one)
      else refused.push({ text: redactSecrets(one.content === '' ? text : one.content), span: one.span, ...refusal })
    }
  }
  return { findings, refused, ...(statements.length === 0 ? {} : { statements }) }
}

/** Max words of a plain statement; a longer sentence usually contains more than one. */
const maxStatementWords = 20
/** Words that mark a sentence as a supposition, a wish or a denial. */
const notStated =
  /\b(?:if|unless|would|could|should|might|may|maybe|perhaps|not|never|no|nor|suppose|imagine|hope|wish|think|guess|wonder)\b|n['’]t\b/u

/** A short declarative sentence; null for a question, an order, a supposition or a denial. */
function plainStatement(sentence: MessageSentence): Finding | null {
  const start = beginningOf(sentence.plain)
  const text = sentence.plain.slice(start)
  const words = analyse(text.slice(0, 400)).map(({ word }) => word)
  // "Rent is 900 euros" is not an order, although "rent" may be a verb.
  const isOrdered = isOrder(text) && !finiteVerbs.has(words[1] ?? '')
  // After a colon, and between quotation marks, another person may be speaking.
  if (
    sentence.foreign !== null ||
    sentence.plain !== sentence.text ||
    words.length < 3 ||
    words.length > maxStatementWords ||
    /[:：]\s/u.test(text)
  )
    return null
  if (isQuestion(text) || isOrdered || supposes.test(text) || notStated.test(text.toLowerCase())) return null
  const about = isAboutPerson(text) ? 'person' : 'work'
  return { kind: 'statement', type: 'entity', subtype: null, about, ...placeContent(sentence, start) }
}

export const refuseWholeMessage = (message: string, reason: Refusal['reason'], explanation: string): Extraction => ({
  findings: [],
  refused: [
    { text: redactSecrets(message.slice(0, 200)), span: { start: 0, end: message.length }, reason, explanation },
  ],
})

/** Why a finding does not become a belief; null if it does. */
function refusalOf(
  { foreign, text }: MessageSentence,
  { kind, content }: Finding,
  isRolePlay: boolean,
): Pick<Refusal, 'reason' | 'explanation'> | null {
  if (foreign !== null)
    return { reason: 'not_own_words', explanation: `It is ${foreign} and not said by the person to the agent.` }
  if (isRolePlay)
    return { reason: 'role_play', explanation: 'It belongs to a role or a text that the agent is asked to invent.' }
  if (isQuestion(text) && kind !== 'request')
    return { reason: 'question', explanation: 'It is a question and states nothing.' }
  const isEmpty = (kind === 'request' || kind === 'instruction') && !saysSomething(content)
  // A correction may begin with a pronoun ("it's three, not two"), because it is compared with known beliefs.
  const isUnnamed = pointsElsewhere(content) || (kind !== 'correction' && pointsBack(content))
  if (isEmpty || (kind !== 'identity' && isUnnamed))
    return { reason: 'unnamed', explanation: 'It refers to something that the sentence does not name.' }
  const secret = describeSecret(content)
  if (secret !== null) return { reason: 'secret', explanation: `It contains ${secret}, which must not be stored.` }
  if (content.length > maxStatementLength) {
    const explanation = `It has ${content.length} characters; at most ${maxStatementLength} are learned from a conversation.`
    return { reason: 'too_long', explanation }
  }
  return null
}

const isQuestion = (text: string): boolean => /\?["'”’)*_\s]{0,4}$/u.test(text)

/** Whether a statement begins with a pronoun such as "it". Pronouns are never resolved. "This repo" does not count as one. */
const pointsBack = (text: string): boolean => {
  const [first = '', second = ''] = analyse(text.slice(0, 200)).map(({ word }) => word)
  if (['this', 'that', 'these', 'those'].includes(first)) return second === '' || isFunctionWord(second)
  return /^(?:it|its|it['’]s|he|she|they|them|that['’]s)\b/iu.test(text)
}

const thirdPersons = new Set('he him his she her hers they them their theirs'.split(' '))
const demonstratives = new Set('this these those'.split(' '))

/**
 * Whether a statement refers to something outside it: it has a word such as "his" or "them" without an earlier noun, or
 * a word such as "this" without an earlier name. Not if the scope or date of the statement shows what is meant ("in
 * this repo", "this year"), or the words that follow do ("those who").
 */
function pointsElsewhere(content: string): boolean {
  const text = content.slice(0, 400)
  const tokens = analyse(text)
  const named = (at: number): readonly string[] =>
    tokens
      .slice(0, at)
      .map(({ word }) => word)
      .filter((word, place, words) => {
        const isVerb = words.slice(0, place).every(isFunctionWord) && isBaseVerb(word)
        return !isFunctionWord(word) && !isVerb
      })
  return tokens.some(({ word, start, end }, at) => {
    // In "she/her", the word is a value; in "do this:", it refers to the text that follows.
    if (text[end] === '/' || text[start - 1] === '/' || text[end] === ':') return false
    if (thirdPersons.has(word)) return named(at).length === 0
    if (!demonstratives.has(word) || tokens[at - 1]?.word === 'in') return false
    const next = tokens[at + 1]
    const noun = next === undefined || next.gap === 'broken' || isFunctionWord(next.word) ? null : next.word
    if (noun === null) return next?.word !== 'who' && next?.word !== 'that' && named(at).length === 0
    return !isAboutWork(text.slice(start, next?.end)) && !isPeriod(noun) && !named(at).includes(noun)
  })
}

/** Whether a word names a period, such as "week"; the date of the statement tells which one is meant. */
const isPeriod = (word: string): boolean =>
  calendarWords.has(word) ||
  /^(?:time|moment|morning|afternoon|evening|night|days?|weeks?|weekends?|months?|quarter|years?|spring|summer|autumn|winter)$/u.test(
    word,
  )

/** Whether a text has a word of content near its beginning. Reading all of it for every clause would take quadratic time. */
const saysSomething = (content: string): boolean =>
  analyse(content.slice(0, 400)).some(({ word }) => !isFunctionWord(word))

/** Matches a sentence after which the rest of the message belongs to a role or to fiction. */
const beginsRolePlay =
  /^\W{0,4}(?:please |now |so |ok,? |hi,? |let['’]s )?(?:(?:you are|you['’]re|you will be|your (?:task|job|role|name) is|act (?:as|like)|pretend|imagine|suppose|role-?play|simulate|play the (?:role|part))\b|(?:i want you|i['’]d like you|i need you) to (?:act|be|become|pretend|play|role)\b|(?:can|could|would|will) you (?:please )?(?:act as|pretend|role-?play|write|create|draft|generate)\b|(?:write|compose|draft|create|generate|continue) (?:me |up )?(?:an?|the|some|my|this|\d+) )/iu

const fiction =
  /\b(?:stay in character|role-?play(?:ing)?|fictional|hypothetical (?:setting|scenario|world)|(?:game|dungeon) master)\b/iu

/** Words before a statement that are not part of it. */
const openers =
  /^(?:(?:u[hm]+|erm?|hm+|and|also|but|so|ok|okay|oh|ah|hey|hi|hello|well|btw|by the way|fyi|fwiw|imho|imo|tbh|ps|p\.s\.|thanks|thank you|great|perfect|cool|yes|yeah|yep|sure|(?:one|another)(?: more| last| other)? thing(?: though)?|(?:quick|side) note(?! (?:for|to)\b)|reminder|important|in general|generally|first|second|finally|lastly)\b[\s,:;.!–—-]{1,4}){1,3}/iu

const pictures = /^(?:\p{Extended_Pictographic}[\p{M}\p{Emoji_Modifier}\u200d]{0,8}\s{0,4}){1,20}/u
/** The mark before a sentence that is bold or italic as a whole. */
const emphasis = /^[*_]{1,3}(?=[^*_]{1,1000}[*_]{1,3}$)/u

/** The position in a sentence at which the statement begins. */
function beginningOf(text: string): number {
  const picture = pictures.exec(text)?.[0].length ?? 0
  const item = picture + (listMark.exec(text.slice(picture))?.[0].length ?? 0)
  const mark = item + (emphasis.exec(text.slice(item))?.[0].length ?? 0)
  return mark + (openers.exec(text.slice(mark))?.[0].length ?? 0)
}

function statementsIn(sentence: MessageSentence): readonly Finding[] | 'announcement' {
  const begin = beginningOf(sentence.plain)
  // "Actually, remember that …" is a request, not a correction.
  const cue = correctionCue.exec(sentence.plain.slice(begin))?.[0].length ?? 0
  const start = requestLength(sentence.plain.slice(begin + cue)) === null ? begin : begin + cue
  const text = sentence.plain.slice(start)
  const request = requestLength(text)
  if (request !== null) {
    if (text.slice(request).trim() === '' && /[:：]\s{0,4}$/u.test(text)) return 'announcement'
    return [requestedStatement(sentence, start + request)]
  }
  const first = identity(sentence, start) ?? instruction(sentence, start) ?? preference(sentence, start)
  const found = laterStatements(sentence, start, first !== null)
  if (first !== null) found.unshift({ finding: first, from: start, at: start, joint: start })
  else if (found.length === 0) return [correction(sentence, start) ?? []].flat()
  return found.map(({ finding, from, at }, index) => ({
    ...(finding.slot === undefined ? finding : (identity(sentence, at, found[index + 1]?.joint) ?? finding)),
    ...placeContent(sentence, from, found[index + 1]?.joint),
  }))
}

/** Positions at which a clause may begin: after a mark, or at "and", "so" or "but". */
const joints = /(?:(?<mark>[,;:)–—]|\s-)\s{1,2}|\s)(?:(?<join>and|so|but)\s(?:also |please )?)?/giu
/** Words after which another person is quoted. */
const reports =
  /\b(?:says?|said|tells?|told \p{L}{1,9}|wr(?:ote|ites?)|asks?|asked|repl(?:ied|ies)|like|e\.g)\W{0,3}$/iu
/** Announces a list of rules after a colon: "Two rules for the newsletter". */
const announcesRules =
  /^(?!.*(?:['’]s|\b(?:his|her|their)) )(?=.*\b(?:rules?|conventions?|guidelines?)\b)|^(?:as|like) (?:i|we) (?:said|mentioned|told you|wrote|explained)\b/iu

/** Identities, preferences and rules in the clauses after the first. */
function laterStatements(sentence: MessageSentence, start: number, isFound: boolean) {
  const { plain } = sentence
  const found: { finding: Finding; from: number; at: number; joint: number }[] = []
  let from = start
  let isList = false
  for (const { 0: words, index: joint, groups } of plain.matchAll(joints)) {
    const { mark, join } = groups ?? {}
    if (joint < start || (mark === undefined && join === undefined)) continue
    const at = joint + words.length
    if (supposes.test(plain.slice(start)) || reports.test(plain.slice(Math.max(start, joint - 30), joint))) break
    if (mark === ':') {
      const lead = plain.slice(start, joint).slice(0, 200)
      isList = announcesRules.test(lead)
      // Before a colon, a name is a speaker and an order is about the text that follows. "Rule" is a noun here, not an order.
      if ((isOrder(lead) && !/^rules?\b/iu.test(lead)) || (!isList && analyse(lead).length < 4)) break
      from = at
    }
    const isSo = join?.toLowerCase() === 'so'
    const isRule = (isList || isSo) && /^(?:please )?(?:always|never)\s/iu.test(plain.slice(at))
    // "In the story, my name is Max" does not describe the person.
    const who = /^in\s/iu.test(plain.slice(start)) ? null : identity(sentence, at)
    const finding = who ?? preference(sentence, at) ?? (isRule ? instruction(sentence, at) : null)
    if (finding !== null) found.push({ finding, from: isFound || found.length > 0 ? at : from, at, joint })
  }
  return found
}

/** A statement in a list. Words of the list's topic become aliases of the statement. */
function listedStatement(sentence: MessageSentence, topic: readonly string[]): Finding {
  const finding = requestedStatement(sentence, 0)
  if (finding.kind !== 'request' || topic.length === 0) return finding
  return { ...finding, aliases: [...statementNameOf(finding.content).aliases, ...topic] }
}

/** The statement to remember, which begins at or after an offset in a sentence. It may be an instruction or identity. */
function requestedStatement(sentence: MessageSentence, from: number): Finding {
  const begin = from + beginningOf(sentence.plain.slice(from))
  const start = begin + (requestLength(sentence.plain.slice(begin)) ?? 0)
  const inner = identity(sentence, start) ?? instruction(sentence, start)
  if (inner !== null) return { ...inner, isAsked: true }
  const { content, span } = placeContent(sentence, start)
  const type = preference(sentence, start) === null ? 'entity' : 'preference'
  const about = isAboutPerson(content) ? 'person' : 'work'
  const { replaces, lead } = correction(sentence, start) ?? {}
  const corrected = typeof replaces === 'string' && lead !== undefined ? { replaces, lead } : {}
  return { kind: 'request', type, subtype: null, about, isAsked: true, content, span, ...corrected }
}

/** Whether a sentence begins like an order: with a base form, optionally after "please". */
function isOrder(text: string): boolean {
  const said = text.slice(beginningOf(text), 200)
  const words = analyse(said.replace(asksAgent, '')).map(({ word }) => word)
  const [first = ''] = words
  return words.length > 2 && isBaseVerb(first) && isOrdinaryWord(first) && requestLength(said) === null
}

const asksAgent =
  /^(?:please[\s,]{1,3}|kindly\s|(?:can|could|would|will) you (?:please |also |just )?|i(?:['’]d| would)? (?:want|need|like) you to |you (?:should|must|need to) |(?:just )?make sure (?:you |to )?)?/iu
const remembers = [
  // "Remember for me that …", "keep in mind, for all we do on the roof: …", "save this for next time: …".
  /^(?:always )?(?:remember|(?:keep|bear) (?:(?:this|it|the following) )?in mind|(?:do not|don['’]?t) forget|memori[sz]e|note for later|(?:make|take)(?: an?)?(?: mental| quick)? note|(?:save|add|store|commit|put) (?:(?:this|it|the following) )?(?:in|into|to) (?:your )?memory|(?:save|store|note|hold on to) (?:this|it|the following)|(?:write|jot|note) (?:(?:this|it|the following) )?down)(?: of)?(?: (?:this|it|the following|one thing|(?:these|those)(?: \p{L}{1,12}){0,2} things))?(?: somewhere)?(?:,? (?:for|about|on|from) [^:.!?]{1,80}?)?(?:\s?:(?:\s{1,4}|$)|,? that | [-–—] )/iu,
  // Without "that", the following words must clearly be a sentence, and not only a thing: "remember our trip".
  /^(?:remember|keep in mind|bear in mind|(?:do not|don['’]?t) forget) (?=(?:i|we|i['’](?:m|ve)|we['’](?:re|ve))\s|(?:my|our)\s[^.!?]{1,80}\s(?:is|are|has|have|must|can)\s)/iu,
  /^(?:remember|keep in mind|bear in mind|note|save|memori[sz]e|store) (?:this|it|that|these)(?: (?:for (?:later|the future|next time|future reference|me)|in (?:your )?memory|down))?[.!:]?\s{0,4}$/iu,
  /^(?:(?:(?:a|an|one|my) )?(?:\p{L}{4,8} )?note (?:for (?:later|you|me|yourself|myself|next time|the future)|to (?:self|you|yourself|myself))|for later|for (?:future|later) reference|for the record|for next time|to remember|remember for later)\s?[:,–-]\s{0,4}/iu,
]

/** The length of a request such as "remember that" at the beginning of a text; null if there is none. */
function requestLength(text: string): number | null {
  const before = asksAgent.exec(text)?.[0].length ?? 0
  for (const pattern of remembers) {
    const match = pattern.exec(text.slice(before))
    if (match === null) continue
    // "Remember that time in Lisbon?" is a question.
    if (isQuestion(text) && !/^(?:can|could|would|will) you\b/iu.test(text)) return null
    return before + match[0].length
  }
  return null
}

export const standing =
  /\b(?:from (?:now|today|tomorrow|here|this (?:point|day|moment)) (?:on(?:wards?)?(?: out)?|forward)|henceforth|going forward|in (?:the )?future|as a (?:general |strict )?rule(?! of\b)|in (?:all|any)(?: of)? (?:my|our|your) [^,:.!?]{1,60}?(?:,|(?= (?:always|never|please|do not|don['’]?t|use|keep|make|be)\b))|for all (?:future|your) (?:answers|replies|responses|messages|conversations))(?!\p{L})/iu
const whenIAsk = /\b(?:whenever|when|every time|each time|any ?time) i (?:ask|request|want you)\b/iu
/** Excludes "whenever you have time", which asks for something once. */
const whenever =
  /^(?:whenever|every time|each time|any ?time) (?:i|we|you)\s(?!(?:are|can|could|have|get|feel|want|like|need)\b)/iu
const onCondition = /^(?:if|when|whenever|every time|each time|any ?time)\s(?<own>(?:i|we|you|my|our|your)\b)?/iu
/** "Stop opening every reply with …", "don't suggest … again". */
const noMore =
  /^(?:please )?(?:stop \p{L}{2,20}ing\s.*\b(?:every|each|any|always|again|answers?|repl(?:y|ies)|responses?)\b|(?:do not|don['’]?t)\s.*\b(?:again|anymore)\b)/iu

/** "I always want short answers". Counts only if it is about answers, unlike "I always want dessert". */
const wantsAlways = /^i (?:always|never) want (?!to\b)/iu

/** "Always …", "never …", "from now on …", "when I ask for …, …": applies until further notice. */
function instruction(sentence: MessageSentence, start: number): Finding | null {
  const text = sentence.plain.slice(start)
  if (supposes.test(text) || !isInstruction(text)) return null
  const { content, span } = placeContent(sentence, start)
  const about = isAboutAnswers(content) ? 'person' : 'work'
  return { kind: 'instruction', type: 'preference', subtype: 'instruction', about, content, span }
}

/** Whether a sentence of a text applies until further notice. */
export const isStandingInstruction = (text: string): boolean =>
  sentencesIn(text).some((sentence) => {
    const start = beginningOf(sentence.plain)
    const from = start + (requestLength(sentence.plain.slice(start)) ?? 0)
    if (/^(?:please\s)?(?:always|never|do not|don['’]?t)\s/iu.test(sentence.plain.slice(from))) return true
    const found = laterStatements(sentence, start, false).map(({ finding }) => finding)
    return [instruction(sentence, from), ...found].some((finding) => finding?.kind === 'instruction')
  })

/**
 * Whether a sentence asks the reader to do something repeatedly: "Before every release, run …". Only for texts by authors
 * other than the person, because a person's command of this form may be meant for one task.
 */
export const isGeneralCommand = (text: string): boolean =>
  sentencesIn(text).some(({ plain }) => {
    if (!general.test(plain)) return false
    return plain.split(/,\s/u, 10).some((clause) => {
      const words = analyse(clause.replace(addressed, '').slice(0, 80)).map(({ word }) => word)
      return isCommand(clause) && !words.slice(1, 4).some((word) => finiteVerbs.has(word))
    })
  })

const general = /\b(?:every|each|all|any(?:one|thing)?|every(?:one|thing)|before|after|when(?:ever)?|unless|until)\b/iu

/** Whether a statement applies in every scope: it is about the person, or about the answers that the person wants. */
export const isPersonal = (text: string): boolean =>
  isAboutPerson(text) || (isStandingInstruction(text) && isAboutAnswers(text))

/** Whether a text describes the person or their preferences: in the first person ("I prefer …") or about "the user". */
export const isStatementOfPerson = (text: string): boolean =>
  sentencesIn(text).some((sentence) => {
    const start = beginningOf(sentence.plain)
    return (
      identity(sentence, start) !== null ||
      preference(sentence, start) !== null ||
      isAboutUser(sentence.plain.slice(start))
    )
  })

/**
 * Whether a clause of a text has "I" as its subject. Readers would take it for the person's own words, even if an agent wrote it.
 * "I/O" and "i.e." do not count.
 */
export const isInFirstPerson = (text: string): boolean =>
  sentencesIn(text).some(({ plain, foreign }) => foreign === null && firstPersonClause.test(plain))

const firstPersonClause = /(?:^|[,;:(–—]\s?|\b(?:and|but|or|that|because|so|when|if)\s)I(?:['’](?:m|ve|d|ll))?\s\p{L}/iu

/** "The user prefers …", "User: …", "the user's name is …"; not "the user table has …" or "users log in by …". */
function isAboutUser(text: string): boolean {
  const subject = /^(?:the |this |our |my )?(?:user|person|human|owner|operator)(?<mark>['’]s\s|\s?:|\s)/iu.exec(text)
  if (subject === null) return false
  if (subject.groups?.mark?.trim() !== '') return true
  const [next = '', after = ''] = analyse(text.slice(subject[0].length, subject[0].length + 80)).map(({ word }) => word)
  // "User accounts are …" is about accounts.
  if (finiteVerbs.has(after)) return false
  const stem = next.replace(/(?:es|s)$/u, '')
  // A function word such as "like" can be a verb here.
  const isVerb = (form: string): boolean =>
    isOrdinaryWord(form) && (isBaseVerb(form) || (form.length > 3 && isFunctionWord(form) && after !== 'of'))
  return finiteVerbs.has(next) || (next.endsWith('s') && [stem, `${stem}e`].some(isVerb))
}

/** The beginning of a supposition, a question or a letter. */
const supposes =
  /^(?:if|unless|suppose|supposing|in case|let['’]s say|assum(?:e|ing)|what|how|why|who|which|where|is|are|(?:do|does|did) \p{L}{1,4}|dear)\s/iu

function isInstruction(text: string): boolean {
  if (/^(?:always|never|ever)\s/iu.test(text.replace(addressed, ''))) return isCommand(text)
  if (noMore.test(text)) return isCommand(text)
  if (onCondition.exec(text)?.groups?.own !== undefined)
    if (clausesAfterFirst(text).some((clause) => /^(?:always|never)\s/iu.test(clause) && isCommand(clause))) return true
  if (wantsAlways.test(text)) return isOfAnswers(text)
  const now = standing.exec(text)
  // After a colon another person may be speaking.
  if (now !== null && !text.slice(0, now.index).includes(':')) {
    const rest = text.slice(now.index + now[0].length).replace(/^[\s,:–—-]{1,4}/u, '')
    // "In future" and "as a rule" also occur in statements, so they count only at the beginning, before a command.
    if (/^(?:in|as)\b/iu.test(now[0])) return now.index === 0 && hasCommand(rest)
    if (rest.length < 2) return isCommand(text)
    if (onCondition.exec(rest)?.groups?.own !== undefined && !/,|\bi(?:['’]ll| will|['’]m| am)\b/iu.test(rest))
      return true
    return hasCommand(rest) || /^(?:you\s|i(?:['’]d| would) like (?!to\b)|i (?:want|need) (?!to\b))/iu.test(rest)
  }
  const asks = whenIAsk.exec(text) ?? whenever.exec(text)
  return asks !== null && (asks.index > 0 ? isCommand(text) : hasCommand(text))
}

/** Whether a text is a command, or has one in a clause after a condition. */
const hasCommand = (text: string): boolean =>
  isCommand(text) || (onCondition.test(text) && clausesAfterFirst(text).some(isCommand))

const clausesAfterFirst = (text: string): readonly string[] => text.split(', ', 5).slice(1)

/** Matches words that may introduce a command. "Don't ever" means "never". */
export const addressed =
  /^(?:please[\s,]{1,3}|(?:only|just|also)\s|you (?:should|must|need to|have to)\s|i(?:['’]d| would)? (?:want|need|like) you to\s|(?:make|be) sure (?:you |to )(?=always|never)|(?:do not|don['’]?t)\s(?=ever\b)|in (?:this|our|the) \p{L}{2,20},?\s(?=(?:please )?(?:always|never)\b)){1,2}/iu

/** Whether a text begins with a command: a base form, optionally after "always", "never" or "do not". */
export function isCommand(text: string): boolean {
  const said = text.replace(addressed, '').replace(/^(never) ever\b/iu, '$1')
  const words = analyse(said.slice(0, 120)).map(({ word }) => word)
  const [first = '', second = '', third] = words
  // "Never have I ever" is a statement.
  if (['always', 'never', 'ever'].includes(first)) return third !== undefined && third !== 'i' && isBaseVerb(second)
  if (first === 'do' || first === "don't" || first === 'dont') return !['i', 'you', 'we', 'they'].includes(second)
  return second !== '' && !finiteVerbs.has(second) && isBaseVerb(first) && isOrdinaryWord(first)
}

export const finiteVerbs = new Set('is are was were has had will would can could should must may might'.split(' '))
/** Base forms that are mostly not commands at the beginning of a sentence. */
const noCommand = new Set('people saw felt found met best better ready welcome true right wrong mind'.split(' '))

/** Whether a word can be a base form: adding "-ing" makes another ordinary word. */
function isBaseVerb(word: string): boolean {
  if (['be', 'use', 'keep', 'make', 'get', 'do', 'have', 'let', 'say', 'go'].includes(word)) return true
  if (!/^[a-z]{2,}$/u.test(word) || isFunctionWord(word) || noCommand.has(word)) return false
  if (!isOrdinaryWord(word)) return !/(?:ed|ing|ly|[^su]s)$/u.test(word)
  return [word, word.replace(/e$/u, ''), word + word.at(-1)].some((stem) => isOrdinaryWord(`${stem}ing`))
}

const own = String.raw`(?<value>\p{Lu}[\p{L}'’-]{0,30}(?: \p{Lu}[\p{L}'’.-]{0,30}){0,3})(?=$|[.,!;)]|\s(?:and|but|by the way|from|-|–)\s)`
const identities: readonly (readonly [slot: Slot, pattern: RegExp, isValue: (value: string) => boolean])[] = [
  [
    'my name',
    new RegExp(
      String.raw`^(?:[Mm]y (?:(?:full|first|real) )?name(?:['’]s| is(?: now)?|:)|(?:[Ff]rom now on,? )?(?:[Pp]lease |[Yy]ou (?:can|may|should) |[Jj]ust )?(?:[Cc]all me|(?:[Aa]ddress|[Rr]efer to) me(?: \p{L}{3,12},?)? as)|I(?:['’]m| am) called|I go by)\s${own}`,
      'u',
    ),
    (value) => !calendarWords.has(value.toLowerCase()),
  ],
  [
    'my pronouns',
    /^(?:(?:my (?:preferred )?)?pronouns(?: are| is|:)\s|i use\s|please use\s|i go by\s|(?=[\p{L}/]{5,18} (?:for me|pronouns)\b))(?<value>\p{L}{2,5}\s?\/\s?\p{L}{2,6}(?:\s?\/\s?\p{L}{2,6})?)\b/iu,
    (value) => /\b(?:she|he|they|it|ze|xe|ey|her|him|them)\b/iu.test(value),
  ],
  [
    'my language',
    /^(?:my (?:(?:native|first|mother|main|preferred) )?(?:language|tongue)(?: is|:)|i(?:['’]m| am) an? native)\s(?<value>\p{L}{3,20})\b/iu,
    (value) => languageNames().has(value.toLowerCase()),
  ],
  [
    'my time zone',
    /^(?:[Mm]y time ?zone(?: is(?: now)?|:)|I(?:['’]m| am) (?:in|on)(?: the)?)\s(?<value>(?:UTC|GMT)(?:\s?[+-]\s?\d{1,2}(?::?\d\d)?)?|[A-Z][A-Za-z]{1,20}\/[A-Z][A-Za-z_]{1,20}|[A-Z]{2,4}T(?= time|\W|$)|(?:Pacific|Mountain|Central|Eastern|Atlantic)(?: (?:Standard|Daylight|European))?(?= [Tt]ime)|\p{Lu}\p{L}{2,20}(?= time\b))(?![\p{L}\p{N}])/u,
    () => true,
  ],
]

/** The slot whose value a text gives at its beginning, and the rest of the text after the value. */
export function namedSlot(text: string): { readonly slot: Slot; readonly rest: string } | null {
  for (const [slot, pattern, isValue] of identities) {
    const match = pattern.exec(text)
    const value = match?.groups?.value
    if (match !== null && value !== undefined && isValue(value)) return { slot, rest: text.slice(match[0].length) }
  }
  return null
}

/** `end`: the position at which the next statement of the sentence begins. */
function identity(sentence: MessageSentence, start: number, end = sentence.plain.length): Finding | null {
  const text = sentence.plain.slice(start, end)
  const named = namedSlot(text)
  if (named === null) return null
  const subtype = /\b(?:call|address|refer to) me\b/iu.test(text) ? 'instruction' : null
  const found = { kind: 'identity', type: 'preference', subtype, about: 'person', slot: named.slot } as const
  return { ...found, ...placeContent(sentence, start) }
}

const prefers =
  /^(?:(?:(?:for|in|on|at|with|when) [^,:.!?]{1,60}? )?i (?:(?:really|generally|usually|always|much|strongly|definitely|personally|also|still|actually) )?prefer|personally,? i prefer|my (?:strong |personal )?preference is|i(?:['’]d| would) rather(?= [^.!?]{1,200} than ))\s/iu

/** "I prefer …", followed by more than a pronoun. */
function preference(sentence: MessageSentence, start: number): Finding | null {
  const text = sentence.plain.slice(start)
  const match = prefers.exec(text)
  if (match === null || pointsBack(text.slice(match[0].length))) return null
  if (!saysSomething(text.slice(match[0].length))) return null
  const { content, span } = placeContent(sentence, start)
  const about = isAboutWork(content) ? 'work' : 'person'
  return { kind: 'preference', type: 'preference', subtype: null, about, content, span }
}

/** The old value: the text up to the next punctuation mark. A mark within a number, as in "6.50", does not end it. */
const value = (length: number, lazy = ''): string => String.raw`(?<old>(?:[^,.;!?]|[.,](?=\d)){1,${length}}${lazy})`
const atEnd = String.raw`[.!]?\s{0,4}$`
const notOld = new RegExp(
  String.raw`,\s(?:(?:and|but|it is|it['’]s|that['’]s) ){0,2}(?:not|no longer) ${value(80)}${atEnd}`,
  'du',
)
/** Another form of the old value. It counts only after a cue word such as "actually". */
const cuedOld = new RegExp(String.raw`\b(?:not|instead of|rather than) ${value(40)}${atEnd}`, 'diu')
const oldToNew = new RegExp(
  String.raw`\b(?:changed|moved|switched|migrated|renamed|went)\b[^.;!?]{0,80}?\bfrom ${value(60, '?')} to\b`,
  'diu',
)

/**
 * "Actually the port is 5433, not 5432". Two checks follow later. A belief must contain the old words, and the `lead` must be its
 * subject: that excludes questions about a change, denials and reports of somebody else's words.
 */
function correction(sentence: MessageSentence, start: number): Finding | null {
  const text = sentence.plain.slice(start)
  const cue = correctionCue.exec(text)?.[0].length ?? 0
  const denied = notOld.exec(text)
  const told = denied === null ? oldToNew.exec(text) : null
  const match = denied ?? told ?? (cue > 0 ? cuedOld.exec(text) : null)
  const [from, to] = match?.indices?.groups?.old ?? []
  if (from === undefined && cue === 0) return null
  const replaces = from === undefined ? null : sentence.text.slice(start + from, start + (to ?? from)).trim()
  const found = { kind: 'correction', type: 'entity', subtype: null, about: 'work', replaces } as const
  const lead = {
    text: sentence.text.slice(start + cue, start + Math.max(cue, match?.index ?? 0)),
    hasValue: told === null,
  }
  return { ...found, ...placeContent(sentence, start + cue), lead }
}

/** The new value of a correction that reports a change ("moved from May to June"); null for any other. */
export function changedValue(text: string): string | null {
  const told = notOld.test(text) ? null : oldToNew.exec(text)
  return told === null ? null : text.slice(told.index + told[0].length)
}

/** Part of a sentence, without markup around the whole of it and without a question mark at the end. */
function placeContent(
  { start, text }: MessageSentence,
  from: number,
  to = text.length,
): Pick<Finding, 'content' | 'span'> {
  const content = text
    .slice(from, to)
    .replace(/[*_]{1,3}$/u, (mark) => (/[*_]/u.test(text[from - 1] ?? '') ? '' : mark))
    .replace(/\s{0,4}\?$/u, '')
  return { content: content.trim(), span: { start: start + from, end: start + to } }
}

const firstPerson = /\b(?:i|my|me|mine|myself|i['’](?:m|ve|d|ll))\b/iu
const ofTheWork =
  /\b(?:we|our|ours|us|we['’](?:re|ve|ll)|this (?:repo(?:sitory)?|project|codebase|team|app|service)|(?:in|for) here|the (?:repo(?:sitory)?|project|codebase|team))\b/iu

const isAboutWork = (text: string): boolean => ofTheWork.test(text)
const isAboutPerson = (text: string): boolean => firstPerson.test(text) && !isAboutWork(text)

const ofAnswers =
  /\b(?:answers?|repl(?:y|ies)|respond|responses?|explain|explanations?|explaining|tell|ask|speak|talk|greet|conversations?|chats?|tone|emojis?|bullet points?|jargon|spelling)\b/iu

/**
 * Instructions about answers concern the person, regardless of the scope they were given in; others concern the work.
 */
const isAboutAnswers = (text: string): boolean => !isAboutWork(text) && (isOfAnswers(text) || firstPerson.test(text))

/** Whether a text is about answers or names a language. */
const isOfAnswers = (text: string): boolean => ofAnswers.test(text) || text.split(/[^\p{L}]+/u).some(isLanguage)

const isLanguage = (word: string): boolean => /^\p{Lu}/u.test(word) && languageNames().has(word.toLowerCase())

let languages: ReadonlySet<string> | undefined
/** The English names of the languages that have a two-letter code. */
function languageNames(): ReadonlySet<string> {
  if (languages !== undefined) return languages
  const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })
  const letters = [...'abcdefghijklmnopqrstuvwxyz']
  const codes = letters.flatMap((first) => letters.map((second) => first + second))
  languages = new Set(codes.flatMap((code) => names.of(code)?.toLowerCase() ?? []))
  return languages
}
