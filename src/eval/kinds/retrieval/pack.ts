import { createHash } from 'node:crypto'
import type { BeliefRecord } from '../../../memory/transfer/belief-record.ts'
import { readRecords } from '../../../memory/transfer/read-records.ts'
import { parseJsonFile, readTextFile } from '../../pack/read-file.ts'
import type { BeliefUpdate, RecallOptions } from '../../system/system.ts'
import {
  invalid,
  type RetrievalCase,
  readRetrievalCases,
  readSessionCases,
  type SessionCase,
  type SessionTurn,
} from './case-file.ts'
import { demandsSomething, type Expectations } from './expectations.ts'

/** A corpus with cases over it, checked and ready to run. */
export type Pack = RetrievalPack | SessionPack

type PackBase = {
  readonly id: string
  readonly title: string
  readonly beliefs: readonly BeliefRecord[]
  readonly recall: RecallOptions
  /** Of everything a result depends on: both files and the recall options. */
  readonly hash: string
  /** What the files say that nobody checks. */
  readonly warnings: readonly string[]
}

export type RetrievalPack = PackBase & { readonly kind: 'retrieval'; readonly cases: readonly ReadyCase[] }
export type SessionPack = PackBase & { readonly kind: 'session'; readonly sessions: readonly ReadySession[] }

/** A case whose user is settled. */
export type ReadyCase = RetrievalCase & { readonly user: string }

export type ReadyTurn = Omit<SessionTurn, 'createBelief' | 'updateBelief'> & {
  readonly user: string
  /** Done to the store after the turn has been scored. */
  readonly updates: readonly BeliefUpdate[]
}
export type ReadySession = Omit<SessionCase, 'user' | 'turns'> & { readonly turns: readonly ReadyTurn[] }

export type PackFiles = {
  readonly kind: Pack['kind']
  readonly id: string
  readonly title: string
  readonly beliefsFile: string
  readonly casesFile: string
  readonly defaultUser?: string | undefined
  readonly recall?: RecallOptions | undefined
  /** Turns every warning into an error. */
  readonly strict?: boolean | undefined
}

/** Reads a corpus and its cases. Throws, naming file and place, before anything runs on half of them. */
export function readPack({
  kind,
  id,
  title,
  beliefsFile,
  casesFile,
  recall = {},
  strict = false,
  ...given
}: PackFiles): Pack {
  const beliefsText = readTextFile(beliefsFile)
  const casesText = readTextFile(casesFile)
  const corpus = readBeliefs(beliefsText, beliefsFile, given.defaultUser ?? 'nobody')
  const defaultUser = given.defaultUser ?? busiestUser(corpus.beliefs)
  const hash = createHash('sha256')
    .update(JSON.stringify([beliefsText, casesText, recall]))
    .digest('hex')
  const file = casesFile
  const value = parseJsonFile(casesFile, casesText)

  const base = { id, title, beliefs: corpus.beliefs, recall, hash }
  const pack =
    kind === 'session' ? sessionPack(base, file, value, defaultUser) : retrievalPack(base, file, value, defaultUser)
  const warnings = [...corpus.warnings, ...pack.warnings]
  if (strict && warnings.length > 0)
    throw invalid(warnings.join('\n'), 'Correct the file, or run without --strict to see this as a warning.')
  refuseUnknownBeliefs(pack, file)
  return { ...pack, warnings }
}

type Base = Omit<PackBase, 'warnings'>

function retrievalPack(base: Base, file: string, value: unknown, defaultUser: string): RetrievalPack {
  const { cases, warnings } = readRetrievalCases(file, value)
  const idle = cases
    .filter((one) => !demandsSomething(one.expect))
    .map(({ caseId }) => `${file}: case "${caseId}" ${checksNothing}`)
  const ready = cases.map((one) => ({ ...one, user: one.user ?? defaultUser }))
  return { ...base, kind: 'retrieval', cases: ready, warnings: [...warnings, ...idle] }
}

function sessionPack(base: Base, file: string, value: unknown, defaultUser: string): SessionPack {
  const { cases, warnings } = readSessionCases(file, value)
  const all = [...warnings]
  const sessions = cases.map(({ caseId, description, user: given, turns }): ReadySession => {
    const user = given ?? defaultUser
    const ready = turns.map(({ createBelief, updateBelief, ...turn }): ReadyTurn => {
      const place = `${file}: case "${caseId}", turn ${turn.turnIndex}`
      if (!demandsSomething(turn.expect)) all.push(`${place} ${checksNothing}`)
      const created =
        createBelief === null ? null : readBeliefs(JSON.stringify([createBelief]), `${place}, createBeliefAtTurn`, user)
      all.push(...(created?.warnings ?? []))
      const creations = (created?.beliefs ?? []).map((belief): BeliefUpdate => ({ kind: 'create', belief }))
      return { ...turn, user, updates: [...creations, ...updatesOf(updateBelief)] }
    })
    return { caseId, description, turns: ready }
  })
  return { ...base, kind: 'session', sessions, warnings: all }
}

const checksNothing = 'checks nothing: no answer could fail it.'

function updatesOf(update: SessionTurn['updateBelief']): readonly BeliefUpdate[] {
  if (update === null) return []
  const { beliefId, addAliases = [], setContent, setCanonicalName } = update
  const content = setContent === undefined ? {} : { setContent }
  const name = setCanonicalName === undefined ? {} : { setName: setCanonicalName }
  return [{ kind: 'update', beliefId, addAliases, ...content, ...name }]
}

/** Beliefs without times count as written at one fixed moment, so that the same file always reads the same. */
function readBeliefs(text: string, source: string, user: string) {
  let unnamed = 0
  const clock = { now: () => new Date(0), newId: () => `unnamed-${++unnamed}` }
  const { records, warnings } = readRecords(clock, { text, source, user, scopes: [] })
  const places = new Map<string, string>()
  for (const { place, record } of records) {
    const earlier = places.get(record.id)
    if (earlier !== undefined)
      throw invalid(
        `${place}: the id "${record.id}" was used before, at ${earlier}.`,
        'Every belief needs an id of its own.',
      )
    places.set(record.id, place)
  }
  return { beliefs: records.map(({ record }) => record), warnings }
}

/** Published case files leave the user out and mean the one the corpus is about. */
function busiestUser(beliefs: readonly BeliefRecord[]): string {
  const counts = new Map<string, number>()
  for (const { user } of beliefs) counts.set(user, (counts.get(user) ?? 0) + 1)
  return [...counts].reduce((best, next) => (next[1] > best[1] ? next : best), ['nobody', 0] as [string, number])[0]
}

/**
 * Refuses an expectation about a belief that does not exist: it would fail, or worse hold, for no reason. What must be
 * there must exist by then; what must not be there may be created later in the file.
 */
export function refuseUnknownBeliefs(pack: Pack, file: string): void {
  const known = new Set(pack.beliefs.map(({ id }) => id))
  switch (pack.kind) {
    case 'retrieval':
      for (const { caseId, expect } of pack.cases)
        checkIds(expect, { place: `${file}: case "${caseId}"`, known, ever: known })
      return
    case 'session':
      checkSessions(pack.sessions, file, known)
  }
}

function checkSessions(
  sessions: Extract<Pack, { kind: 'session' }>['sessions'],
  file: string,
  inCorpus: ReadonlySet<string>,
): void {
  const updates = sessions.flatMap(({ turns }) => turns.flatMap((turn) => turn.updates))
  const ever = new Set([
    ...inCorpus,
    ...updates.flatMap((update) => (update.kind === 'create' ? [update.belief.id] : [])),
  ])
  const known = new Set(inCorpus)
  for (const { caseId, turns } of sessions) {
    for (const turn of turns) {
      const place = `${file}: case "${caseId}", turn ${turn.turnIndex}`
      checkIds(turn.expect, { place, known, ever })
      for (const update of turn.updates) {
        if (update.kind === 'create') {
          const { id } = update.belief
          if (known.has(id))
            throw invalid(
              `${place}: createBeliefAtTurn makes "${id}", which exists already.`,
              'Every belief needs an id of its own.',
            )
          known.add(id)
        } else if (!known.has(update.beliefId))
          throw unknownBelief(`${place}, updateBeliefAtTurn`, update.beliefId, ever.has(update.beliefId))
      }
    }
  }
}

function checkIds(
  expect: Expectations,
  { place, known, ever }: { place: string; known: ReadonlySet<string>; ever: ReadonlySet<string> },
): void {
  for (const [tier, lists] of Object.entries(expect)) {
    for (const [name, value] of Object.entries(lists ?? {})) {
      if (tier === 'personaPrelude' || !Array.isArray(value)) continue
      const mayComeLater = name === 'mustExclude' || name === 'mustNotSurface'
      const missing = value.flat().find((id: string) => !(mayComeLater ? ever : known).has(id))
      if (missing !== undefined) throw unknownBelief(`${place}, expect.${tier}.${name}`, missing, ever.has(missing))
    }
  }
}

const unknownBelief = (place: string, id: string, isCreatedLater: boolean): Error =>
  isCreatedLater
    ? invalid(
        `${place}: the belief "${id}" is created only later.`,
        'A belief can be expected from the turn after its creation on.',
      )
    : invalid(`${place}: there is no belief "${id}".`, 'Name a belief of the corpus, or one that a turn creates.')
