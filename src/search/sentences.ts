/** Where a sentence stands in a text. */
export type Sentence = { readonly start: number; readonly end: number; readonly text: string }

// A full stop after one of these ends no sentence.
const abbreviations = new Set(
  'approx ca capt cf col dept dr e.g ed est etc fig gen gov hon i.e inc jr lt ltd mr mrs ms mt no nr p.s pp prof rep rev sen sgt sr st vol vs'.split(
    ' ',
  ),
)

const closing = new Set(['"', "'", '”', '’', ')', ']', '»', '*', '_', '`'])
const endsAlone = new Set(['。', '！', '？', '।', '؟'])

/**
 * Splits a text into sentences, in order. A line break ends one, and so does `.`, `!`, `?` or `…` before white space,
 * unless the full stop belongs to an abbreviation or an initial. Takes time in proportion to the text.
 */
export function sentencesOf(text: string): readonly Sentence[] {
  const sentences: Sentence[] = []
  let start = 0
  const endAt = (end: number): void => {
    let from = start
    let to = end
    while (from < to && isSpace(text[from] as string)) from += 1
    while (to > from && isSpace(text[to - 1] as string)) to -= 1
    if (to > from) sentences.push({ start: from, end: to, text: text.slice(from, to) })
    start = end
  }
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string
    if (character === '\n') endAt(at + 1)
    else if (endsAlone.has(character)) endAt(at + 1)
    else if (character === '.' || character === '!' || character === '?' || character === '…') {
      let end = at + 1
      while (end < text.length && isEndMark(text[end] as string)) end += 1
      const isPlainStop = character === '.' && end === at + 1
      while (end < text.length && closing.has(text[end] as string)) end += 1
      const isBeforeSpace = end === text.length || isSpace(text[end] as string)
      if (isBeforeSpace && !(isPlainStop && isAbbreviated(text, start, at))) endAt(end)
      at = end - 1
    }
  }
  endAt(text.length)
  return sentences
}

const isSpace = (character: string): boolean => /\s/u.test(character)
const isEndMark = (character: string): boolean =>
  character === '.' || character === '!' || character === '?' || character === '…'

/** The longest abbreviation, and the bracket that may stand before it. */
const longestAbbreviation = 8

/** Whether the full stop at `stop` belongs to the word before it: "Dr.", "e.g.", "J." but not the "I." of "you and I.". */
function isAbbreviated(text: string, sentenceStart: number, stop: number): boolean {
  let start = stop
  while (start > sentenceStart && stop - start <= longestAbbreviation && !isSpace(text[start - 1] as string)) start -= 1
  const word = text.slice(start, stop).replace(/^[("'“‘[]+/u, '')
  if (/^\p{Lu}$/u.test(word)) return word !== 'I'
  return abbreviations.has(word.toLowerCase())
}
