import { analyse } from '../../search/analyse.ts'
import { endsInColon, isShortParagraph, typedCharacters, typedLines } from '../../search/turns/pasted.ts'
import type { Finding } from './extraction.ts'
import { isFunctionWord } from './name-of.ts'
import type { MessageSentence } from './own-words.ts'

/**
 * What a message says before a statement. Only a statement that begins the message, or one of a short paragraph that is
 * the whole message, is surely typed; every other may be part of a text that was pasted, and waits for the person.
 */
export class TextAbove {
  readonly #isShort: boolean
  readonly #lines = new Set<number>()
  /** The line of a colon that announces something. */
  #announced = Number.NaN
  /** A statement that may be pasted is part of a text, and so are those below it. */
  #isDoubtful = false

  constructor(message: string) {
    this.#isShort = isShortParagraph(message)
  }

  add({ text, line }: MessageSentence): void {
    // The number of an item is a sentence of its own.
    if (`${text} `.replace(listMark, '') === '') return
    this.#lines.add(line)
    if (endsInColon(text)) this.#announced = line
  }

  mayBePasted({ line, paragraph, start }: MessageSentence, { kind, isDoubtful = false }: Finding): boolean {
    const lines = this.#lines.size - Number(this.#lines.has(line))
    const isBeginning = this.#lines.size === 0 && paragraph === 0 && start < typedCharacters
    // A correction replaces what the person said, so one line above it is enough.
    const isTyped = this.#isShort && lines < (kind === 'correction' ? 1 : typedLines) && this.#announced !== line - 1
    this.#isDoubtful ||= (kind === 'instruction' && isDoubtful) || !(isBeginning || isTyped)
    return this.#isDoubtful
  }
}

/** The mark of an item of a list. */
export const listMark = /^(?:[-*+•–]|\(?\d{1,3}[.)]|[a-z]\))\s{1,4}/u

const auxiliaries = new Set(
  'is are was were do does did can could will would shall should may might must has have had'.split(' '),
)

/**
 * Whether a sentence speaks of a text before it as people do who have pasted one: "is this genuine?", "that can't be
 * right". "This recipe" and "the one that I sent" name what they are about.
 */
export function pointsAtText(text: string): boolean {
  const words = analyse(text.slice(0, 400)).map(({ word }) => word)
  return words.some((word, at) => {
    const next = words[at + 1]
    if (word !== 'this' && word !== 'that') return false
    if (next === undefined || auxiliaries.has(words[at - 1] ?? '')) return true
    return word === 'that' ? at === 0 : isFunctionWord(next)
  })
}
