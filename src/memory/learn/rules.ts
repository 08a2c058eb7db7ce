import type { Candidate, Extraction, Extractor, Heard, Refusal } from './candidate.ts'
import { longestStatement, mostBeliefs, secretReason } from './gate.ts'
import { workGivenIn } from './rules/announcements.ts'
import { correctionIn } from './rules/corrections.ts'
import { asksNotToStore, notToBeStored } from './rules/do-not-store.ts'
import type { Frame } from './rules/frame.ts'
import { openQuestionFrame, plainFrame } from './rules/frame-other.ts'
import { frameOf } from './rules/frames.ts'
import type { Span } from './rules/parts.ts'
import { isDistinctive } from './rules/phrases.ts'
import { nothingSpoken, type Resolved, resolved, type Spoken, spokenAfter } from './rules/referents.ts'
import { isMadeUp, isQuestion, isStandingWish, isSupposed, type Reason, refusalOf } from './rules/refusals.ts'
import { settled } from './rules/settle.ts'
import { formsOfValue, tidied } from './rules/surface-forms.ts'
import { type Unit, unitsOf } from './rules/units.ts'
import { mask, masked, redacted, secretsIn } from './secrets.ts'
import { bracketed, escaped } from './stand-alone.ts'

/** Earlier messages that are looked at to learn what "it" is. */
const mostEarlier = 6

/** Finds statements by the way they are worded. Needs no model, and gives the same for the same words every time. */
export const rulesExtractor: Extractor = {
  name: 'rules',
  extract: async ({ text, earlier = [] }: Heard) => extractByRules(text, earlier),
}

export function extractByRules(text: string, earlier: readonly string[] = []): Extraction {
  let state: State = { spoken: nothingSpoken, last: null }
  for (const message of earlier.slice(-mostEarlier)) state = heard(masked(message), state).state
  const { candidates, refused } = heard(masked(text), state).extraction
  return { candidates, refused: merged(refused.map((refusal) => withoutSecrets(text, refusal))) }
}

/** No rule sees a secret: only its mask. What holds one is refused for that, and shown without it. */
function withoutSecrets(message: string, refusal: Refusal): Refusal {
  if (!refusal.text.includes(mask)) return refusal
  const secret = secretsIn(message).find(({ start, end }) => start < refusal.span.end && end > refusal.span.start)
  return { ...refusal, text: redacted(refusal.text), ...secretReason(secret?.what ?? 'a secret') }
}

/** The parts of a message that are asked not to be kept. */
export function notStored(message: string): readonly Span[] {
  const { units, leads } = unitsOf(message)
  const unstored = notToBeStored(units, leads)
  return units.filter(
    (unit, index) => unstored.has(index) || (unit.lead.kind === 'refuse' && unit.lead.reason.reason === 'do_not_store'),
  )
}

/** What has been said so far: what pronouns mean, and the last statement, which "it" in a correction means. */
type State = { readonly spoken: Spoken; readonly last: Candidate | null }

function heard(message: string, before: State): { readonly extraction: Extraction; readonly state: State } {
  const { units, refused: pasted, leads } = unitsOf(message)
  const unstored = notToBeStored(units, leads)
  const refused: Refusal[] = [...pasted]
  const candidates: Candidate[] = []
  let state = before
  let fictionIn: number | null = null
  let supposedIn: number | null = null
  let workedOnIn: number | null = null
  let correctedAfter = -1
  for (const [index, unit] of units.entries()) {
    if (candidates.length >= mostBeliefs) {
      refused.push(restOf(message, unit))
      break
    }
    if (isMadeUp(unit.text)) fictionIn = unit.block
    else if (/\b(?:real|in reality|in real life|seriously)\b/iu.test(unit.text)) fictionIn = null
    if (isSupposed(unit.text)) supposedIn = unit.sentence
    if (workGivenIn(unit.whole) === 'here') workedOnIn = unit.block
    if (onlyCorrects.test(unit.text)) correctedAfter = index + 1
    const reason = reasonAgainst(unit, {
      isUnstored: unstored.has(index),
      isFiction: fictionIn === unit.block || supposedIn === unit.sentence,
      isWorkedOn: workedOnIn === unit.block,
    })
    if (reason !== null) {
      refused.push({ text: unit.text, span: { start: unit.start, end: unit.end }, ...reason })
      if (reason.reason === 'question' || reason.reason === 'instruction')
        state = { ...state, spoken: askedAbout(unit, state.spoken) }
      continue
    }
    const found = statementIn(correctedAfter === index ? { ...unit, isCorrection: true } : unit, state)
    if ('reason' in found) refused.push({ text: unit.text, span: { start: unit.start, end: unit.end }, ...found })
    else {
      candidates.push(found.candidate)
      state = { spoken: found.spoken, last: found.candidate }
    }
  }
  const { kept, takenBack } = settled(candidates)
  const extraction = { candidates: kept, refused: [...refused, ...takenBack] }
  return { extraction, state }
}

/** "How do I reset my router? It's a FritzBox": a question, too, says what "it" is. */
function askedAbout({ text }: Unit, spoken: Spoken): Spoken {
  const noun = [...text.matchAll(/\b(?:my|our)\s+(?<noun>[\p{L}-]+)\b/giu)].at(-1)?.groups?.noun
  return noun === undefined
    ? spoken
    : { ...spoken, thing: `my ${noun}`, nouns: { ...spoken.nouns, [`my ${noun}`]: noun } }
}

/** What comes after more statements than one message is trusted with. */
const restOf = (message: string, { start }: Unit): Refusal => ({
  text: `${message.slice(start, start + 80)} …`,
  span: { start, end: message.length },
  reason: 'too_long',
  explanation: `${mostBeliefs} beliefs were taken from this message already.`,
})

/** "Nope, wrong." tells that what follows is a correction. */
const onlyCorrects =
  /^(?:(?:no|nope|wait|sorry|oops|wrong|incorrect|correction|scratch that|strike that|my mistake|my bad|i was wrong|i misspoke|that(?:['’]s| is| was) (?:wrong|not right|incorrect|not correct|not true|a mistake))[\s,.!:—–-]*)+$/iu

function reasonAgainst(
  unit: Unit,
  { isUnstored, isFiction, isWorkedOn }: { isUnstored: boolean; isFiction: boolean; isWorkedOn: boolean },
): Reason | null {
  if (unit.text.includes(mask)) return secretReason('a secret')
  if (isUnstored) return { reason: 'do_not_store', explanation: 'The message asks for it not to be kept.' }
  if (isFiction) return { reason: 'hypothetical', explanation: 'It is part of something made up.' }
  if (isWorkedOn && !isQuestion(unit.text))
    return { reason: 'quotation', explanation: 'It is text that was given to be worked on.' }
  if (unit.lead.kind === 'refuse') return unit.lead.reason
  if (unit.text.length > longestStatement) {
    return {
      reason: 'too_long',
      explanation: `It has ${unit.text.length} characters; at most ${longestStatement} are taken from a conversation.`,
    }
  }
  return (
    (openQuestionFrame(unit.text) === null ? refusalOf(unit.text, unit.isAsked) : null) ??
    (asksNotToStore(unit.whole) && unit.isItem
      ? { reason: 'do_not_store', explanation: 'The line asks for it not to be kept.' }
      : null)
  )
}

/** The subject a clause has borrowed, when that is somebody else. */
const isOthers = ({ borrowed }: Unit): boolean => borrowed !== null && !/^(?:i|we)$/iu.test(borrowed)

/** What is said, with its subject, and without what adds nothing. */
function sayingOf(unit: Unit): string {
  const plain = unit.text
    .replace(/[.!]+$/u, '')
    .replace(/^(?:and|but)\s+(?=\p{L})/iu, '')
    .replace(/\s+(?:too|as well|by the way|btw|lol|haha|please|thanks)$/iu, '')
  return isOthers(unit) ? `${unit.borrowed} ${plain}` : plain
}

type Found = { readonly candidate: Candidate; readonly spoken: Spoken }

function statementIn(unit: Unit, { spoken: before, last }: State): Found | Reason {
  const back = takenBackIn(unit.opener)
  const spoken =
    back === null
      ? before
      : { ...before, person: `my ${back.what}`, thing: `my ${back.what}`, nouns: { ...before.nouns } }
  const isWish = isStandingWish(unit.text)
  const said = sayingOf(unit)
  const {
    kind,
    replaces: taken,
    plain,
  } = isWish && !unit.isCorrection
    ? { kind: 'statement' as const, replaces: [], plain: said }
    : correctionIn(said, unit.isCorrection)
  const replaces = back === null ? taken : [...taken, back.old]
  const reference = isWish ? ({ kind: 'none' } as const) : resolved(plain, spoken)
  const elliptic = ellipsisIn(plain, spoken)
  const isCorrecting = kind === 'correction' && (unit.isCorrection || replaces.length > 0)
  if (isCorrecting && last !== null && meansTheLast(unit, plain, reference)) {
    return pointed(unit, last, replaces, spoken)
  }
  if (reference.kind === 'unknown') {
    if (isCorrecting && replaces.length > 0) return unresolved(unit, reference.pronoun, replaces, spoken)
    return { reason: 'about_nobody', explanation: `Nothing tells what "${reference.pronoun}" stands for.` }
  }
  const text = elliptic?.plain ?? (reference.kind === 'resolved' ? reference.plain : plain)
  // What is taken back, or spoken of before, need not be told apart from others once more.
  const isParticular = kind === 'retraction' || reference.kind === 'resolved' || isOthers(unit)
  const frame = frameOf({ ...unit, isParticular, borrowed: isOthers(unit) ? null : unit.borrowed }, text)
  if (frame === null) {
    const plainly = isCorrecting && replaces.length > 0 ? plainFrame(plain, '"not X but Y"') : null
    if (plainly !== null)
      return { candidate: candidateFrom(unit, plainly, { content: contentOf(unit), kind, replaces }), spoken }
    return {
      reason: 'about_nobody',
      explanation: 'No statement about somebody or something in particular was found in it.',
    }
  }
  const begun = begunIn(frame, last)
  const own = frame.isWhole === true ? unit.whole : contentOf(unit)
  const words = begun === null ? own : bracketed(own, begun.verb, begun.what)
  const content =
    elliptic !== null
      ? bracketed(words, elliptic.possessor, elliptic.noun)
      : reference.kind === 'resolved'
        ? bracketed(words, reference.pronoun, reference.referent)
        : words
  // Who is asked for as "my sister" is found by what is said of her later, too.
  const noun = reference.kind === 'resolved' ? spoken.nouns[reference.referent] : undefined
  const whole = begun === null ? frame : { ...frame, ...begun.found, forms: [...begun.found.forms, ...frame.forms] }
  const named =
    noun === undefined
      ? whole
      : {
          ...whole,
          forms: [...frame.forms, noun, `${noun} ${reference.kind === 'resolved' ? reference.referent : ''}`],
        }
  const candidate = candidateFrom(unit, named, {
    content,
    kind: frame.kind ?? kind,
    replaces: [...replaces, ...(frame.replaces ?? [])],
  })
  const possessed =
    /^(?:my|our)?\s*[^'’]+['’]s\s+(?<noun>[^'’]+?)\s+(?:is|are|was)\b/iu.exec(text)?.groups?.noun ?? spoken.possessed
  return { candidate, spoken: { ...spokenAfter(spoken, frame.topic), possessed } }
}

/** "I started on 4 February", after "I'm learning Icelandic": what was started is what was just said to be done. */
function begunIn(
  { name }: Frame,
  last: Candidate | null,
): { readonly verb: string; readonly what: string; readonly found: Pick<Frame, 'name' | 'forms'> } | null {
  const verb = /^(?:I|we) (?<verb>started|began|start|begin)$/iu.exec(name)?.groups?.verb
  const doing = /^(?<doing>[\p{L}-]+ing)\b/u.exec(last?.name ?? '')?.groups?.doing
  if (verb === undefined || last === null || doing === undefined) return null
  const what = last.name
  const found = {
    name: `${verb} ${what}`,
    forms: [`start ${what}`, `start ${doing}`, `started ${doing}`, `been ${doing}`, what],
  }
  return { verb, what, found }
}

/** "Tom's is on 3 May", after Ana's birthday. */
function ellipsisIn(
  text: string,
  { possessed }: Spoken,
): { readonly plain: string; readonly possessor: string; readonly noun: string } | null {
  const match = /^(?<possessor>\p{L}+['’]s)\s+(?=(?:is|are|was|were)\b)/iu.exec(text)
  const possessor = match?.groups?.possessor
  if (
    match === null ||
    possessor === undefined ||
    possessed === null ||
    /^(?:it|that|he|she|there|what|who|here|this)['’]/iu.test(possessor)
  )
    return null
  return { plain: `${possessor} ${possessed} ${text.slice(match[0].length)}`, possessor, noun: possessed }
}

/** "Actually, it's Go": what is corrected is the statement just made, not the thing it spoke of last. */
const meansTheLast = (unit: Unit, plain: string, reference: Resolved): boolean =>
  unit.isCorrection &&
  (/^(?:it|that|this)(?:['’]s|\s+(?:is|was|should be|will be|has to be))\b/iu.test(plain) ||
    (reference.kind === 'none' && isFragment(plain)))

/** No subject and no verb: "the 16th, not the 15th". */
const isFragment = (text: string): boolean =>
  !/\b(?:is|are|was|were|am|has|have|had|will|['’]s|['’]m|my|our|i|we|he|she|they)\b/iu.test(text) &&
  text.split(' ').length <= 8

function pointed(unit: Unit, last: Candidate, replaces: readonly string[], spoken: Spoken): Found {
  const pronoun = /^(?:it|that|this)\b/iu.exec(unit.text)?.[0] ?? ''
  const outdated = new Set(formsOfValue(last.content).map((form) => form.toLowerCase()))
  const kept = last.aliases.filter((alias) => !outdated.has(alias.toLowerCase()))
  const aliases = tidied(last.name, [...kept, ...formsOfValue(unit.text)])
  const candidate: Candidate = {
    ...last,
    aliases,
    content: bracketed(unit.text, pronoun, last.name),
    span: { start: unit.start, end: unit.end },
    foundBy: 'a correction of what was just said',
    kind: 'correction',
    ...(replaces.length === 0 ? {} : { replaces }),
  }
  return { candidate, spoken }
}

/** "Scratch that about the dog being a beagle": what it was about, and what no longer holds. */
function takenBackIn(opener: string): { readonly what: string; readonly old: string } | null {
  const { what, old } =
    /\babout\s+(?:the\s+|my\s+|our\s+)?(?<what>[^,;]{2,40}?)\s+being\s+(?:an?\s+|the\s+|in\s+|at\s+|on\s+)?(?<old>[^,;.]{2,40})/iu.exec(
      opener,
    )?.groups ?? {}
  return what === undefined || old === undefined ? null : { what: what.trim(), old: old.trim() }
}

/** Only what is known already can tell what it is about. */
function unresolved(unit: Unit, pronoun: string, replaces: readonly string[], spoken: Spoken): Found {
  const [old = ''] = replaces
  return {
    candidate: {
      type: 'entity',
      subtype: null,
      name: old === '' ? unit.text.slice(0, 80) : old,
      aliases: [],
      content: unit.text,
      why: '',
      span: { start: unit.start, end: unit.end },
      foundBy: '"not X but Y"',
      certainty: unit.isHedged ? 'inferred' : 'said',
      kind: 'correction',
      replaces,
      pronoun,
    },
    spoken,
  }
}

/** The speaker's words, with as much around them as they need to stand alone. */
function contentOf(unit: Unit): string {
  if (
    unit.borrowed !== null &&
    new RegExp(String.raw`(?<!\p{L})${escaped(unit.borrowed)}(?!\p{L})`, 'iu').test(unit.whole)
  )
    return bracketed(unit.text, '', unit.borrowed)
  const isComplete = unit.lead.kind !== 'about' && unit.lead.kind !== 'complete'
  if (isComplete || unit.leadText === null || /^(?:i|we|my|our)\b/iu.test(unit.text)) return unit.text
  return unit.text.toLowerCase().includes(unit.leadText.toLowerCase()) ? unit.text : `${unit.leadText}: ${unit.text}`
}

function candidateFrom(
  unit: Unit,
  frame: Frame,
  { content, kind, replaces }: Pick<Candidate, 'content' | 'kind'> & { readonly replaces: readonly string[] },
): Candidate {
  // A name is found by as well, and "name" or "day" would be found everywhere.
  const name = isDistinctive(frame.name) ? frame.name : `my ${frame.name}`
  return {
    type: frame.type,
    subtype: frame.subtype ?? null,
    name,
    aliases: tidied(name, frame.forms),
    content,
    why: reasonIn(unit.text),
    span: { start: unit.start, end: unit.end },
    foundBy: frame.rule,
    certainty: unit.isHedged ? 'inferred' : 'said',
    kind,
    ...(replaces.length === 0 ? {} : { replaces }),
    ...(frame.isSlot === true ? { isSlot: true } : {}),
    ...(frame.participants === undefined || frame.participants.length === 0 || frame.type !== 'relation'
      ? {}
      : { participants: frame.participants }),
    ...(frame.relation === undefined || frame.type !== 'relation' ? {} : { relation: frame.relation }),
  }
}

/** What is given as the reason, in the speaker's words. */
const reasonIn = (text: string): string =>
  /\b(?:because|so that|due to)\s.+$/iu.exec(text)?.[0].replace(/[.!]+$/u, '') ?? ''

/** Units of one sentence that were refused for the same reason are one refusal. */
function merged(refused: readonly Refusal[]): readonly Refusal[] {
  const inOrder = [...refused].sort((one, other) => one.span.start - other.span.start)
  const result: Refusal[] = []
  for (const refusal of inOrder) {
    const last = result.at(-1)
    const isNext =
      last !== undefined &&
      last.reason === refusal.reason &&
      refusal.span.start - last.span.end <= 8 &&
      last.explanation === refusal.explanation
    if (isNext)
      result[result.length - 1] = {
        ...last,
        text: `${last.text} … ${refusal.text}`,
        span: { start: last.span.start, end: refusal.span.end },
      }
    else result.push(refusal)
  }
  return result
}
