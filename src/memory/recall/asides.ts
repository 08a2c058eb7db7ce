import { authorityOf, type Belief } from '../../beliefs/belief.ts'
import type { Link, Linked } from '../../search/link.ts'
import { isInformative, searchableWords } from '../../search/searchable-text.ts'

type Named = { readonly belief: Belief; readonly link: Link }

/** With fewer other words, a message is about the name that it says. */
const fewestOthers = 2

/**
 * The ids of beliefs that a message does not ask for, although it says their names. It says them as people say greetings
 * and thanks in any language: at its beginning or end, and set apart from the rest ("Guten Tag, kannst du …"). This holds
 * for what agents and documents named, and where no other word of the message is in the belief. Names in a row are a list.
 */
export function asidesIn(message: string, { tokens, links }: Linked, named: readonly Named[]): ReadonlySet<string> {
  const all = links.flatMap(({ mentions }) => mentions)
  const [begin, end] = [new Set(all.map(({ first }) => first)), new Set(all.map(({ last }) => last))]
  const isApart = (at: number): boolean => separators.test(message.slice(tokens[at - 1]?.end, tokens[at]?.start))
  const isSetApart = ({ mentions }: Link): boolean =>
    mentions.every(({ first, last }) => {
      if (tokens.length - (last + 1 - first) < fewestOthers) return false
      if (first === 0) return isApart(last + 1) && !begin.has(last + 1)
      return last === tokens.length - 1 && isApart(first) && !end.has(first - 1)
    })
  const sharesWord = ({ belief: { name, content, why }, link: { mentions } }: Named): boolean => {
    const known = new Set(searchableWords(`${name}\n${content}\n${why}`))
    const isMention = (at: number): boolean => mentions.some(({ first, last }) => first <= at && at <= last)
    return searchableWords(message, tokens).some((word, at) => isInformative(word) && known.has(word) && !isMention(at))
  }
  return new Set(
    named
      .filter((one) => authorityOf(one.belief) !== 'person' && isSetApart(one.link) && !sharesWord(one))
      .map(({ belief }) => belief.id),
  )
}

/** A colon or a dash sets apart what the message is about. */
const separators = /[,.!?、。，！？\n]/u
