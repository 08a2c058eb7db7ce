import { type BeliefType, isCurrent } from '../../beliefs/belief.ts'
import { isSameStatement, nameKey, numberedName } from '../../beliefs/identity.ts'
import { parseScopes } from '../../beliefs/scope.ts'
import { invalid, MemoryError } from '../../errors.ts'
import { isSurfaceForm } from '../../search/forms.ts'
import { explainEverydayForm } from '../change/aliases.ts'
import { nameStatement, withoutMarkup } from '../learn/name-of.ts'
import type { Ports } from '../ports.ts'
import { type PlacedRecord, parseRecord, type ReadRequest } from '../transfer/belief-record.ts'
import { findSameStatement, refuseSecret } from './same-statement.ts'
import { type DocumentStatement, statementsIn } from './statements.ts'

/** A statement with everything it needs to be remembered. */
type Draft = {
  readonly statement: DocumentStatement
  readonly name: string
  readonly content: string
  readonly aliases: readonly string[]
  /** Whether the document gives the name. A derived name is changed if another belief has it. */
  readonly isGiven: boolean
}

/** Headings that do not describe their section. */
const generic =
  /^(?:notes?|misc(?:ellaneous)?|general|overview|introduction|summary|memory|memories|facts?|info(?:rmation)?|context|rules?|guidelines?|instructions?|preferences?|decisions?|relations?|(?:open )?questions?|todos?|tasks?|other|details|background|new|more|user|project|about.*|readme|important|key .*)$/iu

/** Max statements below a heading that becomes their alias. With more statements, a message with the heading would find too many. */
const maxBelowHeading = 3

/**
 * Reads any Markdown as beliefs. Reading the same text again gives the same names, so that importing it again changes nothing.
 * Statements that cannot become beliefs are left out with a warning.
 */
export async function readMarkdown(
  ports: Ports,
  { text, source, user, scopes }: ReadRequest,
): Promise<{ readonly records: readonly PlacedRecord[]; readonly warnings: readonly string[] }> {
  const statements = statementsIn(text)
  const sections = Map.groupBy(statements, ({ section }) => section)
  const siblingsOf = ({ section }: DocumentStatement): number => sections.get(section)?.length ?? 1
  const drafts = makeNamesDistinct(statements.map((statement) => draftOf(statement, siblingsOf(statement))))
  const records: PlacedRecord[] = []
  const warnings: string[] = []
  const defaults = {
    user,
    scopes: parseScopes(scopes),
    origin: source,
    at: ports.now().toISOString(),
    newId: ports.newId,
  }
  const taken = new Map<string, string>()
  for (const draft of drafts) {
    const place = `${source}, line ${draft.statement.line}`
    const where = draft.statement.scopes ?? defaults.scopes
    try {
      await refuseSecret({ ...draft, why: draft.statement.why })
      const name = await freeName(ports, user, where, draft, taken)
      if (name === null) continue
      const { why, type } = draft.statement
      const value = {
        name,
        content: draft.content,
        // Everyday words are too common to be derived aliases.
        aliases: draft.aliases.filter(
          (alias) => draft.statement.aliases.includes(alias) || explainEverydayForm(alias) === null,
        ),
        why,
        scopes: where,
        type: type ?? guessType(draft.content),
      }
      records.push({ place, record: parseRecord(value, defaults).record })
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error
      warnings.push(`${place}: left out. ${error.message}`)
    }
  }
  if (records.length === 0 && warnings.length === 0)
    throw invalid(`${source} contains no statements.`, 'Give a Markdown file with list items or paragraphs.')
  return { records, warnings }
}

function draftOf(statement: DocumentStatement, siblings: number): Draft {
  const given = { statement, aliases: statement.aliases }
  const context = statement.context.findLast((title) => !generic.test(title) && isSurfaceForm(title)) ?? null
  if (statement.name !== null) return { ...given, name: statement.name, content: statement.content, isGiven: true }
  const named = nameStatement(statement.content)
  const aliases = [...statement.aliases, ...named.aliases]
  const isNear = context !== null && context === statement.context.at(-1)
  if (named.isGiven || !isNear || siblings > maxBelowHeading) return { ...named, statement, aliases }
  // The only statement of a section is named after the heading.
  if (siblings === 1) return { ...named, statement, name: context, aliases: [...aliases, named.name], isGiven: true }
  return { ...named, statement, aliases: [...aliases, context] }
}

/** If different things have the same name, such as a port in each of two sections, adds the heading to the name. */
function makeNamesDistinct(drafts: readonly Draft[]): readonly Draft[] {
  const keyOf = ({ name, statement }: Draft): string => JSON.stringify([nameKey(name), statement.scopes])
  const groups = Map.groupBy(drafts, keyOf)
  return drafts.map((draft) => {
    const rivals = (groups.get(keyOf(draft)) ?? []).filter(({ content }) => !isSameStatement(content, draft.content))
    const context = draft.statement.context.findLast(
      (title) => isSurfaceForm(title) && nameKey(title) !== nameKey(draft.name),
    )
    if (rivals.length === 0 || context === undefined) return draft
    return {
      ...draft,
      name: `${withoutMarkup(context)} ${draft.name}`.slice(0, 200),
      aliases: [...draft.aliases, draft.name],
    }
  })
}

/** A name that no other statement has; null if the document repeats a statement. */
async function freeName(
  ports: Ports,
  user: string,
  scopes: readonly string[],
  { name, content, isGiven }: Draft,
  taken: Map<string, string>,
): Promise<string | null> {
  const { store } = ports
  const same = isGiven ? null : await findSameStatement(ports, { user, scopes, content })
  if (same !== null && !taken.has(itemKeyOf(same.name, scopes))) {
    taken.set(itemKeyOf(same.name, scopes), content)
    return same.name
  }
  for (let attempt = 1; ; attempt += 1) {
    const candidate = numberedName(name, attempt)
    const key = itemKeyOf(candidate, scopes)
    const before = taken.get(key)
    if (before !== undefined && isSameStatement(before, content)) return null
    const holders = before === undefined && !isGiven ? await store.holders(user, candidate, scopes) : []
    const isFree = holders.every((holder) => isCurrent(holder) && isSameStatement(holder.content, content))
    if (before !== undefined || !isFree) continue
    taken.set(key, content)
    return candidate
  }
}

const itemKeyOf = (name: string, scopes: readonly string[]): string =>
  JSON.stringify([nameKey(name), [...scopes].sort()])

const preferring = /\b(?:prefers?|favou?rites?|likes?|loves?|hates?|dislikes?|always|never|avoid)\b/iu
const deciding = /\b(?:decided|decision|agreed|we chose|settled on)\b/iu

function guessType(content: string): BeliefType {
  if (content.trimEnd().endsWith('?')) return 'open_question'
  if (deciding.test(content)) return 'decision'
  return preferring.test(content) ? 'preference' : 'entity'
}
