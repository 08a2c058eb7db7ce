import { valuesIn } from './kinds-of-value.ts'
import { escaped } from './stand-alone.ts'

/** Says that something has changed, and nothing about what. */
const changeWords =
  /^(?:now|actually|instead|not|no|longer|any|more|anymore|from|to|on|until|till|as|of|today|is|it|its|it's|are|was|were|has|have|had|been|got|be|will|should|that|this|these|days|the|a|an|my|our|i|we|they|they've|they're|he|she|you|and|but|so|at|in|by|for|just|already|again|back|up|down|forward|changed?|moved?|pushed|postponed|rescheduled|shifted|delayed|raised|lowered|increased|reduced|updated?|switched|extended|brought|meant|correction|sorry|wait|new|gone|went|takes?|took|costs?|starts?|ends?)$/u

/**
 * What is known after a correction: it gives another value, and whatever else the old statement said still holds. So
 * "the levothyroxine is 95 mg now" makes "I take 75 mg of levothyroxine in the morning" say 95 mg, and keeps the
 * morning. Null where the words of the correction say all there is, or where it cannot be told which value it changes:
 * then they stand alone.
 */
export function keptDetails(before: string, said: string, replaces: readonly string[] = []): string | null {
  const changed = withNewValues(before, said, replaces) ?? alreadySaid(before, said, replaces)
  if (changed === null) return null
  const old = wordsOf(withoutValues(before, changed.was))
  const own = (text: string): readonly string[] =>
    wordsOf(withoutValues(text, [...changed.is, ...changed.was, ...replaces]))
  if (old.every((word) => own(said).includes(word))) return null
  const hasMore = (text: string): boolean => own(text).some((word) => !old.includes(word) && !changeWords.test(word))
  if (!hasMore(said)) return changed.text
  // What else it says may contradict what was said before, unless it is only why or by whom.
  return hasMore(said.replace(reason, '').replace(whoChanged, '')) ? null : `${said} [${changed.text}]`
}

/** "Dr. Rao has raised my dose to 10 mg": who did it contradicts nothing. */
const whoChanged =
  /^[^,;]{2,50}?\s(?=(?:has\s+|have\s+|had\s+)?(?:changed|raised|lowered|increased|reduced|moved|set|put up|postponed|rescheduled|shifted)\s+(?:my|our|the)\s)/iu
const reason = /,?\s+(?:because|since|due to|as (?=the|my|our|i|we)|so that)\s.*$/iu

type Changed = { readonly text: string; readonly was: readonly string[]; readonly is: readonly string[] }

function withNewValues(before: string, said: string, replaces: readonly string[]): Changed | null {
  const given = valuesIn(said).filter(({ text }) => !isTakenBack(text, before, replaces))
  const had = valuesIn(before)
  let text = before
  const was: string[] = []
  const is: string[] = []
  for (const value of given) {
    const sameKind = had.filter(({ kind }) => kind === value.kind)
    const [old] = sameKind
    // Two values of one kind on either side: nobody can tell which takes whose place.
    if (old === undefined || sameKind.length > 1 || given.filter(({ kind }) => kind === value.kind).length > 1)
      return null
    text = text.replace(old.text, () => value.text)
    was.push(old.text)
    is.push(value.text)
  }
  return was.length > 0 ? { text, was, is } : pointedOut(before, said, replaces)
}

/** A value that stands in the old statement as well is what is taken back, or said once more. */
const isTakenBack = (value: string, before: string, replaces: readonly string[]): boolean =>
  before.toLowerCase().includes(value.toLowerCase()) ||
  replaces.some((old) => old.toLowerCase().includes(value.toLowerCase()))

/** Said once more, a correction finds its value in place and changes nothing. */
function alreadySaid(before: string, said: string, replaces: readonly string[]): Changed | null {
  const is = valuesIn(said)
    .map(({ text }) => text)
    .filter((value) => !replaces.some((old) => old.toLowerCase().includes(value.toLowerCase())))
  return is.length > 0 && is.every((value) => before.includes(value)) ? { text: before, was: [], is } : null
}

/** "It's 88c, not 88b": all that is said is which words take the place of which. */
function pointedOut(before: string, said: string, replaces: readonly string[]): Changed | null {
  const [old] = replaces
  if (old === undefined || replaces.length > 1) return null
  const value = said
    .replace(/\s*\[[^\]]*\]/gu, '')
    .trim()
    .replace(/^(?:it|that|this)(?:['’]?s|\s+(?:is|was|should be))\s+(?:now\s+)?/iu, '')
    .replace(/[.!]+$/u, '')
    .replace(
      new RegExp(String.raw`,?\s+(?:and\s+)?not\s+(?:(?:the|an?|my|our|in|at|on)\s+)?${escaped(old)}$`, 'iu'),
      '',
    )
    .replace(/\s+now$/iu, '')
  const places = [...before.matchAll(new RegExp(String.raw`(?<![\p{L}\p{N}])${escaped(old)}(?![\p{L}\p{N}])`, 'giu'))]
  const [place] = places
  if (place === undefined || places.length > 1 || value === '' || /[,;:]|\s\S+\s\S+\s\S+\s/u.test(value)) return null
  if (/\b(?:is|are|was|were|am|has|have|not)\b/iu.test(value)) return null
  const plain = withoutStart(value.replace(/^(?:the|an?)\s+/iu, ''), before.slice(0, place.index))
  const text = `${before.slice(0, place.index)}${plain}${before.slice(place.index + place[0].length)}`
  return { text, was: [place[0]], is: [plain] }
}

/** "Room C2" behind "in room": the word stands there already. */
function withoutStart(value: string, before: string): string {
  const [first = '', ...rest] = value.split(' ')
  return rest.length > 0 && before.toLowerCase().endsWith(`${first.toLowerCase()} `) ? rest.join(' ') : value
}

const withoutValues = (text: string, values: readonly string[]): string =>
  values.reduce((rest, value) => rest.replace(new RegExp(escaped(value), 'giu'), ' '), text)

/** In lower case, without an ending in "s". */
const wordsOf = (text: string): readonly string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}'’:./-]*/gu) ?? [])
    .map((word) => word.replace(/['’.:/-]+$/u, ''))
    .filter((word) => !smallWords.test(word))
    .map((word) => (word.length > 3 ? word.replace(/(?<=[^s'’])s$/u, '') : word))

const smallWords = /^(?:an?|the|my|our|i|we|it|of|is|are|was|were|be|and|to|on|in|at|for)$/u
