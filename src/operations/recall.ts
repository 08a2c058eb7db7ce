import type { Belief } from '../beliefs/belief.ts'
import { feedbackVerdicts } from '../beliefs/recall-counts.ts'
import { forbidden, invalid, MemoryError } from '../errors.ts'
import type { Captured } from '../eval/pack/capture.ts'
import { localDay } from '../local-time.ts'
import { maxAround, type QuoteHit } from '../memory/conversation/search-turns.ts'
import {
  type Budget,
  type Context,
  isShown,
  type MatchedWords,
  type NamedAnyway,
  type RelevantBelief,
} from '../memory/recall/context.ts'
import { renderContext } from '../memory/recall/render.ts'
import { type Highlight, type SearchHit, searchPlaces } from '../memory/recall/search.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { cutNote } from '../search/message.ts'
import type { Strength } from '../search/turns/strength.ts'
import {
  beliefId,
  choice,
  flag,
  type InputOf,
  list,
  maxItems,
  message,
  object,
  optional,
  scopes,
  scopesInView,
  text,
  time,
  version,
  whole,
  withDefault,
} from './field.ts'
import { type Call, operation, requireBelief, servedBy, tool } from './operation.ts'
import { recallHints } from './recall-hints.ts'
import { budget, said } from './shared-fields.ts'
import { type BeliefAnswer, cutText, notice, scopeField, toBeliefAnswer } from './tool-answers.ts'
import { scopesOf } from './view.ts'

const asked = {
  message,
  scopes: optional(scopes('The active scopes; default those of health.')),
  budget: optional(object(budget)),
}

const asOf = time(
  'Use only what was stored by this time. A day without a time means its end, in the time zone of the server.',
)

const wish = choice(['absent', 'present'])

/** The change that a remedy makes to a belief. */
const remedyChange = {
  addAliases: optional(list(text(200), { max: 20 })),
  removeAliases: optional(list(text(200), { max: 200 })),
  scopes: optional(scopes('The scopes it would have.')),
  pinned: optional(flag()),
}

type Asked = { readonly scopes?: readonly string[]; readonly budget?: Partial<Budget> }

const optionsOf = ({ view }: Call, { scopes = view.scopes, budget }: Asked) => ({
  scopes,
  ...omitUndefined({ budget }),
})

const captureInput = {
  message,
  scopes: asked.scopes,
  expect: withDefault(list(beliefId, { max: maxItems }), [], 'Ids that must come back.'),
  reject: withDefault(list(beliefId, { max: maxItems }), [], 'Ids that must not.'),
  exactly: withDefault(flag('Only the expected items may be found.'), false),
  asIs: withDefault(flag('Take the present answer for the right one.'), false),
  note: optional(text(2_000)),
}

/** The maximum number of `possible` hits; more would be noise. */
const maxPossible = 5
const defaultLimit = 10
/** Max characters of all beliefs together, and of all quotes together. */
const maxPartCharacters = 8_000

const around = whole({ min: 0, max: maxAround })

const searchTool = tool({
  name: 'memory_search',
  title: 'Search memory',
  description:
    'Search the memory about the person and their work: beliefs, and quotes of earlier conversations. ' +
    'Use it before answering a question about earlier decisions, preferences, names, events, conventions or open questions, and before you ask the person something they may have said already. ' +
    'Do not use it for general knowledge, for the text of files, or for what this conversation already contains. ' +
    'It answers with the best there is, so look at the strength: rely on exact hits; check that strong and possible ones are about the question. ' +
    'If quotes differ, the newest one counts. If nothing fits, nothing is remembered: tell the person instead of guessing.',
  input: {
    query: { ...text(undefined, 'The question, in the words the person would use.'), isNotBlank: true },
    in: optional(choice(searchPlaces), 'beliefs, turns (quotes of conversations), or both, which is the default.'),
    since: time('Only turns of this day or later, such as 2026-05-03.'),
    until: time('Only turns up to this day, inclusive.'),
    as_of: time('Use only what was stored by this day, for questions about the past.'),
    scope: optional(scopeField),
    limit: optional(whole({ min: 1, max: 20 }), `How many beliefs and quotes to return. Default ${defaultLimit}.`),
    around: optional(
      around,
      'How many turns before and after each quote to return with it, for a question about a whole exchange. Fewer quotes fit then. Default 0.',
    ),
  },
  async run(call, { query, in: place = 'both', scope, limit = defaultLimit, as_of: asOf, since, until, around }) {
    const scopes = scopesOf(call, scope)
    const view = { scopes, agent: call.view.agent, ...omitUndefined({ asOf }) }
    const options = { ...view, ...omitUndefined({ since, until, around }), in: place, limit: 100 }
    const found = await call.memory.search(query, options)
    const relevant =
      place === 'turns' ? [] : (await call.memory.recall(query, { ...view, budget: onlyRelevant })).relevant
    const named = new Set(relevant.map(({ belief }) => belief.id))
    // In a recall, pinned beliefs, questions and expertise have their own tiers; here a search also finds them by name.
    const others = found.beliefs.filter(({ belief }) => !named.has(belief.id))
    const hitsOf = (wanted: Strength): SearchHit[] => others.filter((hit) => hit.strength === wanted)
    const isPart = (hit: RelevantBelief | SearchHit): boolean => 'through' in hit && hit.through !== null
    const exact = [...relevant, ...hitsOf('exact')].sort(
      (a, b) => Number(isPart(a)) - Number(isPart(b)) || b.score - a.score,
    )
    const beliefs = limitLength(
      [...exact, ...hitsOf('strong'), ...hitsOf('possible').slice(0, maxPossible)]
        .slice(0, limit)
        .map((hit) => ('through' in hit ? recalledHit(hit) : foundHit(hit))),
      ({ name, content, why, aliases }) => [name, content, why, ...aliases].join('').length,
    )
    const quotes = limitLength(found.quotes.slice(0, limit), ({ text, around = [] }) =>
      around.reduce((sum, { text }) => sum + text.length, text.length),
    )
    return {
      /** Exact hits first, best first. Texts are cut at 2,000 characters; memory_get returns the whole text. */
      beliefs,
      /** Number of beliefs that were omitted because there are too many, or they are too long. */
      leftOut: exact.length + others.length - hitsOf('exact').length - beliefs.length,
      /** Quotes of conversations, best first; if several are about the same thing, the newest first. */
      quotes: quotes.map(toolQuote),
      /** The searched scopes; the scopes above them were searched too. */
      scopes,
      note: `${searchNote([...beliefs, ...quotes], scopes)}${found.isQueryCut ? ` ${cutNote}` : ''}`,
      notice: notice,
    }
  },
})

/** Recalling context for a message, explaining it, and searching. */
export const recall = {
  recall: operation({
    summary: 'The context that an agent would get for a message, with reasons, and the omitted beliefs.',
    access: 'agents',
    writes: false,
    http: 'POST /recall',
    input: {
      ...asked,
      asOf,
      leftOut: withDefault(flag('Whether to list omitted beliefs too, which takes longer.'), true),
    },
    run: async (call, { message, leftOut, asOf, ...rest }) => {
      const { clock } = servedBy(call).server
      const started = clock()
      // Near misses may be in scopes that an agent must not see.
      const nearMisses = leftOut && !call.isAgent
      const recalled = await call.memory.recall(message, {
        ...optionsOf(call, rest),
        nearMisses,
        ...omitUndefined({ asOf }),
      })
      const { nearMisses: misses = [], namedAnyway = [], quoteDecision = null, ...context } = recalled
      const durationMs = clock() - started
      const rendered = renderContext(context)
      const highlights = highlightsOf(context, namedAnyway)
      const hints = nearMisses && asOf === undefined ? await recallHints(call.memory, message, context) : null
      return { context, rendered, highlights, namedAnyway, leftOut: misses, quoteDecision, hints, durationMs }
    },
  }),
  search: operation({
    summary: 'The best answers to a question: beliefs and quotes of conversations, each with its strength.',
    access: 'agents',
    http: 'GET /search',
    input: {
      q: text(undefined, 'The question.'),
      in: optional(choice(searchPlaces, 'Where to look. Default both.')),
      scope: scopesInView('These scopes and those above them. Default all.'),
      since: said.since,
      until: said.until,
      speaker: said.speaker,
      session: said.session,
      asOf,
      limit: withDefault(whole({ min: 1, max: 100 }), defaultLimit, 'Of beliefs and of quotes.'),
      around: withDefault(around, 0, 'How many turns before and after each quote to return with it.'),
    },
    run: ({ memory }, { q, scope, ...options }) =>
      memory.search(q, { ...options, ...omitUndefined({ scopes: scope }) }),
    tool: searchTool,
  }),
  why: operation({
    summary: 'Why one belief is recalled for a message, or why it is not.',
    access: 'agents',
    writes: false,
    http: 'POST /recall/why',
    input: { ...asked, beliefId },
    run: async (call, { message, beliefId, ...rest }) =>
      call.memory.why(message, await requireBelief(call, beliefId), optionsOf(call, rest)),
  }),
  giveFeedback: operation({
    summary: 'Count a recalled belief or turn as useful or not useful. Recall does not depend on it.',
    http: 'POST /recall/feedback',
    input: {
      id: text(200, 'Id of the belief or turn.'),
      verdict: choice(feedbackVerdicts),
    },
    run: ({ memory }, { id, verdict }) => memory.giveFeedback(id, verdict),
  }),
  listFeedback: operation({
    summary: 'Every belief and turn with feedback, the latest first.',
    http: 'GET /recall/feedback',
    input: {},
    run: async ({ memory }) => ({ items: await memory.feedback() }),
  }),
  remedies: operation({
    summary:
      'Changes that would make a belief appear for a message, or stay away. Each was tried out without changing anything.',
    writes: false,
    http: 'POST /recall/remedies',
    input: {
      ...asked,
      beliefId,
      wish,
      aliases: optional(list(text(200), { max: 10 }), 'Additional aliases to try.'),
    },
    run: async (call, { message, beliefId, wish, aliases = [], ...rest }) => {
      const { installation } = servedBy(call)
      const id = await requireBelief(call, beliefId)
      const cases =
        installation === null ? [] : (await import('../eval/pack/capture.ts')).readKeptCases(installation.evals.root)
      return call.memory.remedies(message, id, { ...optionsOf(call, rest), wish, aliases, cases })
    },
  }),
  applyRemedy: operation({
    summary: 'Apply a remedy and, by default, store the recall as a case of `my-cases`.',
    http: 'POST /recall/remedies/apply',
    input: {
      ...asked,
      beliefId,
      wish,
      change: object(remedyChange),
      expectedVersion: optional(version),
      capture: withDefault(flag(), true),
    },
    run: async (call, { message, beliefId, wish, change, expectedVersion, capture: wantsCase, ...rest }) => {
      const options = optionsOf(call, rest)
      const id = await requireBelief(call, beliefId)
      const edited = await call.memory.edit(id, change, { ...call.idempotency, ...omitUndefined({ expectedVersion }) })
      const context = await servedBy(call).memories.dashboard.recall(message, options)
      const isFulfilled = isShown(context, id) === (wish === 'present')
      if (!wantsCase) return { edited, isFulfilled, captured: null, captureProblem: null }
      const judged = wish === 'present' ? { expect: [id], reject: [] } : { expect: [], reject: [id] }
      try {
        const { scopes } = options
        const captured = await capture(call, { message, scopes, ...judged, exactly: false, asIs: false })
        return { edited, isFulfilled, captured, captureProblem: null }
      } catch (error) {
        // The edit is already stored; a failed capture must not look like a failed edit.
        if (!(error instanceof MemoryError)) throw error
        return { edited, isFulfilled, captured: null, captureProblem: error.message }
      }
    },
  }),
  capture: operation({
    summary: 'Capture a recall as a case of `my-cases`: one that was wrong, or one that must stay right.',
    access: 'installation',
    http: 'POST /recall/capture',
    status: 201,
    input: captureInput,
    run: async (call, { scopes = call.view.scopes, ...rest }) => {
      if (rest.expect.length + rest.reject.length === 0 && !rest.asIs && !rest.exactly)
        throw invalid(
          'The request has no expectation.',
          'Give ids in expect or reject, or set asIs to accept the present answer.',
        )
      for (const id of [...rest.expect, ...rest.reject]) await requireBelief(call, id)
      return capture(call, { ...rest, scopes })
    },
  }),
}

type CaptureRequest = Omit<InputOf<typeof captureInput>, 'scopes'> & { readonly scopes: readonly string[] }

/** A recall that was captured as a case of `my-cases`. */
type CapturedCase = Pick<Captured, 'caseId' | 'beliefsCopied' | 'passesNow' | 'failures' | 'isFaithful'> & {
  readonly description: string
}

async function capture(call: Call, request: CaptureRequest): Promise<CapturedCase> {
  const { memories, installation } = servedBy(call)
  if (installation === null) throw forbidden("Cases are kept for the server's own memory directory only.")
  const { root, openSystem } = installation.evals
  const { captureCase } = await import('../eval/pack/capture.ts')
  const system = await openSystem()
  let captured: Captured
  try {
    // The dashboard's memory writes no shadow records: repeating a recall for a case is not a live recall.
    captured = await captureCase(
      memories.dashboard,
      { ...request, replace: false, note: request.note ?? null },
      { root, system },
    )
  } finally {
    await system.close()
  }
  const { caseId, beliefsCopied, passesNow, failures, isFaithful } = captured
  return { caseId, description: captured.case.description, beliefsCopied, passesNow, failures, isFaithful }
}

type Hit = BeliefAnswer & {
  /** exact: named by the question or said in its words. strong: has most of its distinctive words. possible: few of them. */
  readonly strength: Strength
  /** Comparable only among hits of the same kind. */
  readonly score: number
  /** Why it was found; `form`: the whole name or alias that was found in the question. */
  readonly matched: readonly {
    readonly field: Highlight['field']
    readonly form: string | null
    readonly words: readonly string[]
  }[]
  /** The relation through which it was found, if the question names the relation but not the belief. */
  readonly through: string | null
}

const toolQuote = ({ text, at, utcOffset, speaker, role, origin, strength, earlier, session, ...hit }: QuoteHit) => ({
  text,
  at,
  /** The day on which it was said, in the time zone of the person. */
  day: localDay(at, utcOffset),
  speaker,
  role,
  /** The source of the words: `document` for text that the person pasted. */
  origin,
  strength,
  /** A newer quote about the same thing comes before it. */
  earlier,
  /** When the person corrected it. Use the correction instead. */
  corrected_at: hit.correctedAt,
  /** The current statement. */
  correction: hit.correction?.content ?? null,
  /** It has no word of the question, but a turn next to it does. */
  onlyBeside: hit.found.length === 0,
  /** The conversation; read it at memory://conversation/{session}. */
  session,
  /** Turns before and after it, oldest first, if requested. Texts are cut at 1,000 characters. */
  ...omitUndefined({ around: hit.around?.map(({ role, speaker, at, text }) => ({ role, speaker, at, text })) }),
})

type Span = MatchedWords & { readonly beliefIds: readonly string[] }

/** The spans of the message that name beliefs, in order. If two overlap, the longer one is kept, with the beliefs of both. */
function highlightsOf({ relevant }: Context, namedAnyway: readonly NamedAnyway[]): readonly Span[] {
  const byPlace = new Map<string, Omit<Span, 'beliefIds'> & { readonly beliefIds: Set<string> }>()
  const named = relevant.map(({ belief, matches }) => ({ beliefId: belief.id, matches }))
  for (const { beliefId, matches } of [...named, ...namedAnyway]) {
    for (const { start, end, text, typo } of matches.flatMap(({ words }) => words)) {
      const place = `${start}-${end}`
      const known = byPlace.get(place)
      if (known === undefined) byPlace.set(place, { start, end, text, typo, beliefIds: new Set([beliefId]) })
      else byPlace.set(place, { ...known, typo: known.typo ?? typo, beliefIds: known.beliefIds.add(beliefId) })
    }
  }
  const byLength = [...byPlace.values()].sort((a, b) => b.end - b.start - (a.end - a.start) || a.start - b.start)
  const spans: typeof byLength = []
  /** For each character, the index of its span plus 1; 0 for none. */
  const spanAt = new Uint32Array(byLength.reduce((last, { end }) => Math.max(last, end), 0))
  for (const span of byLength) {
    const over = spanAt
      .subarray(span.start, span.end)
      .reduce((lowest, at) => (at > 0 && (lowest === 0 || at < lowest) ? at : lowest), 0)
    if (over === 0) spanAt.fill(spans.push(span), span.start, span.end)
    else for (const id of span.beliefIds) spans[over - 1]?.beliefIds.add(id)
  }
  return spans
    .sort((a, b) => a.start - b.start)
    .map(({ beliefIds, ...span }) => ({ ...span, beliefIds: [...beliefIds] }))
}

const onlyRelevant = {
  maxBeliefs: 100,
  maxPinned: 0,
  maxQuestions: 0,
  maxPrelude: 0,
  maxCharacters: 1_000_000,
  maxQuotes: 0,
}

/** The first items that fit in `maxPartCharacters` characters; at least one. */
function limitLength<Item>(items: readonly Item[], lengthOf: (item: Item) => number): Item[] {
  let length = 0
  return items.filter((item, place) => {
    length += lengthOf(item)
    return place === 0 || length <= maxPartCharacters
  })
}

const shortenBelief = (belief: Belief): BeliefAnswer => {
  const answer = toBeliefAnswer(belief)
  return { ...answer, content: cutText(answer.content), why: cutText(answer.why) }
}

const recalledHit = ({ belief, score, matches, through }: RelevantBelief): Hit => ({
  ...shortenBelief(belief),
  strength: 'exact',
  score,
  matched: matches.map(({ field, form, words }) => ({ field, form, words: distinct(words.map(({ text }) => text)) })),
  through,
})

const foundHit = ({ belief, strength, score, highlights }: SearchHit): Hit => {
  const matched = [...Map.groupBy(highlights, ({ field }) => field)].map(([field, spans]) => {
    return { field, form: null, words: distinct(spans.map(({ text }) => text)) }
  })
  return { ...shortenBelief(belief), strength, score, matched, through: null }
}

const distinct = <Value>(values: readonly Value[]): Value[] => [...new Set(values)]

function searchNote(hits: readonly { readonly strength: Strength }[], scopes: readonly string[]): string {
  const where = scopes.join(' and ')
  if (hits.length === 0) return `Nothing in ${where} answers this. Tell the person that nothing is remembered.`
  if (hits.some(({ strength }) => strength === 'exact')) return 'The exact hits are named or quoted in the question.'
  return `Nothing in ${where} has this name. Check that a hit is about the question; if none is, tell the person that nothing is remembered.`
}
