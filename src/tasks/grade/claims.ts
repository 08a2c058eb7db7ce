import { isOrdinaryWord } from '../../search/ordinary-words.ts'
import { holds, type TextForm, wordsOf } from './text-form.ts'
import { namesIn, waysToSay } from './value-pieces.ts'

type Pieces = readonly (readonly string[])[]

const recall =
  /\b(?:recalls?|remembers?|states?|answers?|reports?|names?|identif(?:y|ies)|gives?|mentions?|repeats?|retrieves?|provides?|says?|tells?)\b/iu
/** What an answer must leave out is no part of what it must say. */
const denied =
  /\b(?:not|never|no longer|nor|none|nothing|instead of|rather than|other than|without|except|replac(?:es?|ed|ing)|formerly|previously)\b[^,;.]*|\b(?:neither|unknown)\b.*/giu
const path = /`?(?:[\p{L}\p{N}_.-]+\/)+[\p{L}\p{N}_.-]*`?|`?[\p{L}\p{N}_-]+\.(?:md|txt|json|ya?ml)\b`?/gu
const sentenceEnd = /(?<!\b(?:dr|prof|mr|mrs|ms|hon|st|no|vs))[.!?]\s+(?=\p{Lu})/iu

/**
 * The values that a line of expected behaviour claims an answer holds: "says that the language is Rust and the project
 * NeonDB", or only "Rust, NeonDB". A line about what is done ("replaces Vim") claims nothing.
 *
 * @param told everything said before, which alone can be asked for.
 * @param prompt what is being answered: what it says itself is no answer.
 */
export function claimedIn(line: string, told: TextForm, prompt: TextForm): Pieces {
  const toldWords = new Set(told.words)
  return line
    .replaceAll(path, ' ')
    .replaceAll(denied, ' ')
    .split(sentenceEnd)
    .flatMap((sentence) => {
      const verb = recall.exec(sentence)
      if (verb !== null) return claimOf(sentence.slice(verb.index), told)
      return isListOf(sentence, toldWords) ? toldNames(`: ${sentence}`, told) : []
    })
    .filter((ways) => !ways.some((way) => holds(prompt, way)))
}

function claimOf(claim: string, told: TextForm): Pieces {
  const names = toldNames(claim, told)
  if (names.length > 0) return names
  // Nothing is written like a name, so it is what the sentence ends with: "that the user plays the cello".
  const [, last] = lastWords.exec(claim) ?? []
  if (last === undefined || !/\bthat\b|\b(?:is|are|was|were)\b/iu.test(claim)) return []
  return holds(told, last) ? [[last]] : []
}

const lastWords = /^.*\b(?:is|are|was|were|the|an?|called|named)\s+(\S+(?:\s+\S+){0,2}?)[.!?\s]*$/isu

/** Whether a sentence is values one after the other: most of its parts have no word that was not told. */
function isListOf(sentence: string, toldWords: ReadonlySet<string>): boolean {
  const parts = waysToSay(sentence)
  const told = parts.filter(([part = '']) => wordsOf(part).every((word) => toldWords.has(word)))
  return told.length * 2 > parts.length
}

function toldNames(text: string, told: TextForm): Pieces {
  return namesIn(text).filter((ways) =>
    ways.some((way) => {
      // A plain word is a name only as it was told: "Language" that opens a list is not "my language".
      const isPlain = wordsOf(way).every(isOrdinaryWord)
      return holds(told, way) && (!isPlain || told.raw.includes(way))
    }),
  )
}
