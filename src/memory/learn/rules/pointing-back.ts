import type { Candidate } from '../candidate.ts'
import { bracketed } from '../stand-alone.ts'
import type { Resolved, Spoken } from './referents.ts'
import { formsOfValue, tidied } from './surface-forms.ts'
import type { Unit } from './units.ts'

/** A statement that was found, and what pronouns mean after it. */
export type Found = { readonly candidate: Candidate; readonly spoken: Spoken }

/** "Actually, it's Go": what is corrected is the statement just made, not the thing it spoke of last. */
export const meansTheLast = (
  unit: Unit,
  plain: string,
  reference: Resolved,
  { last, replaces }: { readonly last: Candidate; readonly replaces: readonly string[] },
): boolean =>
  (unit.isCorrection || holdsAny(last, replaces)) &&
  (/^(?:it|that|this)(?:['’]?s|\s+(?:is|was|should be|will be|has to be))\b/iu.test(plain) ||
    (reference.kind === 'none' && isFragment(plain)))

export const holdsAny = ({ content }: Candidate, words: readonly string[]): boolean =>
  words.some((one) => one !== '' && content.toLowerCase().includes(one.toLowerCase()))

/** A name, a number or a code, which is found again wherever it was said. */
export const isTelling = (old: string): boolean => /\d|\p{Lu}/u.test(old)

export const pronounOf = (text: string): string => /^(?:it|that|this)(?=['’\s]|s\s)/iu.exec(text)?.[0] ?? ''

/** No subject and no verb: "the 16th, not the 15th". */
const isFragment = (text: string): boolean =>
  !/\b(?:is|are|was|were|am|has|have|had|will|['’]s|['’]m|my|our|i|we|he|she|they)\b/iu.test(text) &&
  text.split(' ').length <= 8

/** The last statement with another value: it keeps its name, and is asked for as before. */
export function pointed(unit: Unit, last: Candidate, replaces: readonly string[], spoken: Spoken): Found {
  const pronoun = /^(?:it|that|this)\b/iu.exec(unit.text)?.[0] ?? ''
  const outdated = new Set(formsOfValue(last.content).map((form) => form.toLowerCase()))
  const isOld = (alias: string): boolean =>
    outdated.has(alias.toLowerCase()) ||
    replaces.some((old) => ` ${alias.toLowerCase()} `.includes(` ${old.toLowerCase()} `))
  const kept = last.aliases.filter((alias) => !isOld(alias))
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
export function takenBackIn(opener: string): { readonly what: string; readonly old: string } | null {
  const { what, old } =
    /\babout\s+(?:the\s+|my\s+|our\s+)?(?<what>[^,;]{2,40}?)\s+being\s+(?:an?\s+|the\s+|in\s+|at\s+|on\s+)?(?<old>[^,;.]{2,40})/iu.exec(
      opener,
    )?.groups ?? {}
  return what === undefined || old === undefined ? null : { what: what.trim(), old: old.trim() }
}

/** Only what is known already can tell what it is about. */
export function unresolved(unit: Unit, pronoun: string, replaces: readonly string[], spoken: Spoken): Found {
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
