import type { Belief } from '../beliefs/belief.ts'
import { beliefOrders } from '../beliefs/belief-store.ts'
import { universalScope } from '../beliefs/scope.ts'
import { invalid } from '../errors.ts'
import { limits } from '../memory/change/draft.ts'
import type { RememberResult } from '../memory/change/remember.ts'
import { findProposalsAbout, readLinkableBeliefs, readLinks } from '../memory/explain/links.ts'
import { omitUndefined } from '../omit-undefined.ts'
import {
  beliefId,
  choice,
  flag,
  list,
  maxItems,
  object,
  optional,
  paging,
  scopes,
  scopesInView,
  share,
  text,
  version,
} from './field.ts'
import { withoutKey } from './history.ts'
import { type Call, operation, requireBelief, servedBy, tool } from './operation.ts'
import { aliasHints, correctionHints, type RememberHint, rememberHints } from './remember-hints.ts'
import { cacheUntilChange, readBeliefById } from './served-memory.ts'
import { beliefFilter, correction, draft } from './shared-fields.ts'
import { idField, keyField, notice, scopeField, toBeliefAnswer } from './tool-answers.ts'
import { findBeliefInView, homeOf } from './view.ts'

const elsewhere = optional(scopeField, 'The scope of the belief, if it is not one of the default scopes.')

const forgetExtent = {
  wholeChain: optional(flag('Also its earlier and later versions.')),
  keepTurns: optional(flag('Keep the messages that state it. An agent always keeps them.')),
}

/** Adds how often each belief was recalled, and when it was last recalled. */
async function withRecallCounts<Item extends { readonly belief: Belief }>(call: Call, items: readonly Item[]) {
  const { ports, view } = servedBy(call)
  const counts = await ports.counts?.recallCounts(
    view.user,
    items.map(({ belief }) => belief.id),
  )
  return items.map((item) => {
    const { count = 0, lastAt = null } = counts?.get(item.belief.id) ?? {}
    return { ...item, recalls: count, recalledAt: lastAt }
  })
}

/** At most `maxItems` beliefs of a supersession chain, around the requested belief. */
function cutAround(chain: readonly Belief[], id: string): readonly Belief[] {
  const at = chain.findIndex((belief) => belief.id === id)
  const first = Math.max(0, Math.min(at - maxItems / 2, chain.length - maxItems))
  return chain.slice(first, first + maxItems)
}

/** The kinds of statement that agents may name, with the type and subtype of the resulting belief. */
const kinds = {
  fact: { type: 'entity' },
  decision: { type: 'decision' },
  preference: { type: 'preference' },
  style: { type: 'preference', subtype: 'style' },
  expertise: { type: 'preference', subtype: 'expertise' },
  question: { type: 'open_question' },
} as const

type Kind = keyof typeof kinds
// Object.keys loses the type of the keys.
const kindNames = Object.keys(kinds) as Kind[]

const statement = text(limits.content, "One short statement, in the person's own words if possible.", 1)

type GivenNames = { readonly name?: string; readonly aliases?: readonly string[] }

const hintTexts = (hints: readonly RememberHint[]): string[] => hints.map(({ text }) => text)

const hintsOn = async (remembered: RememberResult, given: GivenNames): Promise<string[]> =>
  hintTexts(await rememberHints(remembered, given))

const rememberTool = tool({
  name: 'memory_remember',
  title: 'Remember something',
  description:
    'Remember one lasting fact about the person or their work: a preference, a decision, a name and its meaning, an open question. ' +
    'Use it when the person asks you to remember something, or decides or states something that applies from now on. ' +
    'Hooks already store your conversation word for word, and learn what the person asks you to remember; do not store that again. ' +
    'Do not use it for secrets or credentials, for facts about this task only, for your own guesses, or for text of web pages and tools. To change a belief whose id you know, use memory_correct. ' +
    'A known statement is only confirmed. A statement that contradicts another author, applies everywhere, or is a preference or standing instruction is only proposed to the person.',
  input: {
    statement,
    kind: optional(
      choice(kindNames),
      'fact (the default): a thing, person, place or convention. style: how to answer the person. expertise: their knowledge. question: an open question.',
    ),
    where: optional(
      text(200),
      'Where it applies: everywhere, for facts about the person; or a scope that the person named, such as domain:code. Omit it for the current project.',
    ),
    names: optional(
      list(text(limits.name, undefined, 1), { min: 1, max: 20 }),
      'The names that people use for it, the usual one first. A message with one of them recalls it. Omit this if the statement contains the name.',
    ),
    key: keyField,
  },
  async run(call, { statement, kind, where, names = [], key }) {
    const [name, ...aliases] = names
    const remembered = await call.memory.remember({
      content: statement,
      ...(kind === undefined ? {} : kinds[kind]),
      ...omitUndefined({ name, key }),
      ...(aliases.length === 0 ? {} : { aliases }),
      scopes: homeOf(call, where === 'everywhere' ? universalScope : where),
    })
    const { outcome, belief, replaced, otherValues, refusedAliases } = remembered
    return {
      /** reinforced: it was already known. corrected: it replaced a belief. proposed: a person has to decide. */
      outcome,
      belief: toBeliefAnswer(belief),
      /** Ids of the beliefs that it replaced, or would replace. */
      replaced: replaced.map(({ id }) => id),
      /** Beliefs with another value for the same thing. If the new value replaces one, use memory_correct on that one. */
      otherValues: otherValues.map(toBeliefAnswer),
      /** Aliases that were refused, with better ones. */
      refusedAliases,
      /** Warnings for the author, such as a secret in the statement, or a name that many messages contain. */
      hints: await hintsOn(remembered, omitUndefined({ name, aliases })),
    }
  },
})

const correctTool = tool({
  name: 'memory_correct',
  title: 'Correct a belief',
  description:
    'Replace a belief with a newer statement. The old statement is kept in the history and never recalled again. ' +
    'Use it when the person says that a remembered statement is wrong or has changed. ' +
    'Do not use it on your own judgement alone, or to remove something: that is memory_forget. ' +
    "A person's statement is not changed: the correction is proposed to them, and the outcome is `proposed`.",
  isDestructive: true,
  input: {
    id: idField,
    content: statement,
    name: optional(text(limits.name, 'A new name; the old one stays as an alias.', 1)),
    why: optional(text(limits.why), 'What an agent should do about it.'),
    aliases: optional(
      list(text(limits.alias), { max: 50 }),
      'Other names that people use for it. Only a message with one of them, or with its name, recalls it.',
    ),
    confidence: optional(share('How certain it is; 1 unless you doubt it.')),
    scope: elsewhere,
    key: keyField,
  },
  async run(call, { id, scope, ...correction }) {
    const target = await findBeliefInView(call, id, scope)
    const corrected = await call.memory.correct(target.id, omitUndefined(correction))
    const { outcome, belief, replaced } = corrected
    return {
      /** proposed: nothing has changed yet; a person has to decide. unchanged: the belief already has this content. */
      outcome,
      /** The belief as stored or as proposed. */
      belief: toBeliefAnswer(belief),
      /** Ids of the beliefs that it replaced, or would replace. */
      replaced: replaced.map((old) => old.id),
      /** Warnings for the author, such as a secret in the statement, or an alias that many messages contain. */
      hints: hintTexts(await correctionHints(corrected, omitUndefined({ aliases: correction.aliases }))),
    }
  },
})

/** Reading and changing beliefs. */
export const beliefs = {
  scopes: operation({
    summary: 'Every scope with the number of current beliefs in it.',
    http: 'GET /scopes',
    input: {},
    run: async ({ memory, view }) => ({ items: await memory.scopes(), active: view.scopes }),
  }),
  listBeliefs: operation({
    summary: 'Beliefs, latest changed first; with a query, those that contain its words, best first.',
    access: 'agents',
    http: 'GET /beliefs',
    input: {
      query: optional(text(2_000, 'The last word may be the beginning of one.')),
      scope: scopesInView('Of any of these scopes.'),
      type: beliefFilter.type,
      status: beliefFilter.status,
      pinned: optional(flag('true: only pinned beliefs. false: only the others.')),
      current: optional(flag('true: only beliefs that recall may return. false: only the others.')),
      proposals: optional(flag('true: only proposals. false: only the others.')),
      candidates: optional(flag('true: only candidates. false: only the others.')),
      recalled: optional(flag('true: only beliefs that were ever recalled. false: only the others.')),
      order: optional(choice(beliefOrders, 'Default `updated`. A query is answered best first.')),
      ...paging(50),
    },
    run: async (call, { query, order, scope, type, status, ...rest }) => {
      const filter = { ...rest, ...omitUndefined({ scopes: scope, types: type, statuses: status }) }
      if (query !== undefined && query.trim() !== '') {
        const { items, ...page } = await call.memory.find(query, filter)
        const hits = items.map(({ belief, ...hit }) => ({ belief, hit }))
        return { items: await withRecallCounts(call, hits), ...page }
      }
      const { items, total } = await call.memory.list({ ...filter, ...omitUndefined({ order }) })
      const listed = items.map((belief) => ({ belief, hit: null }))
      return { items: await withRecallCounts(call, listed), total, isCut: false }
    },
  }),
  createBelief: operation({
    summary:
      'Remember a statement. Repeating it reinforces the belief; another statement of the same name corrects it.',
    access: 'agents',
    http: 'POST /beliefs',
    status: 201,
    input: draft,
    run: async ({ memory, view, idempotency }, input) => {
      const remembered = await memory.remember({ scopes: view.homeScopes, ...input, ...idempotency })
      return { ...remembered, hints: await hintsOn(remembered, input) }
    },
    tool: rememberTool,
  }),
  getBelief: operation({
    summary: 'One belief, by its id.',
    access: 'agents',
    http: 'GET /beliefs/:id',
    input: { id: beliefId },
    run: async (call, { id }) => {
      const belief = await readBeliefById(servedBy(call), id)
      return { belief, proposals: await findProposalsAbout(servedBy(call).ports, belief) }
    },
    tool: tool({
      name: 'memory_get',
      title: 'Read one belief',
      description:
        'Read everything about one belief: its statement, other names, scopes, author and history. ' +
        'Use it before correcting or forgetting a belief, or when a hit of memory_search has to be judged. ' +
        'Do not use it to look for something: that is memory_search.',
      input: { id: idField, scope: optional(scopeField) },
      async run(call, { id, scope }) {
        const belief = await findBeliefInView(call, id, scope)
        const { revisions } = await call.memory.history(belief.id)
        const { createdAt, supersededBy, proposedFor, resolvedAt, participants, relation } = belief
        const more = { createdAt, supersededBy, proposedFor, resolvedAt, participants, relation }
        return {
          belief: { ...toBeliefAnswer(belief), ...more, timesConfirmed: belief.reinforcement.count },
          /** Oldest first, at most the last 20. */
          changes: revisions
            .slice(-20)
            .map(({ event: { at, kind, actor, origin } }) => ({ at, kind, author: actor, origin })),
          notice,
        }
      },
    }),
  }),
  beliefHistory: operation({
    summary: 'The changes of a belief, and its earlier and later versions.',
    http: 'GET /beliefs/:id/history',
    input: { id: beliefId },
    run: async (call, { id }) => {
      const { belief, revisions, chain } = await call.memory.history(await requireBelief(call, id))
      return {
        belief,
        revisions: revisions.slice(-maxItems).map(({ event, ...rest }) => ({ ...rest, event: withoutKey(event) })),
        revisionCount: revisions.length,
        chain: cutAround(chain, id),
      }
    },
  }),
  beliefLinks: operation({
    summary: 'The connections of a belief, the message it came from, and how often it was recalled.',
    http: 'GET /beliefs/:id/links',
    input: { id: beliefId },
    run: async (call, { id }) => {
      const served = servedBy(call)
      const { user, scopes } = served.view
      const linkable = await cacheUntilChange(served, 'linkable', () => readLinkableBeliefs(served.ports, user))
      return readLinks(served.ports, { user, scopes, reference: await requireBelief(call, id) }, linkable)
    },
  }),
  editBelief: operation({
    summary: 'Edit a belief without changing its statement, as one change.',
    access: 'agents',
    http: 'PATCH /beliefs/:id',
    input: {
      id: beliefId,
      why: draft.why,
      pinned: optional(flag()),
      addAliases: draft.aliases,
      removeAliases: draft.aliases,
      scopes: optional(scopes('All the scopes it is to have.')),
      expectedVersion: optional(version),
    },
    run: async (call, { id, expectedVersion, ...edits }) => {
      const options = { ...call.idempotency, ...omitUndefined({ expectedVersion }) }
      const edited = await call.memory.edit(await requireBelief(call, id), edits, options)
      return { ...edited, hints: hintTexts(aliasHints(edited.belief, edits.addAliases)) }
    },
  }),
  correctBelief: operation({
    summary: 'Replace a belief with a newer one; the old one stays in the history and is never recalled.',
    access: 'agents',
    http: 'POST /beliefs/:id/correct',
    input: { id: beliefId, ...correction, expectedVersion: optional(version) },
    run: async (call, { id, ...correction }) => {
      const corrected = await call.memory.correct(await requireBelief(call, id), { ...correction, ...call.idempotency })
      return { ...corrected, hints: hintTexts(await correctionHints(corrected, correction)) }
    },
    tool: correctTool,
  }),
  confirmBelief: operation({
    summary: 'Make an unconfirmed belief the person’s own statement, which agents can only propose to change.',
    http: 'POST /beliefs/:id/confirm',
    input: { id: beliefId },
    run: async (call, { id }) => call.memory.confirm(await requireBelief(call, id), call.idempotency),
  }),
  resolveBelief: operation({
    summary: 'Close an open question, with or without the decision that settles it.',
    access: 'agents',
    http: 'POST /beliefs/:id/resolve',
    input: {
      id: beliefId,
      by: optional(
        object({ id: optional(beliefId), name: draft.name, content: optional(draft.content), why: draft.why }),
        'The decision: the id of a belief, or the name and content of a new one.',
      ),
    },
    run: async (call, { id, by }) => {
      const decision = by === undefined ? undefined : await decisionOf(call, by)
      return call.memory.resolve(await requireBelief(call, id), decision, call.idempotency)
    },
  }),
  forgetBelief: operation({
    summary: 'Erase every text of a belief permanently. It cannot be undone, so a page must wait before it sends this.',
    access: 'agents',
    http: 'DELETE /beliefs/:id',
    input: { id: beliefId, ...forgetExtent, expectedVersion: optional(version) },
    run: async (call, { id, ...options }) => {
      const { ports, view } = servedBy(call)
      // A belief that was undone has no current version, but its text is still in the journal and can be forgotten.
      if ((await ports.store.history(view.user, id)).length === 0) await requireBelief(call, id)
      return call.memory.forget(id, { ...options, ...call.idempotency })
    },
    tool: tool({
      name: 'memory_forget',
      title: 'Forget a belief',
      description:
        'Remove every text of a belief for good; it cannot be undone. ' +
        'Use it only when the person asks for something you wrote to be forgotten. ' +
        'Do not use it to tidy up. For an outdated belief, use memory_correct. ' +
        "It refuses to forget a person's statement: only they can, with `credence forget`.",
      isDestructive: true,
      input: { id: idField, scope: elsewhere, key: keyField },
      async run(call, { id, scope, key }) {
        const belief = await findBeliefInView(call, id, scope)
        const { beliefIds, at } = await call.memory.forget(belief.id, omitUndefined({ key }))
        return {
          /** Ids, including those of proposals for the belief and repetitions of its statement. */
          forgotten: beliefIds,
          at,
        }
      },
    }),
  }),
  previewForget: operation({
    summary: 'The beliefs and messages that forgetting a belief would remove.',
    http: 'GET /beliefs/:id/forget',
    input: { id: beliefId, ...forgetExtent },
    run: ({ memory }, { id, ...extent }) => memory.previewForget(id, extent),
  }),
}

type By = { readonly id?: string; readonly name?: string; readonly content?: string; readonly why?: string }

async function decisionOf(call: Call, { id, name, content, why }: By) {
  if (id !== undefined && name === undefined && content === undefined && why === undefined)
    return { reference: await requireBelief(call, id) }
  if (id === undefined && name !== undefined && content !== undefined)
    return { name, content, ...omitUndefined({ why }) }
  throw invalid(
    'by: it is neither an id nor a name and a content.',
    'Give the id of a belief, or the name and content of a new one.',
  )
}
