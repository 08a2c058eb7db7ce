import { asForm } from '../../../memory/learn/for-reference-agent.ts'

const preposition =
  '(?:in|on|at|to|for|from|by|with|of|about|since|until|till|under|near|below|above|after|before|over|against|through|within|into)'
const questionWord = String.raw`(?:${preposition}\s+)?(?:what|which|who|whom|whose|when|where|why|how)(?:['’](?:s|re|d))?\b`
const joint = new RegExp(
  String.raw`\s*(?:[,;–—]\s*(?:and|or|but|plus|as well as)?|\s(?:and|or|but|plus|as well as|&))\s*(?:also\s+|then\s+)?(?=${questionWord})`,
  'iu',
)
const leadingWord = new RegExp(
  String.raw`^${questionWord}(?:\s+(?:many|much|long|often|far|old|tall|big|heavy)\b)?\s*`,
  'iu',
)
const verb =
  /\b(?:is|are|am|was|were|be|been|do|does|did|has|have|had|can|could|will|would|should|shall|may|might|must)\b|['’](?:s|re|m|ve|d|ll)\b|n['’]t\b/iu

/** One of the questions of a sentence: how it was put, and with what it leaves to be understood. */
export type QuestionPart = { readonly text: string; readonly said: string; readonly goesOn: boolean }

/**
 * The questions of one sentence: "What is it called, and what does it do" are two. A part that leaves out what it is
 * about takes it from its neighbour: "When and where is the hearing?", "Who drives, and from which station?".
 */
export function questionParts(text: string): readonly QuestionPart[] {
  const said = text
    .split(joint)
    .map((part) => part.replace(/^[\s,;]+|[\s,;:]+$/gu, ''))
    .filter((part) => /[\p{L}\p{N}]/u.test(part))
  const parts: QuestionPart[] = []
  for (const [at, part] of said.entries()) {
    const next = said[at + 1]
    const before = parts.at(-1)
    const full =
      at === 0 && next !== undefined && isBare(part)
        ? `${bare(part)} ${afterWord(next)}`
        : before !== undefined && isElliptic(part)
          ? withRest(bare(part), before.text)
          : part
    parts.push({ text: full, said: bare(part), goesOn: at > 0 })
  }
  return parts
}

const bare = (text: string): string => text.replace(/[\s?.!]+$/u, '')
const afterWord = (text: string): string => text.replace(leadingWord, '')

/** "When", "until when", "how much". */
const isBare = (text: string): boolean => bare(text).replace(leadingWord, '') === ''

/** "At what time of day": a few words without a verb. */
const isElliptic = (text: string): boolean =>
  !verb.test(text) && !asksWhoDoes(text) && bare(text).split(/\s+/u).length <= 5

/** "Who teaches pastry": the verb is not one of those that ask. */
const asksWhoDoes = (text: string): boolean => {
  const word = /^(?:who|what|which\s+\p{L}+)\s+(?<word>\p{Ll}+)/iu.exec(text)?.groups?.word
  return word !== undefined && asForm(word, 'third', 'past') !== undefined
}

/** A comma keeps the words of both from being read as one name. */
const withRest = (part: string, before: string): string =>
  isBare(part) ? `${part} ${afterWord(before)}` : `${part}, ${afterWord(before)}`
