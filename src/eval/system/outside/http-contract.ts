import { z } from 'zod'
import { defaultBudget } from '../../../memory/recall/context.ts'
import type { BeliefRecord } from '../../../memory/transfer/belief-record.ts'
import { capabilities, type SystemTurn } from '../system.ts'
import { embeddedText } from '../vector.ts'

/** The HTTP contract between a harness and a memory. `http-system.ts` is a client, `credence eval serve` a server. */
export const routes = {
  about: { method: 'GET', path: '/about' },
  reset: { method: 'DELETE', path: '/reset' },
  add: { method: 'POST', path: '/add' },
  update: { method: 'PUT', path: '/update' },
  search: { method: 'POST', path: '/search' },
} as const

/** A memory's answer about itself: name, version and capabilities. */
export const aboutAnswer = z.object({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,60}$/u)
    .optional(),
  version: z.string().min(1).max(100).optional(),
  /** The capabilities that it claims. Default all. */
  offers: z.array(z.enum(capabilities)).optional(),
})

const id = z.string().min(1).max(128)
const user = z.string().min(1).max(200)
const scope = z.string().min(1).max(200)

/** One belief: a text, with all metadata that the client has. */
export const beliefMessage = z.object({
  text: z.string().min(1, 'must not be empty'),
  user_id: user,
  metadata: z.record(z.string(), z.unknown()).optional(),
  aliases: z.array(z.string()).optional(),
  beliefId: id.optional(),
  id: id.optional(),
})
export type BeliefMessage = z.infer<typeof beliefMessage>

const maxResults = 1000

export const searchMessage = z.object({
  query: z.string(),
  user_id: user,
  limit: z.int().min(0).max(maxResults).default(defaultBudget.maxBeliefs),
  /** The first active scope, for systems that support only one. */
  scope: z.union([scope, z.array(scope)]).nullish(),
  scopes: z.array(scope).optional(),
  /** The time of the question, if it is not now. */
  at: z.string().optional(),
})
export type SearchMessage = z.input<typeof searchMessage>

const clause = z.object({ path: z.enum(['canonical_name', 'aliases']), term: z.string(), score: z.number() })

const foundBelief = z.object({
  // Other systems may use the names `id` and `clauses` for something else, so a value of an unexpected type is ignored.
  id: z.string().min(1).optional().catch(undefined),
  score: z.number().nullish(),
  clauses: z.array(clause).optional().catch(undefined),
  metadata: z
    .object({ beliefId: z.string().min(1).optional() })
    .nullish()
    .catch(undefined),
})
const found = z.array(foundBelief)
export const searchAnswer = z.union([z.object({ results: found }).transform(({ results }) => results), found])

/** A belief or turn as sent to an external memory. Turns have the fields of beliefs, so that one mapping fits both. */
export type ToldRecord = ReturnType<typeof describeBelief> | ReturnType<typeof describeTurn>

export const describeBelief = (belief: BeliefRecord) => ({
  id: belief.id,
  text: embeddedText(belief),
  name: belief.name.replaceAll('_', ' '),
  aliases: belief.aliases,
  content: belief.content,
  why: belief.why,
  type: belief.type,
  user: belief.user,
  at: belief.createdAt,
  scope: belief.scopes[0] ?? '',
  scopes: belief.scopes,
  session: '',
  role: '',
  speaker: '',
  metadata: metadataOf(belief),
})

export const describeTurn = ({ id, text, user, at, scope, session, role, index, speaker }: SystemTurn) => ({
  id,
  text,
  name: id,
  content: text,
  why: '',
  type: 'turn',
  user,
  at,
  scope,
  scopes: [scope],
  session,
  role,
  speaker: speaker ?? '',
  metadata: {
    beliefId: id,
    scope,
    type: 'turn',
    session_id: session,
    index,
    role,
    speaker: speaker ?? null,
    created_at: at,
  },
})

/** With `full`, the metadata has all known fields; otherwise only the id and the first scope, as in published suites. */
export const messageFor = (told: ToldRecord, { full }: { readonly full: boolean }): BeliefMessage => ({
  text: told.text,
  user_id: told.user,
  ...('aliases' in told ? { aliases: [...told.aliases] } : {}),
  metadata: full ? told.metadata : { beliefId: told.id, scope: told.scope === '' ? null : told.scope },
})

/** Uses the field names of the published suites' belief files where possible. */
const metadataOf = (belief: BeliefRecord) => ({
  beliefId: belief.id,
  scope: belief.scopes[0] ?? null,
  name: belief.name,
  content: belief.content,
  why: belief.why,
  type: belief.type,
  subtype: belief.subtype,
  scopes: belief.scopes,
  status: belief.status,
  confidence: belief.confidence,
  pinned: belief.pinned,
  user_edited: belief.editedByPerson,
  agent_id: belief.agent,
  superseded_by: belief.supersededBy,
  proposedFor: belief.proposedFor,
  resolved_at: belief.resolvedAt,
  resolved_by: belief.resolvedBy,
  participants: belief.participants,
  relation_type: belief.relation,
  expertise_domain: belief.expertise?.domain ?? null,
  expertise_depth: belief.expertise?.depth ?? null,
  reinforcement_count: belief.reinforcement.count,
  last_reinforced_at: belief.reinforcement.at,
  created_at: belief.createdAt,
  updated_at: belief.updatedAt,
})
