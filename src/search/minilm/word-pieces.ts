/** A word of a text, and the range of its tokens; `to` is exclusive. */
type PlacedWord = { readonly word: string; readonly from: number; readonly to: number }

/** A WordPiece tokenizer for uncased BERT models: turns text into the numbers of its word pieces. */
export class WordPieces {
  readonly #vocabulary: ReadonlyMap<string, number>

  constructor(vocabulary: Readonly<Record<string, number>>) {
    this.#vocabulary = new Map(Object.entries(vocabulary))
  }

  /** At most `maxTokens` token numbers of a text, including the start and end markers, and the words of the text with the ranges of their tokens. */
  words(
    text: string,
    maxTokens: number,
  ): { readonly tokens: readonly number[]; readonly words: readonly PlacedWord[] } {
    const pieces: number[] = []
    const words: PlacedWord[] = []
    for (const [word] of plain(text).matchAll(wordOrMark)) {
      if (pieces.length >= maxTokens - 2) break
      const from = pieces.length + 1
      pieces.push(...this.#piecesOf(word))
      words.push({ word, from, to: Math.min(pieces.length, maxTokens - 2) + 1 })
    }
    return { tokens: [this.#number('[CLS]'), ...pieces.slice(0, maxTokens - 2), this.#number('[SEP]')], words }
  }

  /** Repeatedly takes the longest known piece from the start of the rest. If no piece fits, the whole word is unknown. */
  #piecesOf(word: string): readonly number[] {
    const letters = [...word]
    const pieces: number[] = []
    for (let from = 0; from < letters.length && letters.length <= maxWordLength; ) {
      let to = letters.length
      const piece = (): string => `${from > 0 ? '##' : ''}${letters.slice(from, to).join('')}`
      while (to > from && !this.#vocabulary.has(piece())) to -= 1
      if (to === from) return [this.#number('[UNK]')]
      pieces.push(this.#number(piece()))
      from = to
    }
    return pieces.length > 0 ? pieces : [this.#number('[UNK]')]
  }

  #number(piece: string): number {
    return this.#vocabulary.get(piece) ?? 0
  }
}

const maxWordLength = 100
const mark = String.raw`[\p{P}$+<=>^\x60|~]`
const wordOrMark = new RegExp(String.raw`${mark}|(?:(?!${mark})\S)+`, 'gu')
/** Each ideograph is a separate word. */
const ideograph = /[\u{3400}-\u{4dbf}\u{4e00}-\u{9fff}\u{f900}-\u{faff}\u{20000}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu

const plain = (text: string): string =>
  text
    .replace(/\s/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\ufffd]/gu, '')
    .replace(ideograph, ' $& ')
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
