import {
  type Belief,
  type BeliefType,
  beliefTypes,
  type ExpertiseDepth,
  expertiseDepths,
  type Status,
  type Subtype,
  subtypes,
} from '../../beliefs/belief.ts'
import { mergeAliases } from '../../beliefs/identity.ts'
import { parseScopes } from '../../beliefs/scope.ts'
import { invalid } from '../../errors.ts'
import { isSurfaceForm } from '../../search/forms.ts'
import type { StatementTexts } from '../learn/secrets.ts'
import type { Author } from '../ports.ts'

/** A belief to be remembered. Only name, content and scopes are required. */
export type BeliefDraft = {
  readonly name: string
  /** The statement, in the person's words. */
  readonly content: string
  readonly scopes: readonly string[]
  /** Default `entity`. */
  readonly type?: BeliefType
  readonly subtype?: Subtype | null
  readonly aliases?: readonly string[]
  readonly why?: string
  /** Default `active`; `inferred` for conclusions, `exploratory` for open matters. */
  readonly status?: Exclude<Status, 'superseded'>
  /** 0 to 1, default 1. */
  readonly confidence?: number
  readonly pinned?: boolean
  readonly agent?: string | null
  readonly participants?: readonly string[]
  readonly relation?: string | null
  readonly expertise?: { readonly domain: string; readonly depth: ExpertiseDepth } | null
}

/** The fields of a belief that a draft sets, complete and checked. */
export type StatedFields = Pick<Belief, keyof BeliefDraft>

/**
 * Max characters of a field; for `aliases` and `participants`, max entries. Name, content and why together fit the default budget
 * of a context, so that every belief can be recalled.
 */
export const limits = {
  name: 200,
  alias: 200,
  aliases: 200,
  content: 10_000,
  why: 4_000,
  participants: 100,
  label: 200,
} as const

/** The fields of a belief that only beliefs of its `type` have. A new statement of that type keeps them. */
export function fieldsOfType(type: BeliefType, belief: Belief): Partial<BeliefDraft> {
  if (type === 'preference') return { subtype: belief.subtype, expertise: belief.expertise }
  return type === 'relation' ? { participants: belief.participants, relation: belief.relation } : {}
}

/** Checks a draft and fills in the defaults. */
export function parseDraft(draft: BeliefDraft): StatedFields {
  const name = parseForm('name', draft.name)
  const type = oneOf('type', draft.type ?? 'entity', beliefTypes)
  const subtype = draft.subtype ?? null
  if (subtype !== null) {
    oneOf('subtype', subtype, subtypes)
    if (type !== 'preference')
      throw invalid(`A belief of type ${type} cannot have the subtype ${subtype}.`, 'Only preferences have subtypes.')
  }
  const participants = draft.participants ?? []
  if (participants.length > 0 && type !== 'relation')
    throw invalid(`A belief of type ${type} has no participants.`, 'Only relations connect beliefs: use type relation.')
  if (draft.scopes.length === 0)
    throw invalid('A belief needs at least one scope.', 'For example user:universal or project:ledger.')
  if (draft.expertise) oneOf('expertise depth', draft.expertise.depth, expertiseDepths)
  return {
    name,
    content: parseText('statement', draft.content, limits.content),
    scopes: parseScopes(draft.scopes),
    type,
    subtype,
    aliases: parseAliases(name, draft.aliases ?? []),
    why: parseWhy(draft.why ?? ''),
    status: oneOf('status', draft.status ?? 'active', ['active', 'inferred', 'exploratory'] as const),
    confidence: parseConfidence(draft.confidence ?? 1),
    pinned: draft.pinned ?? false,
    agent: parseLabel('agent', draft.agent ?? null),
    participants: parseParticipants(participants),
    relation: parseLabel('relation', draft.relation ?? null),
    expertise: draft.expertise
      ? { domain: parseText('expertise domain', draft.expertise.domain, limits.label), depth: draft.expertise.depth }
      : null,
  }
}

/** Checks a name or an alias. */
export function parseForm(field: 'name' | 'alias', text: string): string {
  const form = parseText(field, text, limits[field])
  if (isSurfaceForm(form)) return form
  throw invalid(
    `No message can match "${form}": a ${field} needs a letter or a digit.`,
    'Use words that people would write.',
  )
}

/** Checks the `why` of a belief: the action that an agent should take; may be empty. */
export const parseWhy = (why: string): string => (why.trim() === '' ? '' : parseText('why', why, limits.why))

/** Ids or names of beliefs. They need not exist yet. */
export function parseParticipants(participants: readonly string[]): readonly string[] {
  const parsed = participants.map((participant) => parseText('participant', participant, limits.label))
  return requireAtMost('participants', parsed, limits.participants)
}

/** Checks a short text. Returns null for null or a blank text. */
export const parseLabel = (field: string, text: string | null): string | null =>
  text === null || text.trim() === '' ? null : parseText(field, text, limits.label)

/** Checks aliases, and leaves out duplicates and those that repeat the name. */
function parseAliases(name: string, aliases: readonly string[]): readonly string[] {
  const forms = aliases.map((alias) => parseForm('alias', alias))
  return requireAtMost('aliases', mergeAliases(name, [], forms), limits.aliases)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters
const controlCharacters = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/u

/** Checks that a text is not empty, has no control characters and is not too long. */
export function parseText(field: string, text: string, maxLength: number): string {
  const trimmed = text.trim()
  if (trimmed === '') throw invalid(`The ${field} is empty.`, `Give the ${field} some text.`)
  if (trimmed.length > maxLength) {
    throw invalid(
      `The ${field} has ${trimmed.length} characters; at most ${maxLength} are allowed.`,
      'Say it in fewer words, or split it into several beliefs.',
    )
  }
  if (controlCharacters.test(trimmed))
    throw invalid(`The ${field} contains a control character.`, 'Remove it; only tabs and line breaks are allowed.')
  if (!trimmed.isWellFormed())
    throw invalid(
      `The ${field} is not valid Unicode text.`,
      'It contains half of a surrogate pair; copy the text again.',
    )
  return trimmed
}

function parseConfidence(value: number): number {
  if (Number.isFinite(value) && value >= 0 && value <= 1) return value
  throw invalid(`The confidence ${value} is out of range.`, 'Give a number from 0 to 1.')
}

function oneOf<Value extends string>(field: string, value: string, allowed: readonly Value[]): Value {
  const found = allowed.find((candidate) => candidate === value)
  if (found !== undefined) return found
  throw invalid(`"${value}" is not a ${field}.`, `Allowed: ${allowed.join(', ')}.`)
}

function requireAtMost(field: string, values: readonly string[], maxCount: number): readonly string[] {
  if (values.length <= maxCount) return values
  throw invalid(`There are ${values.length} ${field}; at most ${maxCount} are allowed.`, `Give fewer ${field}.`)
}

/** All agents of the user read the memory, so an agent or a tool may not store a credential in it. A person or a document may. */
export async function refuseSecrets({ actor }: Author, texts: StatementTexts): Promise<void> {
  if (actor === 'person' || actor === 'document') return
  // Imported only when needed, because searches load this module too, and they need no secret rules.
  const { findSecretIn } = await import('../learn/secrets.ts')
  const secret = await findSecretIn(texts)
  if (secret !== null)
    throw invalid(
      `It contains ${secret}, which must not be stored.`,
      'Store where the secret is kept, not the secret itself.',
    )
}
