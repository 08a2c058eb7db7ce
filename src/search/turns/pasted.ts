import { sentencesOf, withLineFeeds } from '../sentences.ts'

/**
 * Finds where in a message a document begins: at the first fence, quote block, header, log line, markup or indented block; at a
 * quotation of several sentences; after a colon and a blank line, or a colon and a quotation or bracket; after a line that
 * refers to the following text ("why is this so slow"), or a request to work on it. Nothing after that offset counts as the
 * speaker's own words, because a pasted text may itself close a fence or a quotation. If no document begins, returns the length
 * of the message, or `maxTypedLength` if that is less.
 */
export function findPaste(message: string): number {
  const typed = message.slice(0, maxTypedLength)
  const lines = withLineFeeds(typed).split('\n')
  let start = 0
  let before = ''
  for (const [index, line] of lines.entries()) {
    const visible = visibleOf(line)
    const bare = visible.trim()
    if (bare === '' && colon.test(before)) return start
    if (bare !== '') {
      if (isForeignLine(bare) || isIndentedBlock(visible, before)) return start
      if (isHeader(bare) && isHeader(visibleOf(lines[index + 1] ?? '').trim()) && !keepsList.test(before)) return start
      for (const sentence of sentencesOf(line)) {
        if (opensQuotation.test(sentence.text)) return start + sentence.start
        if (asksToWorkOnText(sentence.text)) return start + sentence.end
        // "Here is what he wrote. …": after such an announcement, the pasted text may begin on the same line.
        if (announcesRest(sentence.text) && /\S/u.test(line.slice(sentence.end))) return start + sentence.end
      }
      const opened = /[:：]\s{0,4}(?=["“„«{[<])/u.exec(line)
      if (opened !== null) return start + opened.index + opened[0].length
      const work = asksToWorkOnRest.exec(line)
      if (work?.groups?.colon !== undefined) return start + work[0].length
      if ((pointsAhead(bare) || work !== null) && lines.slice(index + 1).some((later) => /\S/u.test(later)))
        return start + line.length + 1
      before = visible.trimEnd()
    }
    start += line.length + 1
  }
  return typed.length
}

/**
 * Text beyond this length counts as a document, because nobody types that much. This also limits the time for reading a
 * message.
 */
export const maxTypedLength = 10_000

/** Max characters of a paragraph that counts as typed. A longer one may be pasted. */
const maxTypedCharacters = 400

/** Whether a message is one paragraph, and no longer than people type. */
export const isShortParagraph = (message: string): boolean =>
  message.trim().length <= maxTypedCharacters && !/\n[^\S\n]*\n/u.test(withLineFeeds(message.trim()))

/** A part of a message that the person certainly or perhaps wrote. */
export type OwnPart = { readonly start: number; readonly end: number; readonly perhapsPasted: boolean }

/**
 * The parts of a message that are not pasted. Only the first is certainly the person's own. The others may be pasted
 * without a mark, or follow a pasted block.
 */
export function ownParts(message: string): readonly OwnPart[] {
  const pasted = findPaste(message)
  const typed = message.slice(0, maxTypedLength)
  const doubtful = Math.min(pasted, doubtfulFrom(typed))
  const parts = [
    { start: 0, end: doubtful, perhapsPasted: false },
    { start: doubtful, end: pasted, perhapsPasted: true },
  ]
  const below = pasted + endOfBlock(typed.slice(pasted))
  if (below < typed.length)
    parts.push({ start: below, end: below + findPaste(typed.slice(below)), perhapsPasted: true })
  return parts.filter(({ start, end }) => end > start)
}

/**
 * The offset from which the text may be pasted: the second line; the second sentence, if the message is longer than
 * people type; or the text after a colon, if it has several sentences.
 */
const doubtfulFrom = (message: string): number => {
  const begin = message.length - message.trimStart().length
  const [line = ''] = withLineFeeds(message.slice(begin)).split('\n', 1)
  const sentences = sentencesOf(line)
  const colonEnd = line.search(/(?<=[:：])\s/u)
  const announced = sentences.length < 2 || keepsList.test(line.slice(0, Math.max(0, colonEnd))) ? -1 : colonEnd
  const end = isShortParagraph(message) ? line.length : (sentences[0]?.end ?? 0)
  return begin + (announced < 0 ? end : Math.min(end, announced))
}

/**
 * The end of a pasted text that is enclosed in marks: a quotation within a line, a fence, or lines that begin with `>`.
 * Returns the length of the text if no mark ends it.
 */
function endOfBlock(text: string): number {
  const quotation = /^(?:"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»)[.,;!?]?/u.exec(text)
  if (quotation !== null) return quotation[0].length
  let start = 0
  let opened: string | null = null
  let block: 'none' | 'open' | 'ended' = 'none'
  for (const line of withLineFeeds(text).split('\n')) {
    const bare = visibleOf(line).trim()
    const mark = fence.exec(bare)?.[0] ?? null
    if (opened !== null) {
      if (bare === opened) {
        opened = null
        block = 'ended'
      }
    } else if (mark !== null || bare.startsWith('>')) {
      opened = mark
      block = 'open'
    } else if (bare !== '') return block === 'ended' ? start : text.length
    else if (block === 'open') block = 'ended'
    start += line.length + 1
  }
  return text.length
}

/** Whether a line announces the text below it, other than a list of things to remember. */
export const endsInColon = (line: string): boolean => colon.test(line.trimEnd()) && !keepsList.test(line)

const colon = /[:：]["'”’*_]{0,3}$/u

/** Whether a message announces or begins a document, so that the next message of the same speaker is a document too. */
export function announcesPaste(message: string): boolean {
  const lines = message.trimEnd().split('\n')
  const isOpen = lines.filter((line) => fence.test(line.trim())).length % 2 === 1
  return isOpen || colon.test(lines.at(-1) ?? '') || announces.test(message.slice(0, 2_000))
}

const announces =
  /\b(?:paste|pasting|send|sending|forward|forwarding|share|sharing)\b[^.!?\n]{0,60}\b(?:next|now|below|follow(?:s|ing)?)\b/iu

/**
 * Whether a message mentions a text, or something that a person said or sent. Text by somebody else may follow, however
 * it is announced: "Here comes the bit the seller sent me", "Translate my next message".
 */
export const mentionsText = (message: string): boolean =>
  announcesPaste(message) || aboutText.test(message.slice(0, 2_000))

const aboutText =
  /\b(?:past(?:e[ds]?|ing)|cop(?:y|ied|ies|ying)|forward(?:s|ed|ing)?|quot(?:e[ds]?|ing|ations?)|translat\p{L}*|proofread\p{L}*|summari\p{L}*|messages?|(?:e-?)?mails?|letters?|texts?|posts?|articles?|flyers?|leaflets?|lines?|sentences?|paragraphs?|screenshots?|excerpts?|transcripts?|wr(?:ote|ites?|itten)|sen[dt]s?|sending|sa(?:ys?|id)|told|tells|here (?:comes?|is|are|it is)|here['’]s)\b/iu

/**
 * A line as it looks to a reader: without invisible characters, and with wide punctuation replaced by the normal form.
 */
const visibleOf = (line: string): string => line.replace(/\p{Cf}/gu, '').normalize('NFKC')

/** A sentence that opens a quotation and does not close it, so that more of the quotation follows. */
const opensQuotation = /^(?:"[^"]*|“[^”]*|„[^“”]*|«[^»]*|「[^」]*|『[^』]*)$/u

const fence = /^(?:```|~~~|""")/u

/** A line that nobody types as prose: a fence, a quotation, markup, a bracket, a diff, a log line, a chat or mail header. */
const isForeignLine = (line: string): boolean =>
  fence.test(line) ||
  /^(?:>|<[!/?\p{L}]|[{[](?![ xX]\]|[^\]\n]{1,80}\]\()|@@ |diff --git |\+{3} |-{3} |\+\p{L}|~~\S|={3,}|-{3,}$)/u.test(
    line,
  ) ||
  /^[[(]?(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d|\d{1,2}\/\d{1,2}\/\d{2,4},? \d)/u.test(line) ||
  /^(?:\[\d{1,2}:\d\d\]|\d{1,2}:\d\d(?:\s?[AaPp][Mm])?(?=\s(?:[<|-]|\S{1,30}\s?\|)))\s\S/u.test(line) ||
  /^(?:\p{Lu}[\p{L}'’.-]{0,30}\s{1,4}){1,4}[[(–—·|-]?\s?\d{1,2}:\d\d(?::\d\d)?(?:\s?[AaPp][Mm])?[\])]?$/u.test(line) ||
  /^(?:\$|>>>|PS [A-Z]:\\|C:\\)\s?\S/u.test(line) ||
  /^(?:On|Am|Le|El)\s.{4,120}\s(?:wrote|schrieb|écrit|escribió)\s?:$/u.test(line) ||
  /^-{2,}\s?(?:Original|Forwarded|Begin forwarded)/iu.test(line)

/** A line such as "Subject: …", "Speaker 2: …" or "SUMMARY:…". Two in a row are the header of a mail, a record or a transcript. */
const isHeader = (line: string): boolean =>
  /^\*{0,2}[\p{L}\p{N}][\p{L}\p{N} ()._;=-]{0,40}:\*{0,2}(?!\/\/)\s?\S/u.test(line)

/** Whether a line is indented by four columns or more, and is not part of a list. */
const isIndentedBlock = (line: string, before: string): boolean =>
  /^(?: {4}|\t)/u.test(line) && !/^\s{0,40}(?:[-*+•]|\d{1,3}[.)])\s/u.test(before)

/** Requests to remember a list, which the person writes rather than pastes. */
const keepsList =
  /\b(?:remember|memori[sz]e|keep in mind|bear in mind|note|save|store|rules?|from now on|always|never|forget)\b/iu

const announcesRest = (sentence: string): boolean =>
  /^\W{0,4}here(?:['’]s| is| are)\b/iu.test(sentence) && !keepsList.test(sentence)

/** Whether a question, or the end of a line, refers to something that the line does not contain. */
const pointsAhead = (line: string): boolean =>
  !keepsList.test(line) &&
  (/\b(?:this|these|below|attached|following)\W{0,4}$/iu.test(line) ||
    announcesRest(line) ||
    (/\b(?:this|these|that|below|attached)\b/iu.test(line) && (/\?\W{0,4}$/u.test(line) || asks.test(line))))

const asks =
  /^\W{0,4}(?:why|what|who|how|when|where|which|is|are|am|do|does|did|can|could|would|will|should|has|have|any)\b/iu

/** Verbs of requests to work on a text that follows. */
const workVerb = String.raw`\b(?:summari[sz]e|translate|proofread|review|fix|correct|rewrite|rephrase|reword|paraphrase|edit|explain|analy[sz]e|improve|convert|reformat|debug|classify|extract|simplify|shorten|critique|comment on|look at|reply to|respond to|continue|answer)\b`
const textWork = new RegExp(workVerb, 'iu')
/** A request to work on a text that has a colon, or that names no object, such as "translate to Dutch, please". The text after the colon or the line is the object. */
const asksToWorkOnRest = new RegExp(
  String.raw`^\W{0,4}(?:(?:please|pls)\W{1,3})?${workVerb}(?:(?![^:：]{0,60}\b(?:remember|from now on|always|never)\b)[^.!?:：\n]{0,60}(?<colon>[:：])(?=\s)|(?:\s(?:in)?to\s\p{L}{2,20}|\sin\s(?:\p{L}{1,20}\s){0,2}\p{L}{1,20})?\W{0,3}(?:please|pls)?\W{0,3}$)`,
  'iu',
)
const workedOn =
  /\b(?:this|these|the following|below|following|my (?:e-?mail|essay|text|code|letter|draft|message|function|script|paragraph|article|story|notes|resume|cv))\b/iu

/** Matches the beginning or end of a sentence that introduces a text with a colon. */
const opensText =
  /^(?:here(?:['’]s| is| are)|see|given|consider|based on|using)\b|\b(?:prompt|input|text|passage|article|e-?mail|essay|transcript|paragraph|story|question)s?\W{0,3}$/iu

/** Whether the text after a sentence is material to work on rather than a message to the agent. */
function asksToWorkOnText(sentence: string): boolean {
  if (sentence.length > 2_000) return false
  if (colon.test(sentence) && opensText.test(sentence)) return true
  const work = textWork.exec(sentence)
  return work !== null && workedOn.test(sentence.slice(work.index, work.index + 120))
}
