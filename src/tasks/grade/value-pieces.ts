import { daysIn } from './dates.ts'
import { wordsOf } from './text-form.ts'

const quotation =
  /["“”«»„‟]([^"“”«»„‟\n]{2,})["“”«»„‟]|(?<![\p{L}\p{N}])['‘]([^'‘’\n]{2,})['’](?![\p{L}\p{N}])|`([^`\n]+)`/gu

/** A text taken apart: what is quoted, the days it names, and the rest, with a comma where those stood. */
export function takenApart(text: string): {
  readonly quotes: readonly string[]
  readonly days: readonly string[]
  readonly rest: string
} {
  const quotes = [...text.matchAll(quotation)].map(([, double, single, code]) => double ?? single ?? code ?? '')
  const bare = text.replaceAll(quotation, ' , ')
  const spans = daysIn(bare)
  return {
    quotes,
    days: spans.map(({ start, end }) => bare.slice(start, end)),
    rest: spans.reduceRight((left, { start, end }) => `${left.slice(0, start)} , ${left.slice(end)}`, bare),
  }
}

/** What joins two facts in one line. */
const joint = /\s*[,;()]\s*|\s+(?:and|from|at)\s+|\s+[–—-]\s+/iu
const opening = /^(?:an?|the|is|called|named|since|on)\s+/iu
const title = /^(?:(?:dr|prof|professor|mr|mrs|ms|mx|sir)\b\.?\s+)+/iu
/** What a value says about other values. */
const aside = /^(?:not|e\.g|i\.e)\b/iu

/**
 * The parts of a value that an answer must name, each with the ways to name it: `Dr. Elena Vasquez from Stanford` is
 * two, of which the first may come without the title. What is quoted and what is a date stays whole.
 */
export function waysToSay(value: string): readonly (readonly string[])[] {
  const { quotes, days, rest } = takenApart(value)
  const parts = rest
    .split(joint)
    .map((part) =>
      part
        .trim()
        .replace(opening, '')
        .replace(/[.!?:]+$/u, '')
        .trim(),
    )
    .filter((part) => wordsOf(part).length > 0 && !aside.test(part))
  return [...parts, ...days, ...quotes].map(withoutTitle)
}

function withoutTitle(part: string): readonly string[] {
  const bare = part.replace(title, '')
  return bare === part || bare === '' ? [part] : [part, bare]
}

/** What in a sentence can only be a name: quoted, a day, or written with a capital in the middle of it. */
export function namesIn(sentence: string): readonly (readonly string[])[] {
  const { quotes, days, rest } = takenApart(sentence)
  const names = rest.match(/(?<=[\p{L}\p{N},;:] )\p{Lu}[\p{L}\p{N}+#-]*(?: \p{Lu}[\p{L}\p{N}+#-]*)*/gu) ?? []
  return [...new Set([...names, ...days, ...quotes])].map(withoutTitle)
}
