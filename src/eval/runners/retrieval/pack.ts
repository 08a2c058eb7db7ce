import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { mergeAliases } from '../../../beliefs/identity.ts'
import { findNearestName } from '../../../did-you-mean.ts'
import { invalid } from '../../../errors.ts'
import { readTextFile } from '../../../files/read-text.ts'
import { isObject } from '../../../json.ts'
import type { Budget } from '../../../memory/recall/context.ts'
import { type BeliefRecord, readRecords } from '../../../memory/transfer/belief-record.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { manifestOf, packFolders, parseJsonFile, refuseUnlike } from '../../pack/manifest.ts'
import { selectCases } from '../../run/run.ts'
import { manifestName } from '../../store/documents.ts'
import { Manifest } from '../../store/schemas/manifest.ts'
import type { BeliefUpdate, SaidInAll, SystemRecallOptions, SystemTurn } from '../../system/system.ts'
import type { PackPlace } from '../runner.ts'
import { readRetrievalCases, readSessionCases, readTurns } from './case-file.ts'
import { demandsSomething, type Expectations, expectsSomething } from './expectations.ts'

/** A corpus with its cases, checked and ready to run. */
export type Pack = {
  readonly kind: 'retrieval' | 'session'
  readonly id: string
  readonly title: string
  readonly beliefs: readonly BeliefRecord[]
  /** The turns, for cases that expect quotes. */
  readonly turns?: readonly SystemTurn[]
  /** The cases in order. Turns of sessions are cases too. */
  readonly cases: readonly AskedCase[]
  readonly recall: SystemRecallOptions
  /** The hash of everything that affects a result: the files and the recall options. */
  readonly hash: string
  readonly warnings: readonly string[]
  /** The paths of its files. */
  readonly places?: readonly string[]
}

/** One message with its expected answer: a single case, or a turn of a session. */
export type AskedCase = {
  /** The id of the case; `session#turn` for a turn. */
  readonly id: string
  readonly caseId: string
  readonly turnIndex: number | null
  /** The category of a case, or the label of a turn. */
  readonly group: string | null
  readonly description: string
  readonly user: string
  readonly scopes: readonly string[]
  readonly message: string
  readonly budget: Partial<Budget>
  readonly saidInAll?: SaidInAll | undefined
  readonly expect: Expectations
  /** Changes to the store after the turn was scored. */
  readonly updates: readonly BeliefUpdate[]
}

type PackFiles = Pick<Pack, 'kind' | 'id' | 'title'> & {
  readonly beliefsFile: string
  readonly casesFile: string
  readonly turnsFile?: string | undefined
  readonly defaultUser?: string | undefined
  readonly recall?: SystemRecallOptions | undefined
  /** Turns every warning into an error. */
  readonly strict?: boolean | undefined
}

/** Reads a corpus and its cases. Throws before anything runs if any part is invalid; the error names the file and the position. */
export function readPack(files: PackFiles): Pack {
  const { kind, id, title, beliefsFile, casesFile: file, recall = {}, strict = false } = files
  const beliefsText = readTextFile(beliefsFile)
  const casesText = readTextFile(file)
  const { beliefs, warnings: ofBeliefs } = readBeliefs(beliefsText, beliefsFile, files.defaultUser ?? 'nobody')
  const defaultUser = files.defaultUser ?? commonestUser(beliefs)
  const turnsText = files.turnsFile === undefined ? undefined : readTextFile(files.turnsFile)
  const turns = turnsText === undefined ? [] : readTurns(files.turnsFile as string, turnsText)
  const hash = createHash('sha256')
    .update(JSON.stringify([beliefsText, casesText, recall, ...(turnsText === undefined ? [] : [turnsText])]))
    .digest('hex')
  const value = parseJsonFile(file, casesText)
  const { cases, warnings: ofCases } =
    kind === 'session' ? readSessions(file, value, { defaultUser, beliefs }) : readCases(file, value, defaultUser)
  const idle = cases.filter(({ expect }) => !demandsSomething(expect))
  const warnings = [
    ...ofBeliefs,
    ...ofCases,
    ...idle.map((asked) => `${casePlaceOf(file, asked)} checks nothing: no answer could fail it.`),
  ]
  if (strict && warnings.length > 0)
    throw invalid(warnings.join('\n'), 'Correct the file, or run without --strict to see this as a warning.')
  refuseUnknownBeliefs(beliefs, cases, file)
  refuseUnknownTurns(turns, cases, file)
  const places = [beliefsFile, file, ...(files.turnsFile === undefined ? [] : [files.turnsFile])]
  return { kind, id, title, beliefs, turns, cases, recall, hash, warnings, places }
}

const casePlaceOf = (file: string, { caseId, turnIndex }: Pick<AskedCase, 'caseId' | 'turnIndex'>): string =>
  `${file}: case "${caseId}"${turnIndex === null ? '' : `, turn ${turnIndex}`}`

function readCases(file: string, value: unknown, defaultUser: string) {
  const { cases, warnings } = readRetrievalCases(file, value)
  return { cases: cases.map((asked) => ({ ...asked, user: asked.user ?? defaultUser })), warnings }
}

function readSessions(
  file: string,
  value: unknown,
  { defaultUser, beliefs }: { readonly defaultUser: string; readonly beliefs: readonly BeliefRecord[] },
) {
  const { cases: sessions, warnings } = readSessionCases(file, value)
  const all = [...warnings]
  const created = new Set(sessions.flatMap(({ turns }) => turns.flatMap(({ createBelief }) => idIn(createBelief))))
  const now = new Map(beliefs.map((belief) => [belief.id, belief]))
  const cases = sessions.flatMap(({ caseId, description, user: own, turns }) => {
    const user = own ?? defaultUser
    return turns.map(({ createBelief, updateBelief, label, ...turn }): AskedCase => {
      const place = casePlaceOf(file, { caseId, ...turn })
      const source = `${place}, createBeliefAtTurn`
      const made = readBeliefs(createBelief === null ? '[]' : JSON.stringify([createBelief]), source, user)
      all.push(...made.warnings)
      const updates: BeliefUpdate[] = made.beliefs.map((belief) => ({ kind: 'create', belief }))
      for (const { id } of made.beliefs)
        if (now.has(id)) throw invalid(`${place}: createBeliefAtTurn makes "${id}", which exists already.`, ownId)
      for (const belief of made.beliefs) now.set(belief.id, belief)
      if (updateBelief !== null) {
        const { beliefId, addAliases = [], setContent, setCanonicalName } = updateBelief
        const old = now.get(beliefId)
        if (old === undefined) throw unknownBelief(`${place}, updateBeliefAtTurn`, beliefId, created.has(beliefId))
        const name = setCanonicalName ?? old.name
        const aliases = mergeAliases(name, old.aliases, addAliases)
        const belief = { ...old, name, aliases, content: setContent ?? old.content }
        updates.push({ kind: 'replace', belief })
        now.set(beliefId, belief)
      }
      return { ...turn, id: `${caseId}#${turn.turnIndex}`, caseId, group: label, description, user, updates }
    })
  })
  return { cases, warnings: all }
}

const idIn = (written: unknown): readonly unknown[] => (isObject(written) ? [written._id ?? written.id] : [])

/** Beliefs without times get a fixed time, so that the same file always gives the same result. */
function readBeliefs(text: string, source: string, user: string) {
  let unnamed = 0
  const clock = { now: () => new Date(0), newId: () => `unnamed-${++unnamed}` }
  const { records, warnings } = readRecords(clock, { text, source, user, scopes: [] })
  const places = new Map<string, string>()
  for (const { place, record } of records) {
    const earlier = places.get(record.id)
    if (earlier !== undefined) throw invalid(`${place}: the id "${record.id}" was used before, at ${earlier}.`, ownId)
    places.set(record.id, place)
  }
  return { beliefs: records.map(({ record }) => record), warnings }
}

const ownId = 'Every belief needs a unique id.'

/** Published case files omit the user and mean the user with the most beliefs. */
function commonestUser(beliefs: readonly BeliefRecord[]): string {
  const users = [...Map.groupBy(beliefs, ({ user }) => user)]
  const [first] = users.sort(([, a], [, b]) => b.length - a.length)
  return first?.[0] ?? 'nobody'
}

/** Rejects an expectation about a belief that does not exist. A belief that must be absent may be created later in the file. */
function refuseUnknownBeliefs(beliefs: readonly BeliefRecord[], cases: readonly AskedCase[], file: string): void {
  const known = new Set(beliefs.map(({ id }) => id))
  const ever = new Set([...known, ...cases.flatMap(({ updates }) => updates.map(({ belief }) => belief.id))])
  for (const asked of cases) {
    checkIds(asked.expect, casePlaceOf(file, asked), known, ever)
    for (const { belief } of asked.updates) known.add(belief.id)
  }
}

function checkIds(expect: Expectations, place: string, known: ReadonlySet<string>, ever: ReadonlySet<string>): void {
  for (const [tier, lists] of Object.entries(expect)) {
    for (const [name, value] of Object.entries(lists ?? {})) {
      if (tier === 'personaPrelude' || tier === 'quotes' || !Array.isArray(value)) continue
      const mayComeLater = name === 'mustExclude' || name === 'mustNotSurface'
      const missing = value.flat().find((id: string) => !(mayComeLater ? ever : known).has(id))
      if (missing !== undefined) throw unknownBelief(`${place}, expect.${tier}.${name}`, missing, ever.has(missing))
    }
  }
}

function refuseUnknownTurns(turns: readonly SystemTurn[], cases: readonly AskedCase[], file: string): void {
  const known = new Set(turns.map(({ id }) => id))
  for (const asked of cases) {
    const { mustInclude = [], mustExclude = [], orderedBefore = [] } = asked.expect.quotes ?? {}
    const named = [...[...mustInclude, ...mustExclude].map(({ turn }) => turn), ...orderedBefore.flat()]
    const missing = named.find((turn) => !known.has(turn))
    if (missing === undefined) continue
    throw invalid(
      `${casePlaceOf(file, asked)}, expect.quotes: there is no turn "${missing}".`,
      'Name a turn of the file that `files.turns` of the manifest names.',
    )
  }
}

const unknownBelief = (place: string, id: string, isCreatedLater: boolean): Error =>
  isCreatedLater
    ? invalid(
        `${place}: the belief "${id}" is created only later.`,
        'A belief can be expected from the turn after its creation on.',
      )
    : invalid(`${place}: there is no belief "${id}".`, 'Name a belief of the corpus, or one that a turn creates.')

/** `calibration` is a retrieval pack for choosing settings, so it does not count for results. */
export const recallRunnerNames = ['retrieval', 'session', 'calibration'] as const

type ReadOptions = {
  readonly strict?: boolean
  readonly recall?: SystemRecallOptions
}

/** Folders below `directory` with packs of these kinds, by name. Leaves out packs with turns, because other systems do not quote. */
export const findPacks = (directory: string): readonly string[] =>
  packFolders(directory).filter((folder) => {
    const { runner, files } = manifestOf(folder)
    return files?.turns === undefined && recallRunnerNames.some((known) => known === runner)
  })

/** Reads one pack. Warnings are errors by default, as our own packs require. */
export const loadPack = (directory: string, { strict = true, recall = {} }: ReadOptions = {}) =>
  readFolder({ directory, manifest: manifestOf(directory) }, { strict, recall })

/** Reads the corpus and the cases that a manifest names. */
export function readFolder(place: PackPlace, { strict = false, recall = {} }: ReadOptions = {}) {
  const { directory, manifest } = place
  const file = join(directory, manifestName)
  const { beliefs, cases, turns } = manifest.files ?? {}
  const runner = recallRunnerNames.find((name) => name === manifest.runner)
  if (runner === undefined)
    throw invalid(`${file}: runner is "${manifest.runner}".`, `Use one of ${recallRunnerNames.join(', ')}.`)
  if (beliefs === undefined || cases === undefined)
    throw invalid(`${file}: files.${beliefs === undefined ? 'beliefs' : 'cases'} is missing.`, 'See docs/retrieval.md.')
  const misspelt = misspeltFields(file, manifest)
  if (strict && misspelt.length > 0) throw invalid(misspelt.join('\n'), 'See docs/retrieval.md for the format.')
  const pack = readPack({
    kind: runner === 'session' ? 'session' : 'retrieval',
    id: manifest.benchmarkId,
    title: manifest.title,
    beliefsFile: join(directory, beliefs),
    casesFile: join(directory, cases),
    turnsFile: turns && join(directory, turns),
    defaultUser: manifest.defaultUser,
    recall: omitUndefined({ editedPins: recall.editedPins ?? manifest.recall?.editedPins }),
    strict,
  })
  refuseUnlike(place, contentOf(pack).cases)
  return { directory, runner, pack: { ...pack, warnings: [...misspelt, ...pack.warnings] } }
}

/** Unknown fields are kept, but a field that resembles a known name is reported as a probable typo. */
function misspeltFields(file: string, manifest: Manifest): readonly string[] {
  const known = Object.keys(Manifest.shape)
  return Object.keys(manifest).flatMap((name) => {
    const meant = known.includes(name) ? undefined : findNearestName(name, known)
    return meant === undefined ? [] : [`${file}: manifest: ${name} is not a known field; did you mean ${meant}?`]
  })
}

/** The beliefs that sessions create. */
export const createdIn = ({ cases }: Pick<Pack, 'cases'>): readonly BeliefRecord[] =>
  cases.flatMap(({ updates }) => updates.flatMap(({ kind, belief }) => (kind === 'create' ? [belief] : [])))

/** The ids of the cases with `text` in their id, message, category or description. */
export function casesContaining(pack: Pack, text: string): ReadonlySet<string> {
  const { cases } = contentOf(pack)
  const words = new Map(cases.map((asked) => [asked.id, asked.words]))
  return new Set(selectCases({ manifest: { cases }, words }, { filter: text }))
}

/** A pack in the form that the runner needs. Turns of sessions keep their order. */
export const contentOf = (pack: Pack) => ({
  pack,
  places: pack.places ?? [],
  warnings: pack.warnings,
  isShuffled: pack.kind === 'retrieval',
  cases: pack.cases.map(({ id, message, expect, group, description }) => ({
    id,
    prompt: message,
    expectsSomething: expectsSomething(expect),
    words: [group ?? '', description],
  })),
})
