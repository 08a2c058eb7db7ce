import { readFileSync } from 'node:fs'

const newline = 10

/** The file with the sorted list, one word per line; read on the first look-up. */
let list: Buffer | undefined

/** Max look-ups in the file. After that many, as happens in a server or an import, the words are loaded into a set. */
const maxFileLookUps = 5_000
let asked = 0
let words: ReadonlySet<string> | undefined

/**
 * Whether `word` is an ordinary English word, inflected forms included. It must be in lower case and without accents. A name
 * counts only if it is also a word ("rust", "slack").
 */
export function isOrdinaryWord(word: string): boolean {
  if (words !== undefined) return words.has(word)
  list ??= readFileSync(new URL('./ordinary-words.txt', import.meta.url))
  asked += 1
  if (asked === maxFileLookUps) words = new Set(list.toString('latin1').trimEnd().split('\n'))

  // A binary search in the bytes: building a set would take many times longer than the few look-ups of a one-shot command.
  // `low` and `high` are always at the start of a line.
  let low = 0
  let high = list.length
  while (low < high) {
    let start = (low + high) >>> 1
    while (start > low && list[start - 1] !== newline) start--
    const order = compareWithLine(word, list, start)
    if (order === 0) return true
    if (order < 0) high = start
    else low = nextLine(list, start)
  }
  return false
}

/** Compares `word` with the line that starts at `start`: negative, zero or positive, as in a comparator. */
function compareWithLine(word: string, lines: Buffer, start: number): number {
  for (let at = 0; ; at++) {
    const byte = lines[start + at]
    const lineEnds = byte === undefined || byte === newline
    if (lineEnds) return at === word.length ? 0 : 1
    if (at === word.length) return -1
    const difference = word.charCodeAt(at) - byte
    if (difference !== 0) return difference
  }
}

function nextLine(lines: Buffer, start: number): number {
  let at = start
  while (at < lines.length && lines[at] !== newline) at++
  return at + 1
}
