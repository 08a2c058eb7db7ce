import { z } from 'zod'
import type { RelevantBelief } from '../../memory/context.ts'
import type { SearchHit } from '../../memory/search.ts'
import { strengths } from '../../search/turns/strength.ts'
import { scopeArgument } from '../arguments.ts'
import { answerWith, beliefAnswer, notice, noticeField } from '../belief-answer.ts'
import { defineTool } from '../tool.ts'
import { scopesOf } from '../visit.ts'

/** More possible hits than this are noise. */
const mostPossible = 5
const usualLimit = 10

const matched = z.object({
  field: z.enum(['name', 'alias', 'content', 'why']),
  form: z.string().nullable().describe('The whole name or alias that was found in the question.'),
  words: z.array(z.string()),
})

const hit = beliefAnswer.extend({
  strength: z
    .enum(strengths)
    .describe(
      'exact: the question names it. strong: it holds most of its telling words. possible: it shares words with it.',
    ),
  score: z.number().describe('Compares hits of the same kind only.'),
  matched: z.array(matched).describe('Why it is here.'),
  through: z.string().nullable().describe('The relation it is part of, when the question names that and not itself.'),
})

type Hit = z.input<typeof hit>

export const searchTool = defineTool({
  name: 'memory_search',
  title: 'Search memory',
  description:
    'Look up what is remembered about the person and their work. ' +
    'Use it before answering a question about earlier decisions, preferences, names, conventions or open questions, and before you ask the person something they may have said already. ' +
    'Do not use it for general knowledge, for the text of files, or for what already stands in this conversation. ' +
    'Exact hits are called by words of the question and can be relied on; possible hits only share words with it and must be checked. ' +
    'When nothing is found, nothing is remembered: say so instead of guessing.',
  input: z.strictObject({
    query: z
      .string()
      .max(4_000)
      .regex(/\S/u, 'it is blank')
      .describe('The question, in the words the person would use.'),
    scope: scopeArgument,
    limit: z.int().min(1).max(20).optional().describe(`How many hits to return. Default ${usualLimit}.`),
  }),
  output: z.object({
    hits: z.array(hit).describe('Exact hits first, best first.'),
    leftOut: z.int().describe('Hits that the limit kept out.'),
    scopes: z.array(z.string()).describe('Where was looked; scopes above these too.'),
    note: z.string(),
    notice: noticeField,
  }),
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  async run({ query, scope, limit = usualLimit }, visit) {
    const scopes = scopesOf(visit, scope)
    const { agent } = visit.standing
    const view = { scopes, agent }
    const { relevant } = await visit.memory.recall(query, { ...view, budget: onlyRelevant })
    const found = await visit.memory.search(query, { ...view, limit: 100 })
    const named = new Set(relevant.map(({ belief }) => belief.id))
    // Recall has pinned beliefs, questions and expertise in tiers of their own; whoever asks for them by name gets them.
    const others = found.beliefs.filter(({ belief }) => !named.has(belief.id))
    const exact = [
      ...relevant.map(recalledHit),
      ...others.filter(({ strength }) => strength === 'exact').map(foundHit),
    ].sort((one, other) => Number(one.through !== null) - Number(other.through !== null) || other.score - one.score)
    const possible = others.filter(({ strength }) => strength !== 'exact').map(foundHit)
    const hits = [...exact, ...possible.slice(0, mostPossible)].slice(0, limit)
    return {
      hits,
      leftOut: exact.length + possible.length - hits.length,
      scopes: [...scopes],
      note: noteOn(exact.length, possible.length, scopes),
      notice,
    }
  },
})

const onlyRelevant = { maxBeliefs: 100, maxPinned: 0, maxQuestions: 0, maxPrelude: 0, maxCharacters: 1_000_000 }

const recalledHit = ({ belief, score, matches, through }: RelevantBelief): Hit => ({
  ...answerWith(belief),
  strength: 'exact',
  score,
  matched: matches.map(({ field, form, words }) => ({ field, form, words: distinct(words.map(({ text }) => text)) })),
  through,
})

const foundHit = ({ belief, strength, score, highlights }: SearchHit): Hit => {
  const fields = distinct(highlights.map(({ field }) => field))
  return {
    ...answerWith(belief),
    strength,
    score,
    matched: fields.map((field) => ({
      field,
      form: null,
      words: distinct(highlights.filter((one) => one.field === field).map(({ text }) => text)),
    })),
    through: null,
  }
}

const distinct = <Value>(values: readonly Value[]): Value[] => [...new Set(values)]

function noteOn(exact: number, possible: number, scopes: readonly string[]): string {
  const where = scopes.join(' and ')
  if (exact > 0) return 'The exact hits are what the question names.'
  if (possible > 0)
    return `Nothing in ${where} is called like this. The possible hits share at least half of its words; check that they are about it.`
  return `Nothing in ${where} is called like this, and nothing shares at least half of its words. Say that nothing is remembered.`
}
