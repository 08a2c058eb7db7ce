import { isOrdinaryWord } from '../../../search/ordinary-words.ts'
import { saysWhen } from './dates.ts'
import { hasVerb } from './finite-verbs.ts'
import type { Frame } from './frame.ts'
import { choiceFrame, decisionFrame, openQuestionFrame } from './frame-decision.ts'
import { entryFrame } from './frame-entry.ts'
import { firstPersonFrame } from './frame-first-person.ts'
import { namedFrame } from './frame-named.ts'
import { existsFrame, plainFrame } from './frame-plain.ts'
import { standingFrame } from './frame-standing.ts'
import { isFirstName } from './given-names.ts'
import { isPerson } from './nouns.ts'
import { isParticular } from './particular.ts'
import { properNames, wordsOf } from './phrases.ts'
import { isStandingWish } from './refusals.ts'
import { splitClause } from './split-clause.ts'
import { formsOfObject, formsOfValue } from './surface-forms.ts'
import type { Unit } from './units.ts'
import { asForm, verbForms } from './verbs.ts'

/** What a unit says; null when it says nothing about anybody or anything in particular. `text` has its pronouns replaced. */
export function frameOf(unit: Unit, said: string): Frame | null {
  if (unit.row !== undefined) return rowFrame(unit.row)
  const relative =
    /,\s+(?:who|which|whose|our|my|the|an?)\s[^,]*,\s+(?=\p{Ll})|,\s+(?:who|which|whose)\s[^,]*$/u.exec(said)?.[0] ?? ''
  const together =
    /^(?<who>(?:my\s+)?[\p{L}-]+(?:\s+\p{Lu}[\p{L}-]+)?)\s+and\s+I\s+|^me\s+and\s+(?<other>(?:my\s+)?[\p{L}-]+)\s+/iu.exec(
      said,
    )
  if (relative !== '' || together !== null) {
    // "My physio, who works in Hove, wants …" and "Imani and I moved …" are about the physio and us.
    const plain = relative !== '' ? said.replace(relative, ' ').trim() : `we ${said.slice(together?.[0].length)}`
    const aside = relative !== '' ? relative : (together?.groups?.who ?? together?.groups?.other ?? '')
    const frame = plain === said ? null : frameOf(unit, plain)
    return frame === null
      ? null
      : {
          ...frame,
          forms: [
            ...frame.forms,
            ...formsOfValue(aside),
            ...(/^,\s+(?:our|my|the|an?)\s/u.test(aside) ? formsOfObject(aside.replace(/^,\s+|,\s+$/gu, '')) : []),
            ...(relative === '' ? [aside] : []),
          ],
        }
  }
  const text = withTimeBehind(said)
  const about = unit.lead.kind === 'about' ? unit.lead.subject : null
  if (isStandingWish(text) && !isEntry(text)) return standingFrame(text)
  const open = openQuestionFrame(text)
  if (open !== null) return open
  const decision = decisionFrame(text) ?? choiceFrame(text, unit.whole)
  if (decision !== null) return decision
  if (unit.lead.kind === 'complete') {
    const completed = completedFrame(unit, text)
    if (completed !== null) return completed
  }
  const members = membersFrame(unit, text)
  if (members !== null) return members
  const spoken = spokenFrame(text, unit)
  if (spoken !== null) return spoken
  const isListed =
    unit.isItem || unit.isLine || unit.isAsked || labelled.test(text) || /^(?:my|our)\s[\p{L} ]{2,30}:\s/iu.test(text)
  const entry = isListed ? entryFrame(text, about) : null
  if (entry !== null) return entry
  const implied = impliedFrame(unit, text, about)
  if (implied !== null) return implied
  const isToBeKept = unit.isAsked || (unit.isItem && unit.lead.kind !== 'none')
  const isNoted =
    (unit.isLine && wordsOf(text).length >= 4 && !hasVerb(text) && saysWhen(text) && properNames(text).length > 0) ||
    (unit.isItem && wordsOf(text).length >= 3 && (/\d/u.test(text) || saysWhen(text)))
  if (isNoted) return plainFrame(text, 'a note with a time')
  return isToBeKept && wordsOf(text).length > 1 && !pointsOnly.test(text)
    ? plainFrame(
        about === null ? text : `${about} ${text}`,
        unit.isItem ? 'an item of a list' : 'it was asked to be remembered',
      )
    : null
}

/** A row of a table: the first cell says what it is about. */
function rowFrame(row: NonNullable<Unit['row']>): Frame | null {
  const [first, ...others] = row.filter(([, cell], index) => index > 0 || !/^\d{1,3}\.?$/u.test(cell))
  const [only] = others
  if (first === undefined || only === undefined) return null
  const [, about] = first
  return {
    rule: 'a row of a table',
    type: 'entity',
    name: others.length === 1 ? `${about} ${only[0]}` : about,
    forms: [
      about,
      ...others.flatMap(([column, cell]) => [`${about}'s ${column}`, `${column} of ${about}`, ...formsOfValue(cell)]),
    ],
    isSlot: true,
    topic: null,
  }
}

/** "My crew:" with "Ola (cook), Ben (driver)" in the line below it. */
function membersFrame(unit: Unit, text: string): Frame | null {
  if (unit.lead.kind !== 'complete' || unit.isItem || !unit.isLine || hasVerb(text)) return null
  return /^(?:my|our)\s/iu.test(unit.lead.text) && !hasVerb(unit.lead.text)
    ? entryFrame(`${unit.lead.text}: ${text}`, null)
    : null
}

/** "In 2019 I moved to Oslo" is "I moved to Oslo in 2019". */
const withTimeBehind = (text: string): string => {
  const match =
    /^(?<when>(?:(?:in|on|at|since|during|after|before|between|every|most|for|last|next|this|until|from|back in|as an?|as of|starting|these|the (?:first|last|next|other))\s[^,.;:]{2,40}?|nowadays|currently|today|right now)),?\s+(?=(?:i|we|my|our)(?:['’]\p{L}+)?\s)/iu.exec(
      text,
    )
  const when = match?.groups?.when
  return match === null || when === undefined || hasVerb(when)
    ? text
    : `${text.slice(match[0].length)} ${when.toLowerCase() === when ? when : when[0]?.toLowerCase() + when.slice(1)}`
}

/** "I love that", "you know it": nothing that could stand alone. */
const pointsOnly =
  /^(?:i|we|you|they)(?:['’]\p{L}+)?\s+\p{L}+(?:\s+(?:it|that|this|them|so|too|all))?$|^(?:it|that|this|you)\b/iu

/** A whole sentence with a subject and a verb. */
function spokenFrame(text: string, unit: Unit): Frame | null {
  if (isEntry(text)) return null
  const exists = existsFrame(text)
  if (exists !== null) return exists
  const first = firstPersonFrame(
    unit.borrowed !== null && /^(?:I|we)$/iu.test(unit.borrowed) ? `${unit.borrowed} ${text}` : text,
  )
  if (first !== null) return first
  if (/^(?:i|we|i['’]\p{L}+|we['’]\p{L}+)\s/iu.test(text)) return null
  const whole = withName(unit.borrowed === null ? text : `${unit.borrowed} ${text}`, unit)
  const split = splitClause(
    whole.replace(
      /^(?<owner>(?:my|our) [\p{L} ]{2,30}?)['’]s\s+(?=(?:called|named|on|in|at|from|due|coming|going|not|now|an?|the \d+|\d+)\b)|^(?<name>my name)['’]s\s+/iu,
      (_found, owner, name) => `${owner ?? name} is `,
    ),
  )
  if (split === null) return null
  return namedFrame(split, unit.isAsked || unit.isParticular === true || (unit.isItem && unit.lead.kind !== 'none'))
}

/** "tomas cooks": where it was asked to be kept, a word in no dictionary is a name, however it is written. */
const withName = (text: string, { isAsked }: Unit): string => {
  const first = /^\p{Ll}{3,}(?=\s)/u.exec(text)?.[0]
  return first === undefined || !isAsked || (isOrdinaryWord(first) && !isFirstName(first)) || isPerson(first)
    ? text
    : `${first[0]?.toUpperCase()}${text.slice(1)}`
}

/** "Booking reference: XK7-P29." in the middle of prose. */
const labelled = /^\p{L}[\p{L}'’ ]{2,30}\s?[:=]\s+(?=.{0,20}[\p{Lu}\d"“'‘])/u
const entryLike = /^(?<key>[\p{L}\p{N}][^:=\n]{0,60}?)\s*[:=]\s+\S/u
const isEntry = (text: string): boolean => {
  const key = entryLike.exec(text)?.groups?.key
  return key !== undefined && !hasVerb(key)
}

/** "I'm allergic to:" with "peanuts" below it. */
function completedFrame(unit: Unit, text: string): Frame | null {
  if (unit.lead.kind !== 'complete' || !unit.isItem) return null
  if (/^(?:i|we|my|our|he|she|they|it)\b/iu.test(text)) return null
  const lead = unit.lead.text.replace(
    /^(?:(?:the\s+)?(?:things|foods?|stuff|places|people|books|films|movies|music|languages|tools|what)\s+(?:that\s+)?)(?=(?:i|we)\b)/iu,
    '',
  )
  const completed = spokenFrame(`${lead} ${text}`, { ...unit, borrowed: null })
  if (completed !== null && /^(?:i|we)\b/iu.test(lead)) return { ...completed, name: `${completed.name}` }
  const item = plainFrame(text, 'an item of a list')
  if (item === null) return null
  const noun = lead.replace(/^(?:my|our|the|some)\s+/iu, '').replace(/\s+(?:is|are|include|includes|including)$/iu, '')
  return {
    ...item,
    forms: [noun, ...item.forms],
    type: /\b(?:like|love|favou?rite|prefer|enjoy|hate|dislike)\b/iu.test(lead) ? 'preference' : item.type,
  }
}

/** "Started learning on January 15": in a list the subject goes without saying. */
function impliedFrame(unit: Unit, text: string, about: string | null): Frame | null {
  const [first = ''] = wordsOf(text)
  const lower = first.toLowerCase()
  const forms = verbForms(lower)
  if (forms.length === 0) return null
  if (about !== null) {
    const split =
      asForm(lower, 'third', 'past') !== undefined
        ? { subject: about, verb: lower, rest: text.slice(first.length).trim() }
        : null
    return split === null || !isParticular(about) ? null : namedFrame(split, true)
  }
  if (!unit.isItem && !unit.isLine && !unit.isAsked && asForm(lower, 'past') === undefined) return null
  if (asForm(lower, 'past') !== undefined) return firstPersonFrame(`I ${text.replace(first, lower)}`)
  if (asForm(lower, 'gerund') !== undefined && unit.isItem) return firstPersonFrame(`I'm ${text.replace(first, lower)}`)
  const third = asForm(lower, 'third')
  if (third !== undefined && unit.isItem) return firstPersonFrame(`I ${third.lemma} ${text.slice(first.length).trim()}`)
  return asForm(lower, 'base') !== undefined && unit.isItem && unit.lead.kind !== 'none'
    ? firstPersonFrame(`I ${text.replace(first, lower)}`)
    : null
}
