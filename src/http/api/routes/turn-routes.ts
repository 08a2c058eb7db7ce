import { z } from 'zod'
import { turnRoles } from '../../../beliefs/turn.ts'
import { learnOutcomes } from '../../../memory/learn/learn.ts'
import { searchPlaces } from '../../../memory/recall/search.ts'
import * as shape from '../memory-shapes.ts'
import { digits, flag, forAgents, listOf, message, paging, route, scopes, text, time } from '../route.ts'

const heardTurn = z.strictObject({
  text: z.string().describe('Word for word. Secrets are masked before it is kept.'),
  role: z.enum(turnRoles).optional().describe('Default user.'),
  speaker: text(200).optional().describe('The name of the speaker, in a conversation of several people.'),
  at: time.optional().describe('When it was said. Default now. Shown in its UTC offset, if it has one.'),
  session: text(200).optional().describe('The conversation. Default one for each host and day.'),
  index: z.int().min(0).optional().describe('Its place in the conversation, from 0. Default by its time.'),
  messageId: text(200).optional().describe('The id of the message at its host: the same id is the same message.'),
  scope: text(200).optional().describe('Default where the server was started; see `homeScopes` of health.'),
  host: text(200).optional().describe('The program it came through. Default http.'),
  origin: z.literal('document').optional().describe('document: the words are not those of the speaker.'),
})

const learn = z
  .enum(['beliefs', 'review', 'nothing'])
  .optional()
  .describe('What becomes of statements in the words of the person: beliefs (default), candidates, or nothing.')

const filters = {
  speaker: text(200).optional(),
  role: z.array(z.enum(turnRoles)).optional().describe('Of any of these roles.'),
  scope: z.array(text(200)).max(50).optional().describe('Of any of these scopes.'),
  since: time
    .optional()
    .describe('Said at this time or later; a day alone means its beginning, in the time zone of the server.'),
  until: time
    .optional()
    .describe('Not said after this time; a day alone means its end, in the time zone of the server.'),
  containing: text(2_000).optional().describe('Holds these words, in any case.'),
}

export const turnRoutes = {
  hear: forAgents('POST', '/turns', {
    summary: 'Keep one turn of a conversation, or several, word for word, and learn from what the person says.',
    body: z.union([
      heardTurn.extend({ learn }),
      z.strictObject({ turns: z.array(heardTurn).min(1).max(1_000), learn }),
    ]),
    answer: z.object({
      kept: z.int(),
      known: z.int().describe('Turns that were kept before.'),
      leftOut: z.int().describe('Turns that were refused, asked not to be kept, or were forgotten before.'),
      turns: z
        .array(
          z.object({
            outcome: z.enum(['kept', 'known', 'off the record', 'forgotten', 'refused']),
            id: z.string().nullable().describe('Id of the turn, where it is kept.'),
            session: z.string().nullable(),
            reason: z.string().nullable().describe('Why it was left out.'),
          }),
        )
        .describe('One for each turn of the request, in the same order.'),
      learned: z.array(
        shape.Changed.omit({ event: true }).extend({
          outcome: z.enum(learnOutcomes),
          because: z.string().describe('Why it was taken, and where it is kept.'),
        }),
      ),
      notLearned: z
        .array(z.object({ text: z.string(), reason: z.string(), explanation: z.string() }))
        .describe('Statements that gave no belief, and why.'),
    }),
    status: 201,
  }),
  listTurns: route('GET', '/turns', {
    summary: 'Turns, newest first; with a session those of it, oldest first.',
    query: z.strictObject({ session: text(200).optional(), ...filters, ...paging(50) }),
    answer: listOf(shape.Turn),
  }),
  getTurn: route('GET', '/turns/:id', {
    summary: 'One turn, and what was said before and after it.',
    params: z.object({ id: text(200) }),
    query: z.strictObject({
      around: digits.pipe(z.int().min(0).max(50)).default(0).describe('How many turns before it and after it to show.'),
    }),
    answer: z.object({ turn: shape.Turn, before: z.array(shape.Turn), after: z.array(shape.Turn) }),
  }),
  whyTurn: route('POST', '/turns/:id/why', {
    summary: 'Why a turn is quoted for a message, or why it is not.',
    params: z.object({ id: text(200) }),
    body: z.strictObject({ message, scopes: scopes.optional().describe('Default those of the server.') }),
    answer: shape.WhyTurn,
    isReading: true,
  }),
  forgetTurns: route('DELETE', '/turns', {
    summary: 'Remove every text of the turns that everything given holds for. It cannot be undone.',
    query: z.strictObject({
      turn: text(200).optional().describe('Id of one turn.'),
      session: text(200).optional(),
      since: filters.since,
      until: filters.until,
      containing: filters.containing.describe(
        'Holds these words, in any case. Alone it also forgets beliefs that hold them; beside other parts only beliefs that come from the turns.',
      ),
      dryRun: flag.optional().describe('true: only say what would be forgotten.'),
    }),
    answer: z.object({
      turns: z.int(),
      beliefs: z.int().describe('Beliefs that are forgotten with them.'),
      beliefsFromThem: z.array(z.string()).describe('Ids of beliefs that were learned from the turns and stay.'),
      examples: z.array(shape.Turn).optional().describe('A few of the turns, where nothing was forgotten.'),
      beliefExamples: z.array(shape.Belief).optional().describe('A few of the beliefs, where nothing was forgotten.'),
      event: z.int().nullable(),
      at: z.string().nullable(),
      hash: z.string().nullable(),
    }),
  }),
  listConversations: route('GET', '/conversations', {
    summary: 'Conversations, the one last spoken in first.',
    query: z.strictObject({ ...filters, ...paging(50) }),
    answer: listOf(shape.Conversation),
  }),
  getConversation: route('GET', '/conversations/:session', {
    summary: 'The turns of one conversation, oldest first.',
    params: z.object({ session: text(200) }),
    query: z.strictObject(paging(100)),
    answer: listOf(shape.Turn).extend({
      learned: z
        .record(z.string(), z.array(z.object({ id: z.string(), name: z.string(), candidate: z.boolean() })))
        .describe('Beliefs that were learned from a turn, by its id.'),
    }),
  }),
  search: forAgents('GET', '/search', {
    summary: 'What answers a question best: beliefs, and quotes of what was said, each with its strength.',
    query: z.strictObject({
      q: z.string().describe('The question.'),
      in: z.enum(searchPlaces).optional().describe('Where to look. Default both.'),
      scope: z.array(text(200)).max(50).optional().describe('These scopes and those above them. Default all.'),
      since: filters.since,
      until: filters.until,
      speaker: filters.speaker,
      session: text(200).optional(),
      asOf: time
        .optional()
        .describe('What was known at this time; a day alone means its end, in the time zone of the server.'),
      limit: digits.pipe(z.int().min(1).max(100)).default(10).describe('Of beliefs and of quotes.'),
    }),
    answer: z.object({
      beliefs: z.array(shape.SearchHit),
      total: z.int().describe('How many beliefs there are in all.'),
      quotes: z.array(shape.QuoteHit),
      isQueryCut: z.boolean().describe('The question has more than 32,000 characters: only both ends were read.'),
    }),
  }),
}
