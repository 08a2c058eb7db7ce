import {
  type ActorKind,
  actorKinds,
  type Belief,
  beliefTypes,
  expertiseDepths,
  statuses,
  subtypes,
} from '../../beliefs/belief.ts'
import { mergeAliases } from '../../beliefs/identity.ts'
import { parseScopes } from '../../beliefs/scope.ts'
import { invalid, MemoryError } from '../../errors.ts'
import { isObject, parseJson } from '../../json.ts'
import { limits, parseForm, parseLabel, parseParticipants, parseText, parseWhy } from '../change/draft.ts'
import type { Ports } from '../ports.ts'

/** A belief in a file: complete except for the version, which the store assigns. */
export type BeliefRecord = Omit<Belief, 'version'>

/** Defaults for the fields that a record may leave out. */
type RecordDefaults = {
  readonly user: string
  readonly scopes: readonly string[]
  readonly origin: string
  readonly at: string
  readonly newId: () => string
}

/** Spellings of our fields in other systems. */
const spellings: Readonly<Record<string, string>> = {
  _id: 'id',
  user_id: 'user',
  userId: 'user',
  agent_id: 'agent',
  canonical_name: 'name',
  canonicalName: 'name',
  why_it_matters: 'why',
  whyItMatters: 'why',
  scope: 'scopes',
  epistemic_status: 'status',
  epistemicStatus: 'status',
  user_edited: 'editedByPerson',
  relation_type: 'relation',
  last_reinforced_at: 'reinforcedAt',
}

const knownFields = new Set(
  `id user agent type subtype name aliases content why scopes status confidence pinned editedByPerson supersededBy
  proposedFor candidate resolvedAt resolvedBy participants relation expertise expertiseDomain expertiseDepth provenance
  reinforcement reinforcementCount reinforcedAt createdAt updatedAt version`.split(/\s+/u),
)
/** Fields of other systems that are ignored. */
const ignoredFields = new Set('changeLog expertiseEvidenceCount originContext tokenId tokenName tokenKind'.split(' '))

/** Our name for a field: the name that a known spelling stands for, or otherwise the same word in camel case. */
const fieldName = (key: string): string =>
  spellings[key] ?? key.replace(/(?<=[a-z])_([a-z])/gu, (_, letter: string) => letter.toUpperCase())

/** Reads one belief in any known spelling. Lists unknown fields; throws if a value is invalid. */
export function parseRecord(
  value: unknown,
  defaults: RecordDefaults,
): { readonly record: BeliefRecord; readonly unknown: readonly string[] } {
  if (!isObject(value)) throw invalid('A belief must be an object.')
  const fields = new Map<string, unknown>()
  const unknown: string[] = []
  for (const [key, field] of Object.entries(value)) {
    const name = fieldName(key)
    if (knownFields.has(name)) fields.set(name, field)
    else if (!ignoredFields.has(name) && !key.startsWith('_')) unknown.push(key)
  }
  return { record: recordOf(fields, defaults), unknown }
}

function recordOf(fields: ReadonlyMap<string, unknown>, defaults: RecordDefaults): BeliefRecord {
  const name = parseForm('name', text(fields, 'name'))
  const aliases = strings(fields, 'aliases').map((alias) => parseForm('alias', alias))
  const createdAt = time(fields, 'createdAt') ?? defaults.at
  const provenance = object(fields, 'provenance')
  const reinforcement = object(fields, 'reinforcement')
  const expertise = object(fields, 'expertise')
  const domain = optionalText(fields, 'expertiseDomain') ?? optionalText(expertise, 'domain')
  const depth = optionalText(fields, 'expertiseDepth') ?? optionalText(expertise, 'depth')
  const scopes = parseScopes(strings(fields, 'scopes'))
  const supersededBy = optionalText(fields, 'supersededBy')
  return {
    id: requireId(optionalText(fields, 'id') ?? defaults.newId()),
    user: optionalText(fields, 'user') ?? defaults.user,
    agent: parseLabel('agent', optionalText(fields, 'agent')),
    type: choice(fields, 'type', beliefTypes) ?? 'entity',
    subtype: choice(fields, 'subtype', subtypes),
    name,
    aliases: mergeAliases(name, [], aliases),
    content: parseText('content', text(fields, 'content'), limits.content),
    why: parseWhy(optionalText(fields, 'why') ?? ''),
    scopes: scopes.length > 0 ? scopes : defaults.scopes,
    status: supersededBy === null ? (choice(fields, 'status', statuses) ?? 'active') : 'superseded',
    confidence: numberUpTo(fields, 'confidence', 1) ?? 1,
    pinned: flag(fields, 'pinned'),
    editedByPerson: flag(fields, 'editedByPerson'),
    supersededBy,
    proposedFor: optionalText(fields, 'proposedFor'),
    candidate: flag(fields, 'candidate'),
    resolvedAt: time(fields, 'resolvedAt'),
    resolvedBy: optionalText(fields, 'resolvedBy'),
    participants: parseParticipants(strings(fields, 'participants')),
    relation: parseLabel('relation', optionalText(fields, 'relation')),
    expertise:
      domain === null
        ? null
        : {
            domain: parseText('expertise domain', domain, limits.label),
            depth: choice(new Map([['depth', depth]]), 'depth', expertiseDepths) ?? 'working',
          },
    provenance: {
      actor: actorOf(choice(provenance, 'actor', [...actorKinds, 'import'])),
      origin: optionalText(provenance, 'origin') ?? defaults.origin,
      sourceId:
        optionalText(provenance, 'sourceId') ??
        optionalText(provenance, 'turn_id') ??
        optionalText(provenance, 'session_id'),
      model: optionalText(provenance, 'model') ?? optionalText(provenance, 'source_model'),
      at: time(provenance, 'at') ?? time(provenance, 'extracted_at') ?? createdAt,
    },
    reinforcement: {
      count: count(fields, 'reinforcementCount') ?? count(reinforcement, 'count') ?? 0,
      at: time(fields, 'reinforcedAt') ?? time(reinforcement, 'at') ?? createdAt,
    },
    createdAt,
    updatedAt: time(fields, 'updatedAt') ?? createdAt,
  }
}

/** Exports of earlier versions call a document an import. */
const actorOf = (written: ActorKind | 'import' | null): ActorKind =>
  written === null || written === 'import' ? 'document' : written

function requireId(id: string): string {
  if (/^[^\s\p{Cc}]{1,128}$/u.test(id)) return id
  throw invalid(`The id "${id.slice(0, 80)}" is not valid.`, 'An id has 1 to 128 characters and no spaces.')
}

type Fields = ReadonlyMap<string, unknown>

/** The parsed value of a field; null if it is missing or null. `parse` returns undefined for an invalid value. */
function field<Value>(
  fields: Fields,
  name: string,
  expected: string,
  parse: (value: unknown) => Value | undefined,
): Value | null {
  const value = fields.get(name)
  if (value === undefined || value === null) return null
  const parsed = parse(value)
  if (parsed !== undefined) return parsed
  throw invalid(`The field ${name} is ${JSON.stringify(value)?.slice(0, 80)}; it must be ${expected}.`)
}

const isString = (value: unknown): value is string => typeof value === 'string'

function text(fields: Fields, name: string): string {
  const value = field(fields, name, 'text', (given) => (isString(given) ? given : undefined))
  if (value === null)
    throw invalid(
      `The field ${name} is missing.`,
      'A belief needs name and content. For conversations use `credence import chats`.',
    )
  return value
}

/** Blank text counts as missing, because files made from tables have empty cells for missing values. */
const optionalText = (fields: Fields, name: string): string | null =>
  field(fields, name, 'text', (value) => (isString(value) ? (value.trim() === '' ? null : value) : undefined))

const strings = (fields: Fields, name: string): readonly string[] =>
  field(fields, name, 'a list of texts', (value) =>
    isString(value) ? [value] : Array.isArray(value) && value.every(isString) ? value : undefined,
  ) ?? []

const flag = (fields: Fields, name: string): boolean =>
  field(fields, name, 'true or false', (value) => (typeof value === 'boolean' ? value : undefined)) ?? false

const numberUpTo = (fields: Fields, name: string, max: number): number | null =>
  field(fields, name, `a number from 0 to ${max}`, (value) =>
    typeof value === 'number' && value >= 0 && value <= max ? value : undefined,
  )

const count = (fields: Fields, name: string): number | null => numberUpTo(fields, name, Number.MAX_SAFE_INTEGER)

const choice = <Value extends string>(fields: Fields, name: string, allowed: readonly Value[]): Value | null =>
  optionalText(fields, name) === null
    ? null
    : field(fields, name, `one of ${allowed.join(', ')}`, (value) => allowed.find((one) => one === value))

const time = (fields: Fields, name: string): string | null =>
  optionalText(fields, name) === null
    ? null
    : field(fields, name, 'a date such as 2026-03-01T12:00:00Z', (value) =>
        isString(value) ? parseDate(value) : undefined,
      )

const withoutZone = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/u

function parseDate(text: string): string | undefined {
  // A time without a zone is read as UTC, because otherwise it would mean a different moment on every machine.
  const zoned = withoutZone.test(text) ? `${text.replace(' ', 'T')}Z` : text
  const date = new Date(/^\d{4}-\d{2}-\d{2}/u.test(zoned) ? zoned : Number.NaN)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

const object = (fields: Fields, name: string): Fields =>
  field(fields, name, 'an object', (value) => (isObject(value) ? new Map(Object.entries(value)) : undefined)) ??
  new Map()

/** A belief read from a file, and its position in the file. */
export type PlacedRecord = { readonly place: string; readonly record: BeliefRecord }

export type ReadRequest = {
  readonly text: string
  readonly source: string
  readonly user: string
  readonly scopes: readonly string[]
}

export type ReadResult = { readonly records: readonly PlacedRecord[]; readonly warnings: readonly string[] }

/** Reads a JSON array of beliefs, one belief, or JSON Lines. */
export function readRecords(
  { now, newId }: Pick<Ports, 'now' | 'newId'>,
  { text, source, user, scopes }: ReadRequest,
): ReadResult {
  const at = now().toISOString()
  const defaults = { user, scopes: parseScopes(scopes), origin: source, at, newId }
  const warnings: string[] = []
  const places = new Map<string, string>()
  const records: PlacedRecord[] = []
  for (const { place, value } of valuesIn(text.replace(/^\ufeff/u, ''), source)) {
    const { record, unknown } = withPlace(place, () => parseRecord(value, defaults))
    if (record.scopes.length === 0)
      throw invalid(`${place}: the belief has no scope.`, 'Give it one, or import with --scope.')
    if (unknown.length > 0)
      warnings.push(`${place}: ignored unknown field${unknown.length > 1 ? 's' : ''} ${unknown.join(', ')}.`)
    const earlier = places.get(`${record.user}\n${record.id}`)
    if (earlier !== undefined)
      throw invalid(
        `${place}: the id "${record.id}" was used before, at ${earlier}.`,
        'Every belief needs a unique id.',
      )
    places.set(`${record.user}\n${record.id}`, place)
    records.push({ place, record })
  }
  return { records, warnings }
}

function valuesIn(text: string, source: string): readonly { place: string; value: unknown }[] {
  if (text.trim() === '') throw invalid(`${source} is empty.`, 'Give a JSON array of beliefs or JSON Lines.')
  if (text.trimStart().startsWith('[')) {
    const value = requireJson(text, source)
    return (value as unknown[]).map((item, index) => ({ place: `${source}, item ${index + 1}`, value: item }))
  }
  const lines = text
    .split(/\r?\n/u)
    .map((line, index) => ({ line, place: `${source}, line ${index + 1}` }))
    .filter(({ line }) => line.trim() !== '')
  // If no line is valid JSON, the text is one belief over several lines.
  if (lines.length > 1 && !lines.some(({ line }) => isObject(parseJson(line))))
    return [{ place: source, value: requireJson(text, source) }]
  return lines.map(({ line, place }) => ({ place, value: requireJson(line, place) }))
}

function requireJson(text: string, place: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalid(
      `${place}: not JSON (${(cause as Error).message}).`,
      'Give a JSON array of beliefs, or one belief per line.',
      cause,
    )
  }
}

/** Adds the position in the file to an error. */
function withPlace<Value>(place: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
    throw new MemoryError(error.code, `${place}: ${error.message}`, {
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      cause: error,
    })
  }
}
