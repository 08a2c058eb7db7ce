import { type Belief, isCurrent } from '../../beliefs/belief.ts'
import { isSameStatement, nameKey } from '../../beliefs/identity.ts'
import { visibleScopes } from '../../beliefs/scope.ts'
import { analyse } from '../../search/analyse.ts'
import { formKeys } from '../../search/forms.ts'
import type { Workshop } from '../workshop.ts'
import type { Candidate } from './candidate.ts'
import { kindsOfValue } from './kinds-of-value.ts'

/** From where one looks: whose beliefs, and which of them are in view. */
export type View = { readonly user: string; readonly agent: string | null; readonly scopes: readonly string[] }

/** What a candidate says again, or takes the place of; null when nothing in view is meant. */
export async function knownBelief(workshop: Workshop, view: View, candidate: Candidate): Promise<Belief | null> {
  const scopes = visibleScopes(view.scopes)
  const inView = { ...view, scopes }
  const counted = countedIn(candidate)
  const forms = [candidate.name, ...candidate.aliases, ...(counted === null ? [] : [`${counted}s`])]
  const sharing = await sharingForms(workshop, inView, forms)
  const same = sharing.find(({ belief }) => isSameStatement(belief.content, candidate.content))
  if (same !== undefined) return same.belief
  const named = sharing.find(({ belief }) => nameKey(belief.name) === nameKey(candidate.name))
  if (candidate.kind === 'statement') {
    if (named !== undefined) return named.belief
    return candidate.isSlot === true ? slotOf(candidate, sharing) : null
  }
  return meantBy(workshop, inView, candidate, sharing)
}

type Sharing = { readonly belief: Belief; readonly forms: readonly string[] }

/** Current beliefs in view that are found by one of the forms, each with the forms it is found by. */
async function sharingForms(workshop: Workshop, view: View, forms: readonly string[]): Promise<readonly Sharing[]> {
  const formsByKey = new Map<string, string>()
  for (const form of forms) for (const { key } of formKeys(form)) if (!formsByKey.has(key)) formsByKey.set(key, form)
  const shared = new Map<string, Set<string>>()
  for (const [key, postings] of await workshop.store.postings(view, [...formsByKey.keys()])) {
    for (const { beliefId } of postings) {
      const own = shared.get(beliefId) ?? new Set()
      shared.set(beliefId, own.add(formsByKey.get(key) as string))
    }
  }
  const beliefs = await workshop.store.getMany(view.user, [...shared.keys()])
  return beliefs.filter(isCurrent).map((belief) => ({ belief, forms: [...(shared.get(belief.id) ?? [])] }))
}

/** "My favourite language is Go" is about the same as "my favourite programming language is Rust". */
function slotOf({ name, type }: Candidate, sharing: readonly Sharing[]): Belief | null {
  if (analyse(name).length < 2) return null
  const holders = sharing.filter(({ belief, forms }) => belief.type === type && forms.includes(name))
  return holders.length === 1 ? (holders[0]?.belief ?? null) : null
}

/** "Did I start" is a way to ask for many things, and says nothing about which is meant. */
const asksOnly = /^(?:do|did|am|are|i|we|when|start(?:ing)? date)\b/iu

/** What a correction is about: what it calls by name, what it says no longer holds, then what shares most with it. */
async function meantBy(
  workshop: Workshop,
  view: View,
  candidate: Candidate,
  sharing: readonly Sharing[],
): Promise<Belief | null> {
  const scores = new Map<string, { belief: Belief; score: number }>()
  const add = (belief: Belief, score: number): void => {
    const before = scores.get(belief.id)?.score ?? 0
    scores.set(belief.id, { belief, score: before + score })
  }
  for (const { belief, forms } of sharing) {
    if (nameKey(belief.name) === nameKey(candidate.name)) add(belief, 4)
    const telling = forms.filter((form) => !asksOnly.test(form)).map((form) => analyse(form).length)
    const alike = likeness(belief, candidate)
    if (telling.length > 0) add(belief, Math.min(Math.max(...telling), 3) + alike)
    // "I climb on Tuesdays": the same is done, and the same kind of value is given.
    else if (alike > 0 && forms.length > 0) add(belief, 1 + alike)
  }
  for (const old of candidate.replaces ?? []) {
    // A corrected belief is still found by the old value, which it no longer gives.
    for (const { belief } of await sharingForms(workshop, view, [old])) if (speaksOf(belief, old)) add(belief, 3)
    for (const belief of await holding(workshop, view, old)) add(belief, 3)
  }
  const least = candidate.replaces === undefined ? 2 : 3
  const best = [...scores.values()]
    .filter(({ score }) => score >= least)
    .sort((one, other) => other.score - one.score || (one.belief.updatedAt < other.belief.updatedAt ? 1 : -1))
  return best[0]?.belief ?? null
}

/** Family stays family, wherever somebody works. */
const kin =
  /\b(?:brother|sister|son|daughter|child|mother|father|mum|mom|dad|wife|husband|partner|friend|cousin|aunt|uncle|niece|nephew|grand\p{L}+|\p{L}+-in-law|cat|dog)\b/iu
const working = /\b(?:works?|does|runs|leads|handles|manages|teaches|keeps|looks after|is (?:our|my|the))\b/iu

/** One more for what gives a value of the same kind, says the same of the same, or is somebody's work when they leave. */
function likeness(belief: Belief, candidate: Candidate): number {
  const given = kindsOfValue(candidate.content)
  const isSameKind = kindsOfValue(belief.content).some((kind) => given.includes(kind))
  const end = (name: string): string => nameKey(name).split(' ').slice(-2).join(' ')
  const isSameSide =
    /^(?:lives|works) (?:in|at|for)$/u.test(end(candidate.name)) && end(belief.name) === end(candidate.name)
  const isWork =
    candidate.kind === 'retraction' &&
    /\sworks$/u.test(candidate.name) &&
    working.test(belief.content) &&
    !kin.test(belief.content)
  const noun = countedIn(candidate)
  const isCount = noun !== null && new RegExp(String.raw`\d (?:\p{L}+ )?${noun}s?\b`, 'iu').test(belief.content)
  return isSameKind || isSameSide || isWork || isCount ? 1 : 0
}

/** "The guest count is 91" is about "we invited 84 guests". */
function countedIn({ name }: Candidate): string | null {
  const { some, all } = /^(?:number of (?<some>\p{L}+)|(?<all>\p{L}+) count)$/iu.exec(name)?.groups ?? {}
  return (some ?? all)?.replace(/s$/iu, '').toLowerCase() ?? null
}

/** "Tuesdays" takes back "every Tuesday", too. */
const wordsOf = (text: string): readonly string[] => analyse(text).map(({ word }) => word.replace(/days$/u, 'day'))

const speaksOf = ({ name, content }: Belief, phrase: string): boolean => {
  const said = new Set(wordsOf(`${name} ${content}`))
  return wordsOf(phrase).some((word) => said.has(word))
}

/** Beliefs in view whose statement has the words, one after the other. */
async function holding({ store }: Workshop, view: View, phrase: string): Promise<readonly Belief[]> {
  const words = wordsOf(phrase)
  if (words.length === 0) return []
  const hits = await store.matchText({ ...view, words, includeRetired: false, limit: 50 })
  const beliefs = await store.getMany(
    view.user,
    hits.map(({ beliefId }) => beliefId),
  )
  const run = ` ${words.join(' ')} `
  const text = ({ content }: Belief): string => ` ${wordsOf(content).join(' ')} `
  return beliefs.filter((belief) => isCurrent(belief) && text(belief).includes(run))
}
