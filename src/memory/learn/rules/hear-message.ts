import type { Candidate, Extraction, Refusal } from '../candidate.ts'
import { mostBeliefs } from '../gate.ts'
import { workGivenIn } from './announcements.ts'
import { saysWhen } from './dates.ts'
import { notToBeStored } from './do-not-store.ts'
import { reasonAgainst } from './reason-against.ts'
import type { Spoken } from './referents.ts'
import { isMadeUp, isSupposed } from './refusals.ts'
import { settled } from './settle.ts'
import { type State, statementIn } from './statement-in.ts'
import { tidied } from './surface-forms.ts'
import { type Unit, unitsOf } from './units.ts'

/** Takes a message apart, says what is learned from each unit or why nothing is, and what pronouns mean after it. */
export function hearMessage(
  message: string,
  before: State,
): { readonly extraction: Extraction; readonly state: State } {
  const { units, refused: pasted, leads } = unitsOf(message)
  const unstored = notToBeStored(units, leads)
  const refused: Refusal[] = [...pasted]
  const candidates: Candidate[] = []
  let state = before
  let fictionIn: number | null = null
  let supposedIn: number | null = null
  let workedOnIn: number | null = null
  let correctedAfter = -1
  // The sentence that the last statement stands in.
  let lastOf = -1
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
    if ('reason' in found) {
      refused.push({ text: unit.text, span: { start: unit.start, end: unit.end }, ...found })
      state = { ...state, spoken: askedAbout(unit, state.spoken) }
    } else {
      const candidate = planned(found.candidate, unit, lastOf === unit.sentence ? state.last : null)
      candidates.push(candidate)
      state = { spoken: found.spoken, last: candidate }
      lastOf = unit.sentence
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

/** "The concert is on 29 March and we'll perform the Requiem": what is planned is asked for by what it is planned for. */
const planned = (candidate: Candidate, { text }: Unit, before: Candidate | null): Candidate =>
  before !== null && saysWhen(before.content) && /^(?:i|we)(?:['’]ll|\s+will|['’](?:re|m)|\s+(?:are|am))\s/iu.test(text)
    ? { ...candidate, aliases: tidied(candidate.name, [...candidate.aliases, before.name]) }
    : candidate

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
