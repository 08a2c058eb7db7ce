import { actorKinds, type Belief, beliefTypes, expertiseDepths, statuses, subtypes } from '../../beliefs/belief.ts'
import { mergeAliases } from '../../beliefs/identity.ts'
import { parseScopes } from '../../beliefs/scope.ts'
import { MemoryError } from '../../errors.ts'
import { limits, parseForm, parseLabel, parseParticipants, parseText } from '../change/draft.ts'

/** A belief as it stands in a file: complete but for the version, which the store decides. */
export type BeliefRecord = Omit<Belief, 'version'>

/** What a record may leave out. */
export type RecordDefaults = {
  readonly user: string
  readonly scopes: readonly string[]
  readonly origin: string
  readonly at: string
  readonly newId: () => string
}

/** Other spellings of our fields, as the retrieval suites in the field write them. */
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
  superseded_by: 'supersededBy',
  resolved_at: 'resolvedAt',
  resolved_by: 'resolvedBy',
  relation_type: 'relation',
  reinforcement_count: 'reinforcementCount',
  last_reinforced_at: 'reinforcedAt',
  expertise_domain: 'expertiseDomain',
  expertise_depth: 'expertiseDepth',
  created_at: 'createdAt',
  updated_at: 'updatedAt',
}

const knownFields = new Set([
  'id',
  'user',
  'agent',
  'type',
  'subtype',
  'name',
  'aliases',
  'content',
  'why',
  'scopes',
  'status',
  'confidence',
  'pinned',
  'editedByPerson',
  'supersededBy',
  'proposedFor',
  'candidate',
  'resolvedAt',
  'resolvedBy',
  'participants',
  'relation',
  'expertise',
  'expertiseDomain',
  'expertiseDepth',
  'provenance',
  'reinforcement',
  'reinforcementCount',
  'reinforcedAt',
  'createdAt',
  'updatedAt',
  'version',
])
/** Kept by other systems, of no use here. */
const ignoredFields = new Set([
  'change_log',
  'changeLog',
  'expertise_evidence_count',
  'origin_context',
  'token_id',
  'token_name',
  'token_kind',
])

/** Reads one belief in our spelling or the other. Reports fields it does not know; throws for values it cannot take. */
export function parseRecord(
  value: unknown,
  defaults: RecordDefaults,
): { readonly record: BeliefRecord; readonly unknown: readonly string[] } {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw invalid('A belief must be an object.')
  const fields = new Map<string, unknown>()
  const unknown: string[] = []
  for (const [key, field] of Object.entries(value)) {
    const name = spellings[key] ?? key
    if (knownFields.has(name)) fields.set(name, field)
    else if (!ignoredFields.has(key) && !key.startsWith('_')) unknown.push(key)
  }
  return { record: recordOf(fields, defaults), unknown }
}

function recordOf(fields: ReadonlyMap<string, unknown>, defaults: RecordDefaults): BeliefRecord {
  const name = parseForm('name', text(fields, 'name'))
  const createdAt = time(fields, 'createdAt') ?? defaults.at
  const provenance = object(fields, 'provenance')
  const reinforcement = object(fields, 'reinforcement')
  const expertise = object(fields, 'expertise')
  const domain = optionalText(fields, 'expertiseDomain') ?? optionalText(expertise, 'domain')
  const depth = optionalText(fields, 'expertiseDepth') ?? optionalText(expertise, 'depth')
  const why = optionalText(fields, 'why')
  const scopes = parseScopes(strings(fields, 'scopes'))
  const supersededBy = optionalText(fields, 'supersededBy')
  return {
    id: idOf(optionalText(fields, 'id') ?? defaults.newId()),
    user: optionalText(fields, 'user') ?? defaults.user,
    agent: parseLabel('agent', optionalText(fields, 'agent')),
    type: choice(fields, 'type', beliefTypes) ?? 'entity',
    subtype: choice(fields, 'subtype', subtypes),
    name,
    aliases: mergeAliases(
      name,
      [],
      strings(fields, 'aliases').map((alias) => parseForm('alias', alias)),
    ),
    content: parseText('content', text(fields, 'content'), limits.content),
    why: why === null ? '' : parseText('why', why, limits.why),
    scopes: scopes.length > 0 ? scopes : defaults.scopes,
    status: supersededBy === null ? (choice(fields, 'status', statuses) ?? 'active') : 'superseded',
    confidence: numberBetween(fields, 'confidence', 0, 1) ?? 1,
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
      actor: choice(provenance, 'actor', actorKinds) ?? 'import',
      origin: optionalText(provenance, 'origin') ?? defaults.origin,
      sourceId:
        optionalText(provenance, 'sourceId') ??
        optionalText(provenance, 'turn_id') ??
        optionalText(provenance, 'session_id'),
      model: optionalText(provenance, 'model') ?? optionalText(provenance, 'source_model'),
      at: time(provenance, 'at') ?? time(provenance, 'extracted_at') ?? createdAt,
    },
    reinforcement: {
      count:
        numberBetween(fields, 'reinforcementCount', 0, Number.MAX_SAFE_INTEGER) ??
        numberBetween(reinforcement, 'count', 0, Number.MAX_SAFE_INTEGER) ??
        0,
      at: time(fields, 'reinforcedAt') ?? time(reinforcement, 'at') ?? createdAt,
    },
    createdAt,
    updatedAt: time(fields, 'updatedAt') ?? createdAt,
  }
}

type Fields = ReadonlyMap<string, unknown>

function idOf(id: string): string {
  if (/^[^\s\p{Cc}]{1,128}$/u.test(id)) return id
  throw invalid(`The id "${id.slice(0, 80)}" is not usable.`, 'An id has 1 to 128 characters and no spaces.')
}

function text(fields: Fields, name: string): string {
  const value = fields.get(name)
  if (typeof value === 'string') return value
  throw invalid(
    value === undefined
      ? `The field ${name} is missing.`
      : `The field ${name} is ${JSON.stringify(value)?.slice(0, 80)}, not text.`,
  )
}

/** Null when the field is missing, null or blank: files from tables write nothing for what they do not have. */
function optionalText(fields: Fields, name: string): string | null {
  const value = fields.get(name)
  if (value === undefined || value === null) return null
  const given = text(fields, name)
  return given.trim() === '' ? null : given
}

function strings(fields: Fields, name: string): readonly string[] {
  const value = fields.get(name)
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return [value]
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
  throw invalid(`The field ${name} is not a list of texts.`)
}

function flag(fields: Fields, name: string): boolean {
  const value = fields.get(name)
  if (value === undefined || value === null) return false
  if (typeof value === 'boolean') return value
  throw invalid(`The field ${name} is ${JSON.stringify(value)?.slice(0, 80)}, not true or false.`)
}

function numberBetween(fields: Fields, name: string, least: number, most: number): number | null {
  const value = fields.get(name)
  if (value === undefined || value === null) return null
  if (typeof value === 'number' && value >= least && value <= most) return value
  throw invalid(
    `The field ${name} is ${JSON.stringify(value)?.slice(0, 80)}; it must be a number of at least ${least}${most < Number.MAX_SAFE_INTEGER ? ` and at most ${most}` : ''}.`,
  )
}

function choice<Value extends string>(fields: Fields, name: string, allowed: readonly Value[]): Value | null {
  const value = optionalText(fields, name)
  if (value === null) return null
  const found = allowed.find((candidate) => candidate === value)
  if (found !== undefined) return found
  throw invalid(`The field ${name} is "${value.slice(0, 80)}".`, `Allowed: ${allowed.join(', ')}.`)
}

const zoneless = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/u

function time(fields: Fields, name: string): string | null {
  const value = optionalText(fields, name)
  if (value === null) return null
  // A time without a zone would otherwise mean another moment on every machine.
  const zoned = zoneless.test(value) ? `${value.replace(' ', 'T')}Z` : value
  const parsed = /^\d{4}-\d{2}-\d{2}/u.test(zoned) ? new Date(zoned) : new Date(Number.NaN)
  if (!Number.isNaN(parsed.getTime())) return parsed.toISOString()
  throw invalid(
    `The field ${name} is "${value.slice(0, 80)}", not a date.`,
    'Write ISO 8601, for example 2026-03-01T12:00:00Z.',
  )
}

function object(fields: Fields, name: string): Fields {
  const value = fields.get(name)
  if (value === undefined || value === null) return new Map()
  if (typeof value === 'object' && !Array.isArray(value)) return new Map(Object.entries(value))
  throw invalid(`The field ${name} is not an object.`)
}

const invalid = (message: string, hint?: string): MemoryError =>
  new MemoryError('invalid', message, hint === undefined ? {} : { hint })
