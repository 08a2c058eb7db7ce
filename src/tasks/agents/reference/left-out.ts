import type { Candidate, Refusal } from '../../../memory/learn/for-reference-agent.ts'
import { analyse } from '../../../search/analyse.ts'
import { isSurfaceForm } from '../../../search/forms.ts'
import { asksOf } from './asks.ts'
import { isFrame } from './frames.ts'
import { isPersonWord, meaningOf } from './meaning.ts'
import { segmentsOf } from './segments.ts'

/** Something that is to be kept as it stands. */
export type AsItStands = { readonly name: string; readonly content: string; readonly aliases: readonly string[] }

type Heard = { readonly candidates: readonly Candidate[]; readonly refused: readonly Refusal[] }

const keeping =
  /(?:^|[.!?:,;]\s+|\b(?:please|to|and|you|you (?:can|could|may|should|might)|also|just)\s+)(?:remember|save|store|keep|note|write|put|record|add|hold on|log|jot|memori[sz]e)\b|\b(?:into|for|to) (?:the file )?`?\S*memory\S*\.md\b|\byou (?:should|need to|must|ought to) know\b|\b(?:for (?:my|the|your|our) (?:records?|notes?|files?|memory)|keep in mind|take (?:a )?note|make a note|don['’]t forget|for (?:later|future) (?:reference|use))\b|记住|记下|保存|记录/iu
const notKeeping = /\b(?:don['’]t|do not|never|without)\s+(?:\w+\s+){0,2}(?:remember|sav|stor|keep|not|writ|record)/iu

/** Speaks of what was kept before. */
const past =
  /\b(?:earlier|previous(?:ly)?|last (?:time|session)|before|ago|already|(?:had|asked|told|let|wanted|made) you)\b/iu

/** These were never meant to be kept, whatever was asked. */
const final: ReadonlySet<Refusal['reason']> = new Set([
  'do_not_store',
  'forget_request',
  'secret',
  'taken_back',
  'question',
  'hypothetical',
  'small_talk',
  'instruction',
])

/**
 * Who asks for something to be kept wants all of it kept. These are the sentences and items that were not understood, or
 * only in part: odd texts, signs, statements without a subject. Nothing when nobody asked.
 */
export function leftOut(prompt: string, heard: Heard): readonly AsItStands[] {
  const segments = segmentsOf(prompt)
  const isAsked = segments.some(({ text }) => keeping.test(text) && !notKeeping.test(text) && !past.test(text))
  if (!isAsked) return []
  let from = 0
  const spokenOf: string[] = []
  return segments.flatMap(({ whole: text, isItem }, at) => {
    if (isItem && segments[at - 1]?.whole === text) return []
    const found = placeOf(text, prompt, from)
    if (found === null) return []
    from = found.end
    const pointsBack = pronounFirst.test(text)
    if (!pointsBack) spokenOf.unshift(nameOf(text.replace(leadIn, '')))
    const touches = ({ span }: { readonly span: Candidate['span'] }): boolean =>
      span.start < found.end && span.end > found.start
    const refusals = heard.refused.filter(touches)
    const isUnderstood = heard.candidates.some(touches) && !refusals.some((one) => isOpen(one, false))
    const isMeant = refusals.length > 0 ? refusals.every((one) => isOpen(one, isItem)) : isItem
    return isUnderstood || !isMeant || !saysSomething(text)
      ? []
      : [asItStands(found.text, pointsBack ? referentOf(text, spokenOf) : null)]
  })
}

/** Somebody else's words in a list of things to keep are one of those things. */
function isOpen({ reason, text }: Refusal, isItem: boolean): boolean {
  if (reason === 'quotation') return isItem
  // "Please save this: my gym is Nord" tells something after the colon.
  return reason === 'instruction' ? leadIn.test(text) && saysSomething(text.replace(leadIn, '')) : !final.has(reason)
}

const leadIn =
  /^(?:请?(?:帮我)?(?:记住|记下|保存|记录)[^：:]{0,20}[：:]\s*|[^:]*\b(?:remember|save|store|keep|note|write|put|record|add|log|jot|memori[sz]e|know)\b[^:]*:\s+)/iu

const saysSomething = (text: string): boolean =>
  /\S+\s+\S+\s+\S|:\s*\S|=\s*\S|\p{Script=Han}{3}/u.test(text) &&
  !/[?:？：]$/u.test(text) &&
  asksOf(text).length === 0 &&
  !isFrame(text)

/** Where a segment stands in the prompt, with the spacing it has there. */
function placeOf(
  text: string,
  prompt: string,
  from: number,
): { readonly start: number; readonly end: number; readonly text: string } | null {
  const pattern = text
    .split(/\s+/u)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`))
    .join(String.raw`\s+`)
  const match = new RegExp(pattern, 'u').exec(prompt.slice(from))
  if (match === null) return null
  const start = from + match.index
  return { start, end: start + match[0].length, text: match[0].replaceAll(/\s*\n\s*/gu, ' ') }
}

const pronounFirst = /^(?:it|its|he|his|she|her|they|their|this|that|these|those)\b/iu

/** Who "she" is was said before; the statement is then found by that too. */
function referentOf(text: string, spokenOf: readonly string[]): string | null {
  const isPersonal = /^(?:he|his|she|her)\b/iu.test(text)
  return (isPersonal ? spokenOf.find(namesPerson) : spokenOf[0]) ?? null
}

const namesPerson = (name: string): boolean =>
  /(?<=\s)\p{Lu}/u.test(` ${name}`) || analyse(name).some(({ word }) => isPersonWord(meaningOf(word)))

function asItStands(text: string, spokenOf: string | null): AsItStands {
  const content = text.replace(leadIn, '')
  return { name: nameOf(content), content, aliases: spokenOf === null ? [] : [spokenOf] }
}

const longestName = 60

/** What a statement is about: the words before it says something, else how it begins. */
function nameOf(text: string): string {
  const subject =
    /^(?:(?:the|my|our|a|an|his|her|its|their)\s+)?(?<subject>.{2,60}?)(?:\s*[:=→]|\s+(?:is|are|was|were|says?|reads?|has|have|lives?|works?|uses?|costs?|takes?|runs?|needs?|means?|starts?|begins?|ends?|leaves?|goes|gets?|comes?|opens?|closes?|owns?|plays?)\s)/iu.exec(
      text,
    )?.groups?.subject
  const beginning = text.split(/\s+/u).slice(0, 6).join(' ').slice(0, longestName)
  return [subject, beginning].find((name) => name !== undefined && isSurfaceForm(name)) ?? `note: ${beginning}`
}
