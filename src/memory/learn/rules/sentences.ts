import type { Span } from './parts.ts'

/** Never end a sentence: a name, a number or an explanation follows. */
const beforeMore = new Set(
  `dr mr mrs ms prof st mt ft sr jr rev hon gen col lt sgt capt cpt maj pres gov sen rep messrs mme mlle vs cf viz e.g i.e eg ie approx
  dept est fig vol ed eds pp no nos nr art sec ch op al ca resp tel ext v mme mlle`.split(/\s+/u),
)

/** End a sentence only where a new one plainly begins. */
const mayEnd = new Set(
  `inc ltd co corp llc plc gmbh bros etc a.m p.m am pm u.s u.k u.s.a e.u d.c ph.d m.d b.sc m.sc jan feb mar apr jun jul aug sep sept oct nov
  dec mon tue wed thu fri sat sun min max avg hr hrs ave blvd rd apt`.split(/\s+/u),
)

const begins =
  /^["'“‘(*_]*(?:I|I'm|My|We|Our|The|It|He|She|They|This|That|And|But|Also|Please|Remember|Note|So|You|Actually|There|In|On|At|If|Can|Could|What|When|Who|Where|How|Do|Don't)\b/u

/** Characters looked at on either side of a full stop. */
const nearby = 60

/** The sentences of a stretch of text, as places in the message. Abbreviations, versions, addresses and quotes stay whole. */
export function sentencesIn(message: string, { start, end }: Span): readonly Span[] {
  const text = message.slice(start, end)
  const closed = protectedPlaces(text)
  const sentences: Span[] = []
  let from = 0
  const cut = (to: number): void => {
    const raw = text.slice(from, to)
    const lead = raw.length - raw.trimStart().length
    const trimmed = raw.trim()
    if (/[\p{L}\p{N}]/u.test(trimmed))
      sentences.push({ start: start + from + lead, end: start + from + lead + trimmed.length })
    from = to
  }
  for (const match of text.matchAll(/(?:[.!?…。!?]+["'”’)\]*_]*(?=\s|$))|\n+/gu)) {
    const at = match.index
    if (match[0].startsWith('\n')) {
      // Only wrapped lines are left inside a part; elsewhere a line is a sentence.
      continue
    }
    const after = at + match[0].length
    if (closed.some((range) => at > range.start && after < range.end)) continue
    if (
      match[0].startsWith('.') &&
      !endsSentence(text.slice(Math.max(0, at - nearby), at), text.slice(after, after + nearby))
    )
      continue
    // "No aspirin!! (ulcer in 2018)": what is added in brackets belongs to it.
    if (/^\s+\([^()\n]+\)[.!]*\s*$/u.test(text.slice(after)) && !match[0].startsWith('?')) continue
    cut(after)
  }
  cut(text.length)
  return sentences
}

function endsSentence(before: string, after: string): boolean {
  const word = /[\p{L}\p{N}.]+$/u.exec(before)?.[0] ?? ''
  const next = after.trimStart()
  if (next === '') return true
  const lower = word.toLowerCase()
  // "Ring size: N."
  if (/[:=]\s*\p{Lu}$/u.test(before)) return true
  // The initials of a name: J. R. R. Tolkien.
  if (/^(?:\p{Lu}\.?)+$/u.test(word) && word.length <= 5 && word !== 'I') return begins.test(next)
  // "14.03. between 8 and 10": a date with its full stop.
  if (/(?:^|\s)\d{1,2}\.\d{1,2}$/u.test(before)) return /^\p{Lu}/u.test(next)
  if (lower === 'no' || lower === 'nos' || lower === 'nr') return !/^\d/u.test(next)
  if (beforeMore.has(lower)) return false
  if (mayEnd.has(lower)) return begins.test(next)
  // A number with a dot begins an item of a list that stands in one line.
  if (/^\d{1,2}$/u.test(word) && /(?:^|[\s:])\d{1,2}$/u.test(before) && /(?:^|\n|:\s)\s*\d{1,2}$/u.test(before))
    return false
  return true
}

/** Short quotes and brackets: a full stop inside them is theirs. */
function protectedPlaces(text: string): readonly Span[] {
  return [
    ...text.matchAll(
      /"[^"\n]{1,300}"|“[^”\n]{1,300}”|(?<![\p{L}\p{N}])'[^'\n]{2,200}'(?![\p{L}\p{N}])|‘[^’\n]{2,200}’(?!\p{L})|\([^()\n]{1,300}\)|`[^`\n]{1,300}`/gu,
    ),
  ].map((match) => ({ start: match.index, end: match.index + match[0].length }))
}
