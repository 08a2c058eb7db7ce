import { universalScope } from '../beliefs/scope.ts'
import { MemoryError } from '../errors.ts'
import type { BeliefMessage } from '../eval/system/outside/http-contract.ts'
import { limits } from '../memory/change/draft.ts'
import { type BeliefRecord, parseRecord } from '../memory/transfer/belief-record.ts'
import { isOrdinaryWord } from '../search/ordinary-words.ts'

/** What is known before a message is read. */
export type Surroundings = {
  /** The belief as it was told before, whose parts stay where the message leaves them out. */
  readonly known: BeliefRecord | undefined
  readonly at: string
  readonly newId: () => string
}

/** The id a message gives its belief, wherever it stands. */
export function idIn({ beliefId, id, metadata }: BeliefMessage): string | undefined {
  const inMetadata = metadata?.beliefId
  if (inMetadata !== undefined && typeof inMetadata !== 'string')
    throw new MemoryError('invalid', `metadata.beliefId is ${JSON.stringify(inMetadata)?.slice(0, 80)}, not text.`)
  return beliefId ?? inMetadata ?? id
}

/**
 * Makes a belief of a message. Metadata decides where it is given. Where it is not, the text is what the belief says, and
 * the name is what stands in it before the aliases, else the id. An alias would not do: of two beliefs with one name in
 * one scope the later replaces the earlier, and two beliefs may well share an alias.
 */
export function receivedBelief(message: BeliefMessage, { known, at, newId }: Surroundings): BeliefRecord {
  const { text, user_id: user, metadata = {} } = message
  const id = idIn(message) ?? newId()
  const aliases = message.aliases ?? (known === undefined ? undefined : [...known.aliases, ...newForms(text, known)])
  const value = {
    name: nameBefore(aliases ?? [], text) ?? id,
    ...known,
    content: text,
    ...withoutEmptyScopes(metadata),
    ...(aliases === undefined ? {} : { aliases }),
    id,
    user,
  }
  return parseRecord(value, { user, scopes: [universalScope], origin: 'http', at, newId }).record
}

/**
 * Published harnesses send a changed belief as a text alone: its name and aliases, joined. So in a text that repeats all
 * of them, words that were not told before are new forms. Everyday words are not: on their own they would bring the
 * belief up everywhere.
 */
function newForms(text: string, { name, aliases, content }: BeliefRecord): readonly string[] {
  const plain = lower(text).replaceAll('_', ' ')
  if (![name, ...aliases].every((form) => plain.includes(lower(form).replaceAll('_', ' ')))) return []
  const told = new Set(wordsIn([name.replaceAll('_', ' '), name, ...aliases, content].join(' ')).map(lower))
  const added = wordsIn(text).filter((word) => !told.has(lower(word)) && !isOrdinaryWord(lower(word)))
  return [...new Map(added.map((word) => [lower(word), word])).values()]
}

const lower = (word: string): string => word.toLowerCase()

/** Words with at least one letter, without what stands around them. */
const wordsIn = (text: string): readonly string[] =>
  text
    .split(/\s+/u)
    .map((word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}+#]+$/gu, ''))
    .filter((word) => /\p{L}/u.test(word))

/** Scopes given as a list go before the single one beside it; a scope that is null is none. */
function withoutEmptyScopes({ scope, scopes, ...rest }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given = scopes ?? scope
  return given === undefined || given === null ? rest : { ...rest, scopes: given }
}

const mostWordsOfName = 8

/** The contract's text is name, aliases, content and why, joined by spaces: what comes before all the aliases is the name. */
function nameBefore(aliases: readonly string[], text: string): string | null {
  const run = ` ${aliases.join(' ')}`
  const at = aliases.length === 0 ? -1 : text.indexOf(run)
  const name = text.slice(0, Math.max(at, 0)).trim()
  const isName = name !== '' && name.length <= limits.name && name.split(/\s+/u).length <= mostWordsOfName
  return isName && /^(?:\s|$)/u.test(text.slice(at + run.length)) ? name : null
}
