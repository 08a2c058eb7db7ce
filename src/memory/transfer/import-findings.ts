import { parse } from 'chrono-node/en'
import { compareStrings, isSameStatement, nameKey } from '../../beliefs/identity.ts'
import { localDay } from '../../local-time.ts'
import { isInformative, searchableWords } from '../../search/searchable-text.ts'
import { explainEverydayForm } from '../change/aliases.ts'
import { nameStatement } from '../learn/name-of.ts'
import { findSecrets, redactSecrets } from '../learn/secrets.ts'
import { statementsIn } from '../markdown/statements.ts'
import type { PlacedRecord } from './belief-record.ts'

/** A statement of a file to import. */
export type ImportEntry = {
  readonly place: string
  /** Null if the file gives no name. */
  readonly name: string | null
  readonly text: string
  /** When it was last changed, if the file records it. */
  readonly at: string | null
}

/**
 * `contradiction`: two entries that differ in one value. `duplicate`: the same statement twice. `stale date`: a date that is
 * long past, or a relative one such as "next week". `secret`: a password or key. `never found`: no word distinguishes the
 * entry from others. `always found`: its name is an everyday word.
 */
export const findingKinds = [
  'contradiction',
  'duplicate',
  'stale date',
  'secret',
  'never found',
  'always found',
] as const

export type ImportFinding = {
  readonly kind: (typeof findingKinds)[number]
  /** All entries with the problem; secrets are masked. */
  readonly entries: readonly ImportEntry[]
  /** The problem, in one sentence. */
  readonly reason: string
}

export const entriesOfMarkdown = (text: string, source: string): readonly ImportEntry[] =>
  statementsIn(text).map(({ line, name, content }) => ({
    place: `${source}, line ${line}`,
    name,
    text: content,
    at: null,
  }))

export const entriesOfRecords = (records: readonly PlacedRecord[]): readonly ImportEntry[] =>
  records.map(({ place, record: { name, content, updatedAt } }) => ({ place, name, text: content, at: updatedAt }))

const staleDays = 365
const dayMs = 86_400_000

/** Finds problems by rules alone, so the same entries and time give the same findings. */
export function findProblems(entries: readonly ImportEntry[], now: Date): readonly ImportFinding[] {
  const findings = [
    ...findContradictions(entries),
    ...findDuplicates(entries),
    ...entries.flatMap((entry) => findStaleDate(entry, now) ?? []),
    ...entries.flatMap((entry) => findSecret(entry) ?? []),
    ...entries.flatMap((entry) => findNeverFound(entry) ?? []),
    ...findAlwaysFound(entries),
  ]
  const indexes = new Map(entries.map((entry, index) => [entry, index]))
  const indexOf = ({ entries: [first] }: ImportFinding): number => (first && indexes.get(first)) ?? 0
  return findings
    .sort((a, b) => findingKinds.indexOf(a.kind) - findingKinds.indexOf(b.kind) || indexOf(a) - indexOf(b))
    .map((finding) => ({ ...finding, entries: finding.entries.map(withoutSecrets) }))
}

const withoutSecrets = (entry: ImportEntry): ImportEntry => ({
  ...entry,
  text: redactSecrets(entry.text),
  name: entry.name === null ? null : redactSecrets(entry.name),
})

const recordWordsOf = ({ name, text }: ImportEntry): readonly string[] => [
  ...(name === null ? [] : searchableWords(name)),
  ...searchableWords(text),
]

/** Min words that two entries must share for the word that differs to count as a different value of the same thing. */
const minShared = 3

/**
 * Entries that differ in one word other than the first: "we deploy on Monday", "we deploy on Friday". Also entries that differ
 * only by a "not" or "never".
 */
function findContradictions(entries: readonly ImportEntry[]): readonly ImportFinding[] {
  const frames: { readonly frame: string; readonly entry: ImportEntry; readonly value: string }[] = []
  for (const entry of entries) {
    const words = recordWordsOf(entry)
    const positive = words.filter((word) => !negations.has(word))
    if (positive.length >= minShared) {
      const value = positive.length === words.length ? '' : 'not'
      frames.push({ frame: `not ${positive.join(' ')}`, entry, value })
    }
    for (let at = 1; at < words.length; at += 1) {
      if (words.length - 1 < minShared) break
      const frame = words.map((word, place) => (place === at ? '_' : word)).join(' ')
      frames.push({ frame, entry, value: words[at] as string })
    }
  }
  const found = new Map<string, ImportFinding>()
  for (const held of Map.groupBy(frames, ({ frame }) => frame).values()) {
    const values = Map.groupBy(held, ({ value }) => value)
    // More than `maxValues` values are a list, such as the members of a team.
    if (values.size < 2 || values.size > maxValues) continue
    const different = [...values.values()].flatMap(([first]) => (first === undefined ? [] : [first.entry]))
    const key = different.map(placeKey).join(' | ')
    const shown = [...values.keys()].map((value) => `"${value === '' ? 'holds' : value}"`).join(' and ')
    if (!found.has(key))
      found.set(key, { kind: 'contradiction', entries: different, reason: `The same sentence with ${shown}.` })
  }
  return [...found.values()]
}

const negations: ReadonlySet<string> = new Set(['not', 'never', 'no', "don't", "doesn't", "isn't", "won't", "can't"])
const maxValues = 3

const placeKey = ({ place, text }: ImportEntry): string => `${place}:${text}`

/** Entries with the same words in any order, or with the same text apart from case and punctuation. */
function findDuplicates(entries: readonly ImportEntry[]): readonly ImportFinding[] {
  const groups = Map.groupBy(entries, (entry) => {
    const words = recordWordsOf(entry).filter(isInformative)
    return words.length === 0 ? nameKey(entry.text) : [...words].sort(compareStrings).join(' ')
  })
  return [...groups.values()]
    .filter((group) => group.length > 1)
    .map((group) => {
      const isExact = group.every(({ text }) => isSameStatement(text, group[0]?.text ?? ''))
      const reason = `${isExact ? 'The same statement' : 'The same words in another order'}, ${group.length} times.`
      return { kind: 'duplicate', entries: group, reason }
    })
}

function findStaleDate(entry: ImportEntry, now: Date): ImportFinding | null {
  for (const { text, start } of parse(entry.text, now)) {
    const isFull = start.isCertain('year')
    if (isFull && now.getTime() - start.date().getTime() > staleDays * dayMs)
      return { kind: 'stale date', entries: [entry], reason: `"${text}" is more than a year ago.` }
    const isRelative = !isFull && !start.isCertain('month') && (start.isCertain('day') || start.isCertain('weekday'))
    // "On Mondays" is a habit, not a day.
    const isHabit = new RegExp(`\\b(?:every|each|any)\\s+${escapePattern(text)}|${escapePattern(text)}s\\b`, 'iu').test(
      entry.text,
    )
    if (isRelative && !isHabit)
      return { kind: 'stale date', entries: [entry], reason: `"${text}" means a different day every time it is read.` }
  }
  if (entry.at !== null && now.getTime() - Date.parse(entry.at) > staleDays * dayMs)
    return { kind: 'stale date', entries: [entry], reason: `Written ${localDay(entry.at)} and not changed since.` }
  return null
}

const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&')

function findSecret(entry: ImportEntry): ImportFinding | null {
  const [found] = findSecrets(`${entry.name ?? ''} ${entry.text}`)
  return found === undefined ? null : { kind: 'secret', entries: [entry], reason: `It contains ${found.what}.` }
}

/** The name and the subject of an entry; a message finds the entry only if it contains one of them. */
function entryForms({ name, text }: ImportEntry): readonly string[] {
  const named = nameStatement(text)
  return [...(name === null ? [] : [name]), named.name, ...named.aliases]
}

function findNeverFound(entry: ImportEntry): ImportFinding | null {
  const isFound = [...entryForms(entry), entry.text].some((form) => explainEverydayForm(form) === null)
  const reason = 'No word distinguishes it from other entries.'
  return isFound ? null : { kind: 'never found', entries: [entry], reason }
}

/** One entry for each name that is an everyday word. */
function findAlwaysFound(entries: readonly ImportEntry[]): readonly ImportFinding[] {
  return [...Map.groupBy(entries, ({ name }) => (name === null ? '' : nameKey(name)))].flatMap(([key, group]) => {
    const [first] = group
    const reason = key === '' || first?.name == null ? null : explainEverydayForm(first.name)
    if (first === undefined || reason === null) return []
    return [{ kind: 'always found', entries: [first], reason: `Its name is "${first.name}". ${reason}` }]
  })
}
