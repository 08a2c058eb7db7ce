import { z } from 'zod'
import { defaultBudget } from '../../../memory/recall/context.ts'
import type { BeliefRecord } from '../../../memory/transfer/belief-record.ts'
import type { SystemTurn } from '../system.ts'
import { embeddedText } from '../vector.ts'

/** The HTTP contract between a harness and a memory. `http-system.ts` is a client of it, `credence eval serve` a server. */
export const routes = {
  reset: { method: 'DELETE', path: '/reset' },
  add: { method: 'POST', path: '/add' },
  update: { method: 'PUT', path: '/update' },
  search: { method: 'POST', path: '/search' },
} as const

const id = z.string().min(1).max(128)
const user = z.string().min(1).max(200)
const scope = z.string().min(1).max(200)

/** One belief: a text, with as much metadata as the client knows. */
export const beliefMessage = z.object({
  text: z.string().min(1, 'must not be empty'),
  user_id: user,
  metadata: z.record(z.string(), z.unknown()).optional(),
  aliases: z.array(z.string()).optional(),
  beliefId: id.optional(),
  id: id.optional(),
})
export type BeliefMessage = z.infer<typeof beliefMessage>

const mostResults = 1000

export const searchMessage = z.object({
  query: z.string(),
  user_id: user,
  limit: z.int().min(0).max(mostResults).default(defaultBudget.maxBeliefs),
  /** The first active scope, for systems that know one only. */
  scope: z.union([scope, z.array(scope)]).nullish(),
  scopes: z.array(scope).optional(),
  /** When it is asked, where that is not now. */
  at: z.string().optional(),
})
export type SearchMessage = z.input<typeof searchMessage>

const clause = z.object({ path: z.enum(['canonical_name', 'aliases']), term: z.string(), score: z.number() })

const foundBelief = z.object({
  // Other systems may use these names for something else, which is no reason to refuse their answer.
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

/** A belief as it is sent. `full`: all that is known of it; otherwise its id and first scope, as published suites do. */
export function messageFor(belief: BeliefRecord, { full }: { readonly full: boolean }): BeliefMessage {
  return {
    text: embeddedText(belief),
    user_id: belief.user,
    aliases: [...belief.aliases],
    metadata: full ? fullMetadata(belief) : leanMetadata(belief),
  }
}

/** A turn as it is sent: its words are the text, and `beliefId` the id to answer with, as for a belief. */
export const turnMessageFor = (turn: SystemTurn, { full }: { readonly full: boolean }): BeliefMessage => ({
  text: turn.text,
  user_id: turn.user,
  metadata: full ? turnMetadata(turn) : { beliefId: turn.id, scope: turn.scope },
})

export const turnMetadata = (turn: SystemTurn) => ({
  beliefId: turn.id,
  scope: turn.scope,
  type: 'turn',
  session_id: turn.session,
  index: turn.index,
  role: turn.role,
  speaker: turn.speaker ?? null,
  created_at: turn.at,
})

const leanMetadata = ({ id: beliefId, scopes }: BeliefRecord) => ({ beliefId, scope: scopes[0] ?? null })

/** Spelt as the belief files of published suites are, where they have a word for it. */
export const fullMetadata = (belief: BeliefRecord) => ({
  ...leanMetadata(belief),
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
