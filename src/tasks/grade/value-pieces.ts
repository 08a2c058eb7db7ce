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

/** What joins two facts in one line. The comma of 140,000 does not. */
const joint = /\s*(?:[;()]|,(?!(?<=\p{N},)\p{N}{3}(?!\p{N})))\s*|\s+(?:and|from|at)\s+|\s+[–—-]\s+/iu
const opening = /^(?:(?:an?|the|is|called|named|since|on)(?:\s+|$))+/iu
const title = /^(?:(?:dr|prof|professor|mr|mrs|ms|mx|sir|chef|the hon|hon)\b\.?\s+)+/iu
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
  return [...parts, ...days, ...quotes].map(waysOf)
}

const waysOf = (part: string): readonly string[] => {
  const bare = part.replace(title, '')
  return bare === part || bare === '' ? waysToPay(part) : [part, bare]
}

const currencies = [
  { sign: '€', code: 'EUR', word: /^(?:euros?|eur)$/iu },
  { sign: '$', code: 'USD', word: /^(?:dollars?|usd|bucks)$/iu },
  { sign: '£', code: 'GBP', word: /^(?:pounds?|gbp|quid)$/iu },
] as const

/** An amount with the name of its currency may also be written with its sign. Signs are no words, so the rest may not. */
function waysToPay(part: string): readonly string[] {
  const [, number, name] = /^(\p{N}[\p{N}.,]*)\s*(\p{L}+)$/u.exec(part) ?? []
  const currency = name === undefined ? undefined : currencies.find(({ word }) => word.test(name))
  return currency === undefined ? [part] : [part, `${currency.sign}${number}`, `${number} ${currency.code}`]
}

/** How many things there are is not a claim about them. */
export const counting =
  /^\s*(?:facts?|items?|pieces?|questions?|things?|answers?|entries|entry|beliefs?|notes?|memories|memory|files?|points?|details?|lines?|sessions?|of)\b/iu

const capital = /(?<=[\p{L}\p{N},;:] )\p{Lu}[\p{L}\p{N}+#-]*(?: \p{Lu}[\p{L}\p{N}+#-]*)*/gu
/** Also with what belongs to it: £1,140, 9:40, 9C. */
const figure = /(?<![\p{L}\p{N}][.,:-]?)(?:[£€$¥]\s?)?\p{N}[\p{L}\p{N}]*(?:[.,:-]\p{N}[\p{L}\p{N}]*)*/gu

/** What in a sentence can only be a name: quoted, a day, a figure, or written with a capital in the middle of it. */
export function namesIn(sentence: string): readonly (readonly string[])[] {
  const { quotes, days, rest } = takenApart(sentence)
  const names = (rest.match(capital) ?? []).filter((name) => name !== 'I' && `${name} `.replace(title, '') !== '')
  const figures = [...rest.matchAll(figure)].filter(
    ({ 0: number, index }) => !counting.test(rest.slice(index + number.length)),
  )
  return [...new Set([...names, ...figures.map(([number]) => number), ...days, ...quotes])].map(waysOf)
}
