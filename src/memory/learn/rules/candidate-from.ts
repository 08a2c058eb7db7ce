import type { Candidate } from '../candidate.ts'
import type { Frame } from './frame.ts'
import { isDistinctive } from './phrases.ts'
import { tidied } from './surface-forms.ts'
import type { Unit } from './units.ts'

/** A frame with the words it was found in, as it would be remembered. */
export function candidateFrom(
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
