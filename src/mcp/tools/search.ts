import { z } from 'zod'
import type { Belief } from '../../beliefs/belief.ts'
import { actorKinds } from '../../beliefs/belief.ts'
import { turnRoles } from '../../beliefs/turn.ts'
import { localDay } from '../../local-time.ts'
import type { RelevantBelief } from '../../memory/recall/context.ts'
import { type SearchHit, searchPlaces } from '../../memory/recall/search.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { cutNote } from '../../search/message.ts'
import { type Strength, strengths } from '../../search/turns/strength.ts'
import { scopesOf } from '../call-context.ts'
import * as field from '../fields.ts'
import { defineTool } from '../tool.ts'

/** More possible hits are noise. */
const mostPossible = 5
const defaultLimit = 10
/** Characters of all beliefs, and of all quotes. */
const longestPart = 8_000

const strength = z
  .enum(strengths)
  .describe('exact: named by the question, or said in its words. strong: has most of its telling words. possible: few.')

const matched = z.object({
  field: z.enum(['name', 'alias', 'content', 'why']),
  form: z.string().nullable().describe('The whole name or alias that was found in the question.'),
  words: z.array(z.string()),
})

const hit = field.beliefAnswer.extend({
  strength,
  score: z.number().describe('Compares hits of the same kind only.'),
  matched: z.array(matched).describe('Why it is here.'),
  through: z.string().nullable().describe('The relation it is part of, when the question names that and not itself.'),
})

const quote = z.object({
  text: z.string().describe('Word for word.'),
  at: z.string().describe('When it was said, in UTC.'),
  day: z.string().describe('The day on which it was said, in the time zone of the person.'),
  speaker: z.string().nullable(),
  origin: z.enum(actorKinds).describe('Whose words these are: document for what the person pasted.'),
  role: z.enum(turnRoles).describe('user: the person said it. assistant: an agent did. tool: output of a tool.'),
  strength,
  earlier: z.boolean().describe('Something newer about the same thing comes before it.'),
  corrected_at: z.string().nullable().describe('When the person corrected it. Use the correction, not this.'),
  correction: z.string().nullable().describe('The statement that holds now.'),
  onlyBeside: z.boolean().describe('It has no word of the question; a turn beside it has.'),
  session: z.string().describe('The conversation, which memory://conversation/{session} shows.'),
})

type Hit = z.input<typeof hit>

const day = z.string().max(40).optional()

export const searchTool = defineTool({
  name: 'memory_search',
  title: 'Search memory',
  description:
    'Look up what is remembered about the person and their work: beliefs, and quotes of what was said in earlier conversations. ' +
    'Use it before answering a question about earlier decisions, preferences, names, events, conventions or open questions, and before you ask the person something they may have said already. ' +
    'Do not use it for general knowledge, for the text of files, or for what this conversation already contains. ' +
    'It answers with the best there is, so look at the strength: rely on exact hits; check that strong and possible ones are about the question. ' +
    'Where quotes differ, the newest holds. When nothing fits, nothing is remembered: say so instead of guessing.',
  input: z.strictObject({
    query: z.string().regex(/\S/u, 'it is blank').describe('The question, in the words the person would use.'),
    in: z.enum(searchPlaces).optional().describe('beliefs, turns (what was said), or both, which is the default.'),
    since: day.describe('Only what was said on this day or later, such as 2026-05-03.'),
    until: day.describe('Only what was said up to this day.'),
    as_of: day.describe('What was known on this day, for questions about the past.'),
    scope: field.scope,
    limit: z
      .int()
      .min(1)
      .max(20)
      .optional()
      .describe(`How many beliefs and quotes to return. Default ${defaultLimit}.`),
  }),
  output: z.object({
    beliefs: z
      .array(hit)
      .describe(
        `Exact hits first, best first. A text ends after ${field.longestText} characters; memory_get has all of it.`,
      ),
    leftOut: z.int().describe('Beliefs that are not listed because there are too many, or they are too long.'),
    quotes: z.array(quote).describe('What was said, best first; of what is about the same thing the newest first.'),
    scopes: z.array(z.string()).describe('Where was looked; scopes above these too.'),
    note: z.string(),
    notice: field.noticeField,
  }),
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  async run({ query, in: place = 'both', scope, limit = defaultLimit, as_of: asOf, since, until }, call) {
    const scopes = scopesOf(call, scope)
    const view = { scopes, agent: call.view.agent, ...omitUndefined({ asOf }) }
    const options = { ...view, ...omitUndefined({ since, until }), in: place, limit: 100 }
    const found = await call.memory.search(query, options)
    const relevant =
      place === 'turns' ? [] : (await call.memory.recall(query, { ...view, budget: onlyRelevant })).relevant
    const named = new Set(relevant.map(({ belief }) => belief.id))
    // Recall keeps pinned beliefs, questions and expertise apart; a search for their name finds them too.
    const others = found.beliefs.filter(({ belief }) => !named.has(belief.id))
    const those = (wanted: Strength): SearchHit[] => others.filter((one) => one.strength === wanted)
    const isPart = (one: RelevantBelief | SearchHit): boolean => 'through' in one && one.through !== null
    const exact = [...relevant, ...those('exact')].sort(
      (one, other) => Number(isPart(one)) - Number(isPart(other)) || other.score - one.score,
    )
    const beliefs = withinLength(
      [...exact, ...those('strong'), ...those('possible').slice(0, mostPossible)]
        .slice(0, limit)
        .map((one) => ('through' in one ? recalledHit(one) : foundHit(one))),
      ({ name, content, why, aliases }) => [name, content, why, ...aliases].join('').length,
    )
    const quotes = withinLength(found.quotes.slice(0, limit), ({ text }) => text.length)
    return {
      beliefs,
      leftOut: exact.length + others.length - those('exact').length - beliefs.length,
      quotes: quotes.map(({ text, at, utcOffset, speaker, role, origin, strength, earlier, session, ...hit }) => {
        const said = { text, at, day: localDay(at, utcOffset), speaker, role, origin }
        const age = { earlier, corrected_at: hit.correctedAt, correction: hit.correction?.content ?? null }
        return { ...said, strength, ...age, onlyBeside: hit.found.length === 0, session }
      }),
      scopes: [...scopes],
      note: `${noteOn([...beliefs, ...quotes], scopes)}${found.isQueryCut ? ` ${cutNote}` : ''}`,
      notice: field.notice,
    }
  },
})

const onlyRelevant = {
  maxBeliefs: 100,
  maxPinned: 0,
  maxQuestions: 0,
  maxPrelude: 0,
  maxCharacters: 1_000_000,
  maxQuotes: 0,
}

/** The first items that fit in `longestPart` characters; at least one. */
function withinLength<Item>(items: readonly Item[], lengthOf: (item: Item) => number): Item[] {
  let length = 0
  return items.filter((item, place) => {
    length += lengthOf(item)
    return place === 0 || length <= longestPart
  })
}

const shortened = (belief: Belief): field.BeliefAnswer => {
  const answer = field.answerWith(belief)
  return { ...answer, content: field.cut(answer.content), why: field.cut(answer.why) }
}

const recalledHit = ({ belief, score, matches, through }: RelevantBelief): Hit => ({
  ...shortened(belief),
  strength: 'exact',
  score,
  matched: matches.map(({ field, form, words }) => ({ field, form, words: distinct(words.map(({ text }) => text)) })),
  through,
})

const foundHit = ({ belief, strength, score, highlights }: SearchHit): Hit => {
  const matched = [...Map.groupBy(highlights, ({ field }) => field)].map(([field, spans]) => {
    return { field, form: null, words: distinct(spans.map(({ text }) => text)) }
  })
  return { ...shortened(belief), strength, score, matched, through: null }
}

const distinct = <Value>(values: readonly Value[]): Value[] => [...new Set(values)]

function noteOn(hits: readonly { readonly strength: Strength }[], scopes: readonly string[]): string {
  const where = scopes.join(' and ')
  if (hits.length === 0) return `Nothing in ${where} answers this. Say that nothing is remembered.`
  if (hits.some(({ strength }) => strength === 'exact')) return 'The exact hits are what the question names or says.'
  return `Nothing in ${where} is called like this. Check that a hit is about the question; if none is, say that nothing is remembered.`
}
