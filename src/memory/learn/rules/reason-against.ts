import { longestStatement, secretReason } from '../gate.ts'
import { mask } from '../secrets.ts'
import { asksNotToStore } from './do-not-store.ts'
import { forgetRequestIn } from './forget-requests.ts'
import { openQuestionFrame } from './frame-decision.ts'
import { isQuestion, type Reason, refusalOf } from './refusals.ts'
import type { Unit } from './units.ts'

/** Why a unit gives no belief, by its wording and by what stands around it; null when it may. */
export function reasonAgainst(
  unit: Unit,
  { isUnstored, isFiction, isWorkedOn }: { isUnstored: boolean; isFiction: boolean; isWorkedOn: boolean },
): Reason | null {
  if (unit.text.includes(mask)) return secretReason('a secret')
  const forgotten = forgetRequestIn(unit.text)
  if (forgotten !== null) {
    return {
      reason: 'forget_request',
      explanation: `It asks to forget what is known about "${forgotten}", which learning never does.`,
    }
  }
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
    (openQuestionFrame(unit.text) === null ? refusalOf(withSubject(unit), unit.isAsked) : null) ??
    (asksNotToStore(unit.whole) && unit.isItem
      ? { reason: 'do_not_store', explanation: 'The line asks for it not to be kept.' }
      : null)
  )
}

/** "… and keep it in my pocket" is no order, once its subject is there. */
const withSubject = ({ text, borrowed, gap }: Unit): string =>
  gap?.plain ?? (borrowed === null ? text : `${borrowed} ${text}`)
