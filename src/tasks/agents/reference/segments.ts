/** A piece of a prompt that says one thing: a sentence, or an item of a list. */
export type Segment = {
  readonly text: string
  readonly isItem: boolean
  /** The whole item that it is a sentence of; itself when it is in no list. */
  readonly whole: string
  /** What stands before the list that this is an item of. */
  readonly leadIn: string | null
  /** The number or letter that the person gave the item: "3" of "3)". */
  readonly label: string | null
}

const itemMark = /^\s{0,8}(?:[-*+•·]\s+|\(?\d{1,3}[.):]\s+|\(?[a-z][.)]\s+(?=\S))/u
const fence = /^\s*(?:```|~~~)/u

/** Cuts a prompt into sentences and list items, in order. What stands between code fences is left out. */
export function segmentsOf(prompt: string): readonly Segment[] {
  const segments: Segment[] = []
  let isFenced = false
  let leadIn: string | null = null
  let paragraph: string[] = []
  const endParagraph = (): void => {
    const texts = withoutWrapping(paragraph)
    paragraph = []
    for (const piece of texts.flatMap(inlineItems)) {
      if (piece.label !== null) segments.push({ ...piece, isItem: true, whole: piece.text, leadIn })
      else {
        const sentences = sentencesOf(piece.text)
        segments.push(...sentences.map((text) => ({ text, isItem: false, whole: text, leadIn: null, label: null })))
        leadIn = sentences.at(-1) ?? leadIn
      }
    }
  }
  for (const line of prompt.replaceAll('\r\n', '\n').split('\n')) {
    if (fence.test(line)) {
      endParagraph()
      isFenced = !isFenced
    } else if (!isFenced) {
      const mark = itemMark.exec(line)?.[0]
      if (mark !== undefined) {
        endParagraph()
        const item = line.slice(mark.length)
        const label = /\d+|[a-z](?=[.)])/u.exec(mark)?.[0] ?? null
        segments.push(...sentencesOf(item).map((text) => ({ text, isItem: true, whole: item.trim(), leadIn, label })))
      } else if (line.trim() === '') endParagraph()
      else paragraph.push(line.replace(/^\s*(?:#{1,6}|>)\s+/u, '').trim())
    }
  }
  endParagraph()
  return segments
}

const opensQuestion =
  /^(?:and\s+|also\s+)?(?:(?:in|on|at|to|for|from|by|with|of|since)\s+)?(?:what|which|who|whom|whose|when|where|why|how|whats|whos|wheres|whens|hows)\b/iu

/**
 * The lines of a paragraph, put together where a line was only broken to fit. A line that leaves room for the next word
 * was ended on purpose; when most are, all are: people write notes and questions line by line.
 */
function withoutWrapping(lines: readonly string[]): readonly string[] {
  const width = Math.max(0, ...lines.map(({ length }) => length))
  const leavesRoom = (line: string, next: string): boolean =>
    line.length + 1 + (/^\S*/u.exec(next)?.[0].length ?? 0) <= width
  const ends = lines.slice(1).map((next, at) => leavesRoom(lines[at] ?? '', next))
  const isLineByLine = ends.filter((isEnd) => isEnd).length * 2 > ends.length
  const texts: string[] = []
  for (const [at, line] of lines.entries()) {
    const before = lines[at - 1] ?? ''
    const isNew = at === 0 || isLineByLine || (before.length < 60 && opensQuestion.test(line))
    if (isNew) texts.push(line)
    else texts.push(`${texts.pop() ?? ''} ${line}`)
  }
  return texts.map((text) => text.trim()).filter((text) => text !== '')
}

/** "Tell me: 1. what … 2. when …" on one line is a list too, when the numbers count up from 1. */
function inlineItems(text: string): readonly { readonly text: string; readonly label: string | null }[] {
  const marks = [...text.matchAll(/(?:^|(?<=[\s:]))\(?(\d{1,2})[.)]\s+(?=\S)/gu)]
  const counted = marks.filter((_, at) => Number(marks[at]?.[1]) === at + 1)
  if (counted.length < 2 || counted.length !== marks.length) return [{ text, label: null }]
  const items = counted.map((mark, at) => ({
    text: text.slice(mark.index + mark[0].length, counted[at + 1]?.index ?? text.length).trim(),
    label: mark[1] ?? null,
  }))
  const before = text.slice(0, counted[0]?.index ?? 0).trim()
  return before === '' ? items : [{ text: before, label: null }, ...items]
}

const abbreviation = /(?:^|[\s("'])(?:Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|vs|etc|e\.g|i\.e|No|approx|Inc|Ltd|Co|Mt|[A-Z])\.$/u

/** Cuts a text after each full stop, question mark and exclamation mark that ends a sentence. */
export function sentencesOf(text: string): readonly string[] {
  const sentences: string[] = []
  // An odd number of quotes is a slip, or inches: then quotes tell nothing.
  const countsQuotes = (text.match(/"/gu)?.length ?? 0) % 2 === 0
  let start = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string
    if (character === '"' && countsQuotes) isQuoted = !isQuoted
    if (character === '“') isQuoted = true
    if (character === '”') isQuoted = false
    if (isQuoted || !'.?!。？！'.includes(character)) continue
    const end = at + (/^[.?!。？！]*["'”’)\]]*/u.exec(text.slice(at))?.[0].length ?? 1)
    const isBoundary = end >= text.length || /\s/u.test(text[end] as string) || '。？！'.includes(character)
    if (!isBoundary || (character === '.' && abbreviation.test(text.slice(start, at + 1)))) continue
    sentences.push(text.slice(start, end))
    start = end
    at = end - 1
  }
  sentences.push(text.slice(start))
  return sentences.map((sentence) => sentence.trim()).filter((sentence) => /[\p{L}\p{N}]/u.test(sentence))
}
