/** A sentence and its place in a text. */
export type Sentence = { readonly start: number; readonly end: number; readonly text: string }

// A full stop after one of these does not end a sentence.
const abbreviations = new Set(
  'approx ca capt cf col dept dr e.g ed est etc fig gen gov hon i.e inc jr lt ltd mr mrs ms mt no nr p.s pp prof rep rev sen sgt sr st vol vs'.split(
    ' ',
  ),
)

/** The beginning of a sentence that corrects an earlier one. */
export const correctionCue =
  /^(?:actually|correction|no|nope|sorry|wait|oops|scratch that|update|change of plans?|i was wrong|my mistake|i meant?)\b[\s,:;.!–—-]{1,4}/iu

const closing = new Set(['"', "'", '”', '’', ')', ']', '»', '*', '_', '`'])

/**
 * Replaces every other line separator with a line feed, so that a text of several lines never looks like one line. Offsets
 * do not change.
 */
export const withLineFeeds = (text: string): string => text.replace(/\r(?!\n)|[\v\f\u0085\u2028\u2029]/gu, '\n')

/** Matches possible ends of a sentence. The marks in the first group always end a sentence. */
const mayEnd = /([\n。！？।؟])|[.!?…]+/g

/**
 * Splits a text into sentences, in order. A line break ends a sentence, and so does `.`, `!`, `?` or `…` before white space,
 * unless the full stop belongs to an abbreviation or an initial. Runs in linear time.
 */
export function sentencesOf(text: string): readonly Sentence[] {
  const sentences: Sentence[] = []
  let start = 0
  const endAt = (end: number): void => {
    let from = start
    let to = end
    while (from < to && isSpace(text, from)) from += 1
    while (to > from && isSpace(text, to - 1)) to -= 1
    if (to > from) sentences.push({ start: from, end: to, text: text.slice(from, to) })
    start = end
  }
  for (const { 0: mark, 1: alone, index } of text.matchAll(mayEnd)) {
    let end = index + mark.length
    if (alone === undefined) {
      while (end < text.length && closing.has(text[end] as string)) end += 1
      if (end < text.length && !isSpace(text, end)) continue
      if (mark === '.' && isAbbreviated(text, start, index)) continue
    }
    if (end > start) endAt(end)
  }
  endAt(text.length)
  return sentences
}

/** Sentences shorter than this many characters are joined with a neighbour. */
const shortPiece = 20

/** The first `max` sentences of a text, with fragments such as "Yes." joined to their neighbours. */
export function joinSentences(text: string, max: number): readonly Sentence[] {
  const joined: Sentence[] = []
  for (const sentence of sentencesOf(text)) {
    const last = joined.at(-1)
    if (last !== undefined && (sentence.text.length < shortPiece || last.text.length < shortPiece))
      joined[joined.length - 1] = { start: last.start, end: sentence.end, text: text.slice(last.start, sentence.end) }
    else joined.push(sentence)
  }
  return joined.slice(0, max)
}

/** Whether a character matches `\s`. Faster, because it tests the pattern only for characters above U+00A0. */
function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code > 160) return /\s/u.test(text[at] as string)
  return code === 32 || (code >= 9 && code <= 13) || code === 160
}

/** Max length of an abbreviation, including a bracket before it. */
const maxAbbreviationLength = 8

/** Whether the full stop at `stop` belongs to the word before it: "Dr.", "e.g.", "J." but not the "I." of "you and I.". */
function isAbbreviated(text: string, sentenceStart: number, stop: number): boolean {
  let start = stop
  while (start > sentenceStart && stop - start <= maxAbbreviationLength && !isSpace(text, start - 1)) start -= 1
  const word = text.slice(start, stop).replace(/^[("'“‘[]+/u, '')
  if (/^\p{Lu}$/u.test(word)) return word !== 'I'
  // Letters between full stops: "p.m.", "HH.d."
  if (/^\p{L}{1,2}(?:\.\p{L}{1,2})+$/u.test(word)) return true
  return abbreviations.has(word.toLowerCase())
}

/** Whether a text ends with an abbreviation, its full stop and a space. */
export const endsWithAbbreviation = (text: string): boolean => {
  const trimmed = text.trimEnd()
  return trimmed.length < text.length && trimmed.endsWith('.') && isAbbreviated(text, 0, trimmed.length - 1)
}
