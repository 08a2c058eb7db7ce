import { asksToStore, isStoring, type Piece, question, withoutFiles, withoutQuotations } from './pieces.ts'

/** One question of a message. */
export type Ask = {
  readonly text: string
  /** The question before it in the same message, where this one has a pronoun. */
  readonly about: string
  /** The part of the sentence before its first question: "The cooler is dead, whom do I call?" */
  readonly lead: string
  /** The start of its sentence or item in the message, and the number or letter of that item. */
  readonly place: number
  readonly label: string | null
}

const wantsTelling =
  /\b(?:tell|remind|show|give|paste|send)\s+(?:me|us)\b|\b(?:like|want|love)\s+to\s+(?:know|hear)\b|^\W*(?:please\s+)?(?:list|recall|repeat|recite|summari[sz]e|paste)\b/iu
const begins = new RegExp(`^\\W*(?:(?:and|also|then|lastly|so)\\W+)*${question}`, 'iu')
const partMark = '[,;:.&]\\s*|\\b(?:and|or|me|us|know|then|remember|recall|hear|also)\\s+'
const part = new RegExp(`(?:^|${partMark})(?=${question})`, 'giu')

/** The questions of a message and, where it has some and asks to keep nothing, the items of its lists. */
export function askingPieces(pieces: readonly Piece[]): ReadonlySet<Piece> {
  const isQuestion = ({ text, kind, whole }: Piece): boolean =>
    kind !== 'block' &&
    whole === null &&
    !asksToStore(text) &&
    (/\?\W*$/u.test(withoutQuotations(text)) || begins.test(text) || (wantsTelling.test(text) && !text.endsWith(':')))
  const questions = pieces.filter(isQuestion)
  const wantsAnswers = questions.length > 0 || pieces.some(({ text }) => wantsTelling.test(text))
  if (!wantsAnswers || isStoring(pieces, wantsAnswers)) return new Set(questions)
  return new Set(pieces.filter((piece) => piece.kind === 'item' || questions.includes(piece)))
}

/** The questions of a message, one by one: "who is my dentist, and where is she?" asks two. */
export function asksOf(pieces: readonly Piece[]): readonly Ask[] {
  const asks: Ask[] = []
  for (const piece of askingPieces(pieces)) {
    const whole = withoutFiles(piece.text).replaceAll('the file', ' ')
    const starts = [...whole.matchAll(part)].map(({ index, 0: before }) => index + before.length)
    for (const [index, start] of (starts.length === 0 ? [0] : starts).entries()) {
      const text = whole.slice(start, starts[index + 1]).replace(/[\s,;&]+(?:and|or)?[\s,;]*$/u, '')
      const goesOn = /\b(?:it|its|he|him|his|she|hers?|they|them|their|that|this|there)\b/iu.test(text)
      const about = goesOn ? (asks.at(-1)?.text ?? '') : ''
      asks.push({ text, about, lead: whole.slice(0, starts[0] ?? 0), place: piece.start, label: piece.label })
    }
  }
  return asks
}
