import type { Candidate } from '../candidate.ts'
import { bracketed, escaped } from '../stand-alone.ts'
import { candidateFrom } from './candidate-from.ts'
import { correctionIn } from './corrections.ts'
import type { Frame } from './frame.ts'
import { plainFrame } from './frame-plain.ts'
import { frameOf } from './frames.ts'
import { properNames } from './phrases.ts'
import {
  type Found,
  holdsAny,
  isTelling,
  meansTheLast,
  pointed,
  pronounOf,
  takenBackIn,
  unresolved,
} from './pointing-back.ts'
import { resolved, type Spoken, spokenAfter } from './referents.ts'
import { isStandingWish, type Reason } from './refusals.ts'
import type { Unit } from './units.ts'

/** What has been said so far: what pronouns mean, and the last statement, which "it" in a correction means. */
export type State = { readonly spoken: Spoken; readonly last: Candidate | null }

/** The subject a clause has borrowed, when that is somebody else. */
const isOthers = ({ borrowed }: Unit): boolean => borrowed !== null && !/^(?:i|we)$/iu.test(borrowed)

/** What is said, with its subject, and without what adds nothing. */
function sayingOf(unit: Unit): string {
  const plain = (unit.gap?.plain ?? unit.text)
    .replace(/[.!]+$/u, '')
    .replace(/^(?:and|but)\s+(?=\p{L})/iu, '')
    .replace(/\s+(?:too|as well|by the way|btw|lol|haha|please|thanks)$/iu, '')
  return isOthers(unit) ? `${unit.borrowed} ${plain}` : plain
}

/** The statement of a unit, as it would be remembered, or why there is none. */
export function statementIn(unit: Unit, { spoken: before, last }: State): Found | Reason {
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
  const isAboutIt = /^(?:it|that|this)(?:['’]?s|\s+(?:is|was|should be))\s/iu.test(plain)
  if (isCorrecting && isAboutIt && replaces.some(isTelling) && last !== null && !holdsAny(last, replaces))
    // "It's 88c, not 88b": what has the 88b in it is meant, however long ago it was said.
    return unresolved(unit, pronounOf(plain), replaces, spoken)
  if (isCorrecting && last !== null && meansTheLast(unit, plain, reference, { last, replaces })) {
    return pointed(unit, last, replaces, spoken)
  }
  if (reference.kind === 'unknown') {
    if (isCorrecting && replaces.length > 0) return unresolved(unit, reference.pronoun, replaces, spoken)
    return { reason: 'about_nobody', explanation: `Nothing tells what "${reference.pronoun}" stands for.` }
  }
  const text = elliptic?.plain ?? (reference.kind === 'resolved' ? reference.plain : plain)
  // What is taken back, or spoken of before, need not be told apart from others once more.
  const isSpokenOf = reference.kind === 'resolved' && !/^the\s/iu.test(reference.pronoun)
  const isParticular = kind === 'retraction' || isSpokenOf || isOthers(unit)
  const frame = frameOf({ ...unit, isParticular, borrowed: isOthers(unit) ? null : unit.borrowed }, text)
  if (frame === null) {
    const isGone = kind === 'retraction' && properNames(plain, { atStart: false }).length > 0
    const plainly =
      isCorrecting && replaces.length > 0
        ? plainFrame(plain, '"not X but Y"')
        : isGone
          ? plainFrame(said, '"no longer"')
          : null
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
  const candidate = candidateFrom(unit, ofTopic(named, text, spoken), {
    content,
    kind: frame.kind ?? kind,
    replaces: [...replaces, ...(frame.replaces ?? [])],
  })
  const possessed =
    /^(?:my|our)?\s*[^'’]+['’]s\s+(?<noun>[^'’]+?)\s+(?:is|are|was)\b/iu.exec(text)?.groups?.noun ?? spoken.possessed
  // A side of what is spoken of is not spoken of itself.
  const after = sideOf.test(text) && spoken.thing !== null ? spoken : spokenAfter(spoken, frame.topic)
  return { candidate, spoken: { ...after, possessed } }
}

const sideOf =
  /^the (?<noun>date|time|place|venue|location|address|price|cost|fee|deadline|budget|theme|title|name|deposit)\s+(?:is|are|was|will be)\s/iu

/** "The date is 3 May", after "I'm planning my wedding", is the date of the wedding. */
function ofTopic(frame: Frame, text: string, { thing }: Spoken): Frame {
  const noun = sideOf.exec(text)?.groups?.noun
  const topic = thing?.replace(/^(?:my|our|the)\s+/iu, '')
  return noun === undefined || topic === undefined
    ? frame
    : { ...frame, forms: [`${topic} ${noun}`, `${noun} of the ${topic}`, topic, ...frame.forms] }
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

/** The speaker's words, with as much around them as they need to stand alone. */
function contentOf(unit: Unit): string {
  if (unit.gap !== undefined) return bracketed(unit.text, unit.gap.behind, unit.gap.missing)
  if (
    unit.borrowed !== null &&
    new RegExp(String.raw`(?<!\p{L})${escaped(unit.borrowed)}(?!\p{L})`, 'iu').test(unit.whole)
  )
    return bracketed(unit.text, '', unit.borrowed)
  const isComplete = unit.lead.kind !== 'about' && unit.lead.kind !== 'complete'
  if (isComplete || unit.leadText === null || /^(?:i|we|my|our)\b/iu.test(unit.text)) return unit.text
  return unit.text.toLowerCase().includes(unit.leadText.toLowerCase()) ? unit.text : `${unit.leadText}: ${unit.text}`
}
