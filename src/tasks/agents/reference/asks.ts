import { asksToStore, type Piece, withoutFiles, withoutQuotations } from './pieces.ts'

/** One question of a message. */
export type Ask = {
  readonly text: string
  /** The question before it in the same message, where this one says "it" or "she". */
  readonly about: string
  /** Which sentence or item of the message asks it, and the number the person gave that. */
  readonly place: number
  readonly label: string | null
}

const interrogative = '(?:who|whom|whose|what|when|where|which|why|how)'
const preposition = '(?:in|at|on|for|from|to|with|by|of|since|until|about|under)'
const wantsTelling =
  /\b(?:tell|remind|show|give|let)\s+(?:me|us)\b|\b(?:like|want|love)\s+to\s+(?:know|hear)\b|^\W*(?:please\s+)?(?:list|recall|repeat|recite|summari[sz]e)\b/iu
const clause = new RegExp(
  `(?:^|[,;:.]\\s*|\\b(?:and|or|me|us|know|then|remember|recall|hear|also)\\s+)(?=(?:${preposition}\\s+)?${interrogative}\\b)`,
  'giu',
)

/** Whether a piece of a message asks for something that was told, and does not tell it. */
export const isAsk = ({ text, context, kind }: Piece): boolean => {
  if (kind === 'block' || (asksToStore(text) && !new RegExp(`\\b${interrogative}\\b`, 'iu').test(text))) return false
  if (endsInQuestion(text)) return true
  const announced = context.at(-1)
  if (kind === 'item' && announced !== undefined && isAskingLine(announced)) return true
  return isAskingLine(text) && !/:\W*$/u.test(text)
}

const isAskingLine = (text: string): boolean =>
  !asksToStore(text) &&
  (wantsTelling.test(text) || /\b(?:answers?|questions?)\b.*:\W*$/iu.test(text) || endsInQuestion(text))

// A question mark in code or in a quotation asks nothing.
const endsInQuestion = (text: string): boolean => /\?\W*$/u.test(withoutQuotations(text))

/** The questions of a message, one by one: "who is my dentist, and where is she?" asks two. */
export function asksOf(pieces: readonly Piece[]): readonly Ask[] {
  const asks: Ask[] = []
  for (const [place, piece] of pieces.entries()) {
    if (!isAsk(piece)) continue
    for (const part of partsOf(piece.text)) {
      const before = asks.at(-1)
      const goesOn = /\b(?:it|its|he|him|his|she|hers?|they|them|their|that|this|there)\b/iu.test(part)
      const about = goesOn && before !== undefined ? `${before.about} ${before.text}`.trim() : ''
      asks.push({ text: part, about, place, label: piece.label })
    }
  }
  return asks
}

function partsOf(text: string): readonly string[] {
  const asked = withoutFiles(text)
  const starts = [...asked.matchAll(clause)].map(({ index, 0: before }) => index + before.length)
  const [first] = starts
  if (first === undefined) return [asked.trim()]
  return starts.map((start, index) => asked.slice(start, starts[index + 1]).replace(/[\s,;]+(?:and|or)?[\s,;]*$/u, ''))
}
