import { z } from 'zod'
import * as turn from '../../beliefs/turn.ts'
import type { SessionSummary } from '../../beliefs/turn-store.ts'
import type { QuoteHit as TurnHit } from '../../memory/conversation/search-turns.ts'
import { strengths } from '../../search/turns/strength.ts'
import { Explanation } from './belief-shapes.ts'

/** What was said, as schemas. `satisfies` keeps them the same as the types they describe. */

export const Turn = z.object({
  id: z.string(),
  user: z.string(),
  session: z.string(),
  index: z.int().describe('Its place in the conversation, from 0.'),
  role: z.enum(turn.turnRoles),
  speaker: z.string().nullable(),
  at: z.string().describe('When it was said.'),
  scope: z.string(),
  host: z.string().describe('The program it came through.'),
  origin: z.enum(turn.turnOrigins).describe('Whose words they are.'),
  text: z.string().describe('As it was said, with secrets masked.'),
}) satisfies z.ZodType<turn.Turn>

export const Conversation = z.object({
  session: z.string(),
  turns: z.int(),
  firstAt: z.string(),
  lastAt: z.string(),
  scopes: z.array(z.string()),
  hosts: z.array(z.string()),
  opening: z.string().describe('The beginning of the first words of a person.'),
}) satisfies z.ZodType<SessionSummary>

export const QuoteHit = z.object({
  text: z.string().describe('The sentences that answer the question, word for word.'),
  turn: z.string().describe('Id of the turn.'),
  session: z.string(),
  index: z.int(),
  speaker: z.string().nullable(),
  role: z.enum(turn.turnRoles),
  at: z.string(),
  scope: z.string(),
  strength: z.enum(strengths),
  earlier: z.boolean().describe('A newer statement about the same thing stands before it.'),
  score: z.number(),
  explanation: Explanation,
  found: z.array(z.string()).describe('Words of the question that it holds.'),
}) satisfies z.ZodType<TurnHit>
