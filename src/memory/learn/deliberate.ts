import type { TextRange } from '../../beliefs/turn.ts'
import { analyse } from '../../search/analyse.ts'
import { isShortParagraph, mentionsText } from '../../search/turns/pasted.ts'
import type { Finding } from './extraction.ts'
import { isFunctionWord } from './name-of.ts'
import { listMark, type MessageSentence, sentencesIn } from './own-words.ts'
import { addressed, changedValue, finiteVerbs, isCommand, namedSlot, standing } from './rules.ts'

/**
 * The strict part of learning: only the findings of a message that passes this check become beliefs immediately. Other
 * findings of rules.ts may be wrong, because they wait until the person accepts them. Pasted text cannot be told from
 * typed text, so the message may contain nothing but requests: one short paragraph, of one sentence or of two that each
 * ask to remember something. No finding in it may contain more than its statement.
 */
export function isDeliberate(message: string, findings: readonly Finding[]): boolean {
  const sentences = sentencesIn(message)
  const [first] = sentences
  if (!isShortParagraph(message) || sentences.length > maxRequestSentences) return false
  // The first sentence may introduce the second as a quotation: "The flyer ends with the next line."
  if (sentences.length > 1 && mentionsText(first?.text ?? '')) return false
  return sentences.every((sentence) => {
    const said = findings.filter(({ span }) => span.start >= sentence.start && span.end <= sentence.end)
    const isRequest = said.some(({ isAsked }) => isAsked === true || sentences.length === 1)
    const isPlain = !listMark.test(sentence.text) && isStatementEnd.test(sentence.text) && !hasTags.test(sentence.text)
    return isRequest && isPlain && !said.some((one) => hasMore(one, sentence))
  })
}

/** Max sentences of a message that contains nothing but requests. */
const maxRequestSentences = 2

/** Excludes "…", emoji and question marks of other scripts. A plain question mark is allowed, because rules.ts handles it. */
const isStatementEnd = /[\p{L}\p{M}\p{N}\p{Sc}\p{Sm}\p{Sk}%#.!?][\p{Pe}\p{Pf}"'*_]{0,8}\s{0,8}$/u
/** Two hashtags, as at the end of a post. */
const hasTags = /\s#\p{L}.*\s#\p{L}/u

/** Whether a finding contains more than its statement, such as words that somebody else may have said. */
function hasMore({ kind, span, isDoubtful, replaces }: Finding, { plain, start }: MessageSentence): boolean {
  if (isDoubtful === true) return true
  const written = plain.slice(span.start - start, span.end - start)
  // Removes a reason in the first person, which is the person's own: "I moved, so my time zone is now …".
  const text = written.replace(ownReason, (reason) => (isOwnReason(reason) ? '' : reason))
  switch (kind) {
    case 'identity': {
      const slot = namedSlot(text)
      return slot === null || !isBareEnd.test(slot.rest)
    }
    case 'instruction':
      return hasRemark(text.replace(addressed, ''))
    case 'correction': {
      const value = changedValue(text)
      return value !== null && !hasFormOf(value, replaces ?? '')
    }
    default:
      return false
  }
}

const ownReason = /^(?:i|we)\b.*?\sso\s(?:also |please )?(?=(?:always|never|my|i|please|call|you)\b)/iu

/** Whether a reason is an act of the person ("I moved to Porto, so"). Not if it is longer, or about a text: somebody else may have said it. */
const isOwnReason = (reason: string): boolean => !mentionsText(reason) && analyse(reason).length <= maxReasonWords + 1

const maxReasonWords = 4

/**
 * After a name, only the rest of the value may follow: any other text may name another speaker ("…, says the label").
 */
const isBareEnd =
  /^(?:\s(?:[Tt]ime(?: ?zone)?|pronouns|for me|speaker|now|please))?(?:\s\([^\s()]{1,20}\))?[\s.!,;*_)"'”’]{0,8}$/u

/** Whether two values have the same form: numbers, names, other words and punctuation in the same places. */
export const hasFormOf = (value: string, other: string): boolean => formOf(value) === formOf(other)

const formOf = (text: string): string =>
  text
    .replace(/^\s+|[.!\s]+$/gu, '')
    .replace(/[\p{L}\p{M}\p{N}]+(?:[.,:'’_-][\p{L}\p{M}\p{N}]+)*/gu, (word) =>
      /\p{N}/u.test(word) ? '0' : /^\p{Lu}/u.test(word) ? 'A' : 'a',
    )

/**
 * Whether a command has a remark: words before "from now on"; words in brackets or after a dash, except for an
 * abbreviation or format; a source ("as the letter says"); a separate verb that no conjunction subordinates
 * ("never hang up is what the caller said"); or a part after a comma that is not another command, an alternative
 * ("tabs, not spaces, in …"), or the rest of a list.
 */
function hasRemark(text: string): boolean {
  const cue = standing.exec(text)
  if (cue !== null && cue.index > 0 && /\p{L}/u.test(text.slice(cue.index + cue[0].length))) return true
  if (/[([](?![\p{Lu}\p{N}:.+/-]{1,20}[)\]])|\s[-–—]{1,2}\s|\p{L}—\p{L}/u.test(text)) return true
  const words = analyse(text.replace(standing, '').slice(0, 400)).map(({ word }) => word)
  if (words.some((word, at) => word === 'as' && isFunctionWord(words[at + 1] ?? ''))) return true
  const verb = words.findIndex((word) => finiteVerbs.has(word))
  // In "You may deploy on Fridays", the second word is the verb of the instruction.
  return (verb > 1 && !words.slice(0, verb).some((word) => conjunctions.has(word))) || hasRemarkBehindComma(text)
}

const conjunctions = new Set(
  'that which who whose what where when whenever why how if unless whether as and but or than until while before after every each'.split(
    ' ',
  ),
)

function hasRemarkBehindComma(text: string): boolean {
  const clauses = text.replaceAll(/<[^<>]{0,200}>|,\s(?:not|never|no|nor|please)\b[^,]{0,60},?/giu, '').split(/,\s/u)
  const command = clauses.findIndex((clause) => isCommand(clause.replace(standing, '').trim()))
  const parts = clauses.slice(Math.max(command, 0) + 1)
  const items = parts.flatMap((part) => ` ${part}`.split(/\s(?:and|or)\s/iu))
  const isList = items.length > parts.length && items.every((item) => analyse(item).length <= maxItemWords)
  return !isList && parts.some((part) => !isCommand(part.replace(/^(?:and|or|but)\s/iu, '')))
}

/** Max words of a list item; a longer one may be a remark. */
const maxItemWords = 3

/** The parts of a message with statements that wait for the person, who may have pasted them. */
export const findDoubtful = (message: string, findings: readonly Finding[]): readonly TextRange[] =>
  findings.length === 0 || isDeliberate(message, findings) ? [] : rangesOf(message, findings)

export const rangesOf = (message: string, findings: readonly Finding[]): readonly TextRange[] =>
  findings.map(({ content, span }) => {
    const start = message.indexOf(content, span.start)
    return [start, start + content.length]
  })
