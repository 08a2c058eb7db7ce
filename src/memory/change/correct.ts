import { isDeepStrictEqual } from 'node:util'
import { authorityOf, type Belief, type BeliefType, isCurrent, mayChange, outranks } from '../../beliefs/belief.ts'
import { nameKey, unnumberedName } from '../../beliefs/identity.ts'
import type { Turn } from '../../beliefs/turn.ts'
import { forbidden, nullIfNotFound } from '../../errors.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { isSurfaceForm } from '../../search/forms.ts'
import { informativeWords, searchableWords } from '../../search/searchable-text.ts'
import { sentencesOf } from '../../search/sentences.ts'
import { findTurn } from '../conversation/turns.ts'
import {
  type BeliefReference,
  currentBelief,
  findBelief,
  freeName,
  requireFreeName,
  type VersionExpectation,
} from '../find-belief.ts'
import { isDerivedName, nameStatement } from '../learn/name-of.ts'
import type { Ports } from '../ports.ts'
import { states } from '../recall/retired-quotes.ts'
import { filterAliases } from './aliases.ts'
import { reasonToWait } from './authority.ts'
import { type BeliefDraft, fieldsOfType, limits, parseDraft, refuseSecrets } from './draft.ts'
import { findReplaced, inherit, newBelief, proposeChange, supersedeBelief } from './remember.ts'
import { type ChangeRequest, change, createChange, stateAfter } from './transaction.ts'

export type CorrectRequest = ChangeRequest &
  BeliefReference &
  VersionExpectation &
  Pick<BeliefDraft, 'content' | 'why' | 'aliases' | 'type' | 'status' | 'confidence'> & {
    /** A new name; the old one stays as an alias. */
    readonly name?: string
    readonly model?: string
    readonly sourceId?: string
  }

export type CorrectResult = {
  /** `unchanged`: the belief already has this text, so nothing was written. */
  readonly outcome: 'corrected' | 'proposed' | 'unchanged'
  readonly belief: Belief
  readonly replaced: readonly Belief[]
  /** Null when nothing was written. */
  readonly event: number | null
}

/** Replaces a belief, or a statement of a turn, with a newer one. The old one is kept but never recalled as true. */
export async function correct(ports: Ports, request: CorrectRequest): Promise<CorrectResult> {
  const turn = await referredTurn(ports, request)
  if (turn === null) return correctBelief(ports, request)
  const { author, content } = request
  if (author.actor !== 'person')
    throw forbidden(
      `"${author.origin}" may not correct a turn.`,
      'Only a person can. Remember the new statement instead.',
    )
  const statement = statementIn(turn.text, content)
  const stated = await currentStatement(ports, turn, statement)
  return stated === null
    ? correctTurn(ports, request, { turn, statement })
    : correctBelief(ports, { ...request, reference: stated.id })
}

/** Max beliefs to compare with a statement of a turn. */
const maxCompared = 50

/** The turn that a reference names; null if it names a belief. */
async function referredTurn(ports: Ports, request: CorrectRequest): Promise<Turn | null> {
  if (!request.reference.startsWith('t-')) return null
  // A belief may be called "t-shirt", so beliefs are tried first.
  const belief = await nullIfNotFound(() => findBelief(ports, request))
  return belief === null ? nullIfNotFound(() => findTurn(ports, request.user, request.reference)) : null
}

/** The sentence of a turn that has the most words in common with its correction; the whole text if no sentence shares a word with it. */
function statementIn(text: string, correction: string): string {
  const words = new Set(informativeWords(correction))
  const counts = sentencesOf(text).map((sentence) => ({
    text: sentence.text,
    shared: new Set(informativeWords(sentence.text).filter((word) => words.has(word))).size,
  }))
  const best = counts.reduce<(typeof counts)[number] | null>(
    (best, one) => (one.shared > (best?.shared ?? 0) ? one : best),
    null,
  )
  return (best?.text ?? text).slice(0, limits.content)
}

/** The person's current belief that makes the statement of a turn. */
async function currentStatement({ store }: Ports, { user, id }: Turn, statement: string): Promise<Belief | null> {
  const words = [...new Set(informativeWords(statement))]
  const query = { user, agent: null, scopes: null, words, includeRetired: false, limit: maxCompared }
  const ids = words.length === 0 ? [] : (await store.matchText(query)).map(({ beliefId }) => beliefId)
  const stating = (await store.getMany(user, ids)).filter((belief) => states({ turn: id, text: statement }, belief))
  return stating.find((belief) => isCurrent(belief) && authorityOf(belief) === 'person') ?? null
}

/** Stores the statement of a turn as a superseded belief, and the correction as its successor. */
async function correctTurn(
  ports: Ports,
  request: CorrectRequest,
  { turn, statement }: { readonly turn: Turn; readonly statement: string },
): Promise<CorrectResult> {
  const { user, author, content, why, confidence, status = 'active', aliases = [] } = request
  await refuseSecrets(author, request)
  const scopes = [turn.scope]
  const draftFrom = (text: string, given: Partial<BeliefDraft>) => {
    const { name, aliases: derived } = nameStatement(text)
    return parseDraft({ name, content: text, scopes, ...given, aliases: [...(given.aliases ?? []), ...derived] })
  }
  return change<CorrectResult>(
    ports,
    { ...request, operation: 'correct turn' },
    async (at) => {
      const said = draftFrom(statement, { status: 'active' })
      const provenance = { ...author, sourceId: turn.id, model: null, at: turn.at }
      const old = newBelief(ports, { user, statement: said, provenance })
      const draft = draftFrom(content, { status, aliases, ...omitUndefined({ name: request.name, why, confidence }) })
      const named = { ...draft, name: await freeName(ports, { user, name: draft.name, scopes }) }
      const made = newBelief(ports, {
        user,
        statement: named,
        provenance: { ...author, sourceId: request.sourceId ?? null, model: request.model ?? null, at },
      })
      const outdated = { ...old, status: 'superseded' as const, supersededBy: made.id }
      return {
        kind: 'correct',
        changes: [createChange(made), createChange(outdated)],
        result: (event) => ({ outcome: 'corrected', belief: made, replaced: [outdated], event: event.number }),
      }
    },
    async (event, made) => {
      const belief = await stateAfter(ports, event, made)
      return { outcome: 'corrected', belief, replaced: await findReplaced(ports, event, belief), event: event.number }
    },
  )
}

async function correctBelief(ports: Ports, request: CorrectRequest): Promise<CorrectResult> {
  return change<CorrectResult>(
    ports,
    { ...request, operation: 'correct' },
    async (at) => {
      const old = await currentBelief(ports, request)
      const { user, author, content, why, confidence, status = 'active', aliases = [] } = request
      const name = request.name ?? (await nameAfter(ports, old, content))
      await refuseSecrets(author, { ...request, name })
      const allowed = await filterAliases(ports, author, { ...old, name, content, aliases })
      // If the author outranks the old belief, its `why` and aliases are dropped. Its name is kept, because the author
      // corrects the belief under this name.
      const isOutranked = outranks(author, old)
      const statement = parseDraft({
        ...draftOf(old, request.type ?? old.type),
        ...(isOutranked ? { why: '' } : {}),
        ...omitUndefined({ why, confidence }),
        name,
        content,
        status,
        aliases: isOutranked ? [...allowed.aliases, old.name] : allowed.aliases,
      })
      const provenance = { ...author, sourceId: request.sourceId ?? null, model: request.model ?? null, at }
      const belief = inherit(newBelief(ports, { user, statement, provenance }), [old])
      if (hasNoEffect(old, belief))
        return { kind: 'nothing', result: { outcome: 'unchanged', belief: old, replaced: [], event: null } }
      if (nameKey(old.name) !== nameKey(belief.name))
        await requireFreeName(ports, belief, {
          except: [old.id],
          hint: ({ id }) => `Correct ${id} instead, or choose another name.`,
        })
      if (!mayChange(author, old) || (await reasonToWait(author, belief)) !== null)
        return proposeChange(ports, old, belief, at)
      return {
        kind: 'correct',
        changes: [createChange(belief), supersedeBelief(old, belief, at)],
        result: (event) => ({ outcome: 'corrected', belief, replaced: [old], event: event.number }),
      }
    },
    async (event, made) => {
      const belief = await stateAfter(ports, event, made)
      const replaced = await findReplaced(ports, event, belief)
      return { outcome: event.kind === 'propose' ? 'proposed' : 'corrected', belief, replaced, event: event.number }
    },
  )
}

/**
 * The name of a belief after a correction. It stays the same unless it was derived from the old text ("I take my coffee black")
 * and contains a word that the new text does not.
 */
async function nameAfter(ports: Ports, old: Belief, content: string): Promise<string> {
  const words = new Set(searchableWords(content))
  if (informativeWords(unnumberedName(old.name)).every((word) => words.has(word))) return old.name
  if (!isDerivedName(old)) return old.name
  const { name } = nameStatement(content)
  return isSurfaceForm(name) ? freeName(ports, { user: old.user, name, scopes: old.scopes }) : old.name
}

const compared = [
  'name',
  'content',
  'scopes',
  'type',
  'subtype',
  'aliases',
  'why',
  'status',
  'confidence',
  'pinned',
  'agent',
  'participants',
  'relation',
  'expertise',
] as const

/** Whether a correction has no effect. A person who repeats another author's text makes it their own, which is an effect. */
const hasNoEffect = (old: Belief, belief: Belief): boolean =>
  compared.every((field) => isDeepStrictEqual(old[field], belief[field])) &&
  (!belief.editedByPerson || authorityOf(old) === 'person')

/** The fields that a correction keeps by default. The confidence is left out, because it was that of the old statement. */
function draftOf(belief: Belief, type: BeliefType): BeliefDraft {
  const { name, content, scopes, why, pinned, agent } = belief
  return { name, content, scopes, type, why, pinned, agent, ...fieldsOfType(type, belief) }
}
