/**
 * Trains the ranking of turns: `node scripts/train-ranking.ts <data> [--cache DIR] [--only vectors|words] [--write]`. Reads development data from
 * outside the repository (`training-data.ts`), computes the features with the code of the product, fits the three linear
 * models of docs/ranking.md, and prints the results of cross-validation by person as Markdown. With `--write` it also writes
 * src/search/turns/weights.json. Everything is deterministic: Newton's method on convex losses, and no random number but
 * those of the data's fixed seeds.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { hear } from '../src/memory/conversation/hear.ts'
import { embedTexts, meaningOf } from '../src/memory/conversation/meaning.ts'
import { openMiniLm } from '../src/search/minilm/minilm.ts'
import { type Candidates, findCandidates, type Ranking, type SearchedIndex } from '../src/search/turns/candidates.ts'
import { type Change, compareChanges, updateValues } from '../src/search/turns/change.ts'
import {
  changeFeatures,
  maxConsidered,
  pushFeatures,
  pushValues,
  type RankFeature,
  rankFeatures,
  rankValues,
  updateFeatures,
  type Values,
} from '../src/search/turns/features.ts'
import { type Levels, type MessageKind, type Model, models, type UpdateLimits } from '../src/search/turns/model.ts'
import { type Nearness, nearnessOf } from '../src/search/turns/nearness.ts'
import {
  chooseLines,
  decide,
  mayQuote,
  type PushDecision,
  type PushLine,
  rankQuotable,
  sigmoid,
} from '../src/search/turns/push.ts'
import { dateWindow, parseQuestion, type Question } from '../src/search/turns/question.ts'
import { quoteTurns } from '../src/search/turns/quotes.ts'
import { type PlacedMessage, placeFirst, type ScoredMessage, scoreMessages } from '../src/search/turns/rank.ts'
import type { TurnView } from '../src/search/turns/turn-index.ts'
import { inMemory } from '../src/store/sqlite/database.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import { type Asked, type Conversation, type Family, readConversations, storedVectors } from './training-data.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cache: { type: 'string', default: '' },
    write: { type: 'boolean' },
    drop: { type: 'string', multiple: true, default: [] },
    only: { type: 'string' },
  },
})
const [data] = positionals
if (data === undefined) {
  console.error('Name the folder of development data: node scripts/train-ranking.ts <data>')
  process.exit(2)
}
const conversations = readConversations(data)
if (conversations.length === 0) {
  console.log(`There is no development data in ${data}; nothing was trained.`)
  process.exit(0)
}

/** A message with its candidates and their features. `gold` and the others are ids of turns. */
type Row = {
  readonly asked: Pick<Asked, 'id' | 'kind' | 'message'>
  readonly family: Family
  readonly fold: string
  readonly gold: ReadonlySet<string>
  readonly fine: ReadonlySet<string>
  readonly outdated: ReadonlySet<string>
  readonly question: Question
  readonly found: Candidates
  readonly values: readonly Values<RankFeature>[]
  /** Whether recall is trained and measured with this message. */
  readonly isRecalled: boolean
  /** For recall: the candidates that may be quoted, with the terms of the message. */
  readonly quotable: Candidates
  readonly ranking: Ranking
  readonly index: SearchedIndex
  readonly changes: (first: readonly ScoredMessage[]) => Promise<readonly Change[]>
}

/** One model for stores with sentence vectors, and one for words alone. */
type ModelName = 'vectors' | 'words'
const modelNames = (['vectors', 'words'] as const).filter((name) => (options.only ?? name) === name)

const author = { actor: 'person', origin: 'training' } as const
const user = 'trained'
const scopes = ['user:universal']
const view: TurnView = { user, scopes }
const embedder = options.cache === '' ? await openMiniLm() : storedVectors(await openMiniLm(), options.cache)
/**
 * The number of folds. Each fold leaves out a part of every family of conversations: one life, one dialogue, and a
 * third of the others, so that no person is in both the training data and the results of a fold.
 */
const folds = 3
/** One in this many LoCoMo questions becomes a message for training recall. */
const locomoEvery = 4

/** Caches every read of an index, because training repeats the same reads for every fold. */
function remembered(index: SearchedIndex): SearchedIndex {
  const known = new Map<string, unknown>()
  const once = async <Value>(key: readonly unknown[], read: () => Promise<Value>): Promise<Value> => {
    const name = JSON.stringify(key)
    if (!known.has(name)) known.set(name, await read())
    return known.get(name) as Value
  }
  return {
    ...index,
    turnPostings: (given, terms) => once(['postings', given, terms], () => index.turnPostings(given, terms)),
    vectorsAt: (owner, model, rows) => once(['vectors', rows], () => index.vectorsAt(owner, model, rows)),
    unitsAround: (given, rows, reach) => once(['units', rows, reach], () => index.unitsAround(given, rows, reach)),
    turnsAt: (owner, rows) => once(['turns', rows], () => index.turnsAt(owner, rows)),
  }
}

/** The rows of a conversation and of unrelated messages of other people, with vectors and by words alone. */
async function rowsOf(conversation: Conversation, foreign: readonly Asked[]): Promise<Record<ModelName, Row[]>> {
  const { family, id, turns } = conversation
  const store = openSqliteStore({ file: inMemory, random: randomBytes })
  let made = 0
  const ports = {
    store,
    now: () => new Date(turns.at(-1)?.at ?? 0),
    newId: () => {
      made += 1
      return `n-${made}`
    },
    embedder: async () => embedder,
  }
  const heard = await hear(ports, {
    user,
    author,
    agent: null,
    view: scopes,
    scopes,
    learn: 'nothing',
    maxTurnCharacters: 1e7,
    turns: turns.map(({ speaker, ...turn }) => ({ ...turn, ...(speaker === null ? {} : { speaker }) })),
  })
  await embedTexts(ports, { user })
  const ids = heard.turns.map(({ turn }) => turn?.id ?? '')
  const setOf = (places: readonly number[]): ReadonlySet<string> => new Set(places.map((place) => ids[place] as string))
  const ofFamily = conversations.filter((one) => one.family === family)
  const fold = String(ofFamily.indexOf(conversation) % folds)
  const speakers = await store.turnSpeakers(view)
  const index = remembered(store)
  const rows: Record<ModelName, Row[]> = { vectors: [], words: [] }
  for (const [place, asked] of [...conversation.asked, ...foreign].entries()) {
    const isForeign = foreign.includes(asked)
    const isRecalled = isForeign || family === 'life' || (family === 'locomo' && place % locomoEvery === 0)
    const question = parseQuestion(asked.message, speakers)
    const dates = isForeign ? null : await dateWindow(asked.message, new Date(asked.at))
    const meaning = await meaningOf(embedder, question, asked.message)
    for (const name of modelNames) {
      const ranking = { view, question, dates, ...(name === 'vectors' ? { meaning } : {}) }
      const found = await findCandidates(store, ranking)
      const mayRank = mayQuote(question)
      const isSame = !isRecalled || found.messages.every(({ unit }) => mayRank(unit))
      const quotable = isSame ? found : await findCandidates(store, { ...ranking, mayRank })
      rows[name].push({
        asked,
        family,
        fold,
        question,
        found,
        quotable,
        ranking,
        index,
        isRecalled,
        gold: setOf(asked.gold),
        fine: setOf([...asked.gold, ...asked.also]),
        outdated: setOf(asked.outdated),
        values: rankValues(found, question),
        changes: (first) => compareChanges(index, first, { ...ranking, terms: found.terms }),
      })
    }
  }
  console.error(`${id}: ${rows[modelNames[0] as ModelName].length} messages`)
  return rows
}

type Matrix = readonly (readonly number[])[]
/** A question: rows of features, which of them are right, an offset for each, and the weight of the question. */
type Choice = {
  readonly rows: Matrix
  readonly isRight: readonly boolean[]
  readonly offsets: readonly number[]
  readonly weight: number
}

/** Solves a positive definite system by elimination. */
function solve(matrix: readonly ArrayLike<number>[], vector: readonly number[]): number[] {
  const size = vector.length
  const rows = matrix.map((row, at) => [...Array.from(row), vector[at] as number])
  for (let pivot = 0; pivot < size; pivot += 1) {
    const own = rows[pivot] as number[]
    for (let other = pivot + 1; other < size; other += 1) {
      const row = rows[other] as number[]
      const factor = (row[pivot] as number) / (own[pivot] as number)
      for (let at = pivot; at <= size; at += 1) row[at] = (row[at] as number) - factor * (own[at] as number)
    }
  }
  const solution = new Array<number>(size).fill(0)
  for (let at = size - 1; at >= 0; at -= 1) {
    const row = rows[at] as number[]
    let rest = row[size] as number
    for (let other = at + 1; other < size; other += 1) rest -= (row[other] as number) * (solution[other] as number)
    solution[at] = rest / (row[at] as number)
  }
  return solution
}

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((total, value, at) => total + value * (b[at] as number), 0)

function deviations(rows: Matrix): { readonly mean: number[]; readonly sd: number[] } {
  const width = rows[0]?.length ?? 0
  const mean = Array.from(
    { length: width },
    (_, at) => rows.reduce((total, row) => total + (row[at] as number), 0) / rows.length,
  )
  const sd = mean.map(
    (middle, at) =>
      Math.sqrt(rows.reduce((total, row) => total + ((row[at] as number) - middle) ** 2, 0) / rows.length) || 1,
  )
  return { mean, sd }
}

/** Adds a vector's product with itself to the lower half of a matrix. */
function addProduct(matrix: readonly Float64Array[], vector: readonly number[], factor: number): void {
  for (const [f, value] of vector.entries()) {
    const row = matrix[f] as Float64Array
    for (let g = 0; g <= f; g += 1) row[g] = (row[g] as number) + factor * value * (vector[g] as number)
  }
}

function mirrorLower(matrix: readonly Float64Array[]): void {
  for (const [f, row] of matrix.entries())
    for (let g = 0; g < f; g += 1) (matrix[g] as Float64Array)[f] = row[g] as number
}

/** Minimises Σ weight · mean over right rows of −log softmax + l2/2 |w|², features divided by their deviation: damped Newton. */
function fitChoices(all: readonly Choice[], l2: number): readonly number[] {
  const choices = all.filter(({ isRight }) => isRight.includes(true) && isRight.includes(false))
  const { sd } = deviations(choices.flatMap(({ rows }) => rows))
  const scaled = choices.map((choice) => ({
    ...choice,
    rows: choice.rows.map((row) => row.map((value, at) => value / (sd[at] as number))),
  }))
  const width = sd.length
  let weights = new Array<number>(width).fill(0)
  const evaluate = (w: readonly number[], isFull: boolean) => {
    let loss = (l2 / 2) * dot(w, w)
    const gradient = w.map((value) => l2 * value)
    const hessian = w.map((_, at) => Float64Array.from(w, (__, other) => (at === other ? l2 : 0)))
    for (const { rows, isRight, offsets, weight } of scaled) {
      const scores = rows.map((row, at) => dot(row, w) + (offsets[at] as number))
      const top = Math.max(...scores)
      const raised = scores.map((score) => Math.exp(score - top))
      const total = raised.reduce((a, b) => a + b, 0)
      const right = rows.filter((_, at) => isRight[at])
      const rightScore = scores.filter((_, at) => isRight[at]).reduce((a, b) => a + b, 0) / right.length
      loss -= weight * (rightScore - top - Math.log(total))
      if (!isFull) continue
      const mean = new Array<number>(width).fill(0)
      for (const [at, row] of rows.entries())
        for (let f = 0; f < width; f += 1)
          mean[f] = (mean[f] as number) + ((raised[at] as number) / total) * (row[f] as number)
      for (let f = 0; f < width; f += 1) {
        const aimed = right.reduce((a, row) => a + (row[f] as number), 0) / right.length
        gradient[f] = (gradient[f] as number) + weight * ((mean[f] as number) - aimed)
      }
      for (const [at, row] of rows.entries()) addProduct(hessian, row, weight * ((raised[at] as number) / total))
      addProduct(hessian, mean, -weight)
    }
    mirrorLower(hessian)
    return { loss, gradient, hessian }
  }
  for (let round = 0; round < 60; round += 1) {
    const { loss, gradient, hessian } = evaluate(weights, true)
    const step = solve(hessian, gradient)
    let size = 1
    const moved = () => weights.map((value, at) => value - size * (step[at] as number))
    while (evaluate(moved(), false).loss > loss - 1e-4 * size * dot(gradient, step) && size > 1e-4) size /= 2
    weights = moved()
    if (Math.max(...step.map((value) => Math.abs(size * value))) < 1e-5) break
  }
  return weights.map((value, at) => value / (sd[at] as number))
}

type Label = { readonly row: readonly number[]; readonly isRight: boolean; readonly weight: number }

/** Logistic regression with an l2 penalty on all but the bias, which comes last. */
function fitLogistic(labels: readonly Label[], l2: number): readonly number[] {
  const { mean, sd } = deviations(labels.map(({ row }) => row))
  const rows = labels.map(({ row }) => [
    ...row.map((value, at) => (value - (mean[at] as number)) / (sd[at] as number)),
    1,
  ])
  const width = mean.length + 1
  let weights = new Array<number>(width).fill(0)
  for (let round = 0; round < 50; round += 1) {
    const penalty = (at: number): number => (at === width - 1 ? 1e-6 : l2)
    const gradient = weights.map((value, at) => penalty(at) * value)
    const hessian = weights.map((_, at) => Float64Array.from(weights, (__, other) => (at === other ? penalty(at) : 0)))
    for (const [at, row] of rows.entries()) {
      const { isRight, weight } = labels[at] as Label
      const p = sigmoid(dot(row, weights))
      for (let f = 0; f < width; f += 1)
        gradient[f] = (gradient[f] as number) + weight * (p - Number(isRight)) * (row[f] as number)
      addProduct(hessian, row, weight * p * (1 - p))
    }
    mirrorLower(hessian)
    const step = solve(hessian, gradient)
    weights = weights.map((value, at) => value - (step[at] as number))
    if (Math.max(...step.map(Math.abs)) < 1e-6) break
  }
  const scaled = weights.slice(0, -1).map((value, at) => value / (sd[at] as number))
  return [...scaled, (weights.at(-1) as number) - dot(scaled, mean)]
}

/** Penalties. Chosen by hand, not by a search. */
const penalties = { rank: 3, change: 1, push: 2, update: 1 }
/** A changed fact weighs as much as this many questions: an outdated first hit is worse than a right one in second place. */
const changedWeight = 4
const isChanged = ({ asked, outdated }: Row): boolean =>
  outdated.size > 0 && ['changed', 'knowledge-update'].includes(asked.kind)
/** Weights of messages in recall: most messages of a day need no memory; a near miss is a small harm. */
const messageWeights: Readonly<Record<string, number>> = { foreign: 0.3, 'never-told': 0.6, unrelated: 3 }
const locomoWeight = 0.4

const named = <Name extends string>(names: readonly Name[], values: readonly number[]): Record<Name, number> =>
  Object.fromEntries(names.map((name, at) => [name, round(values[at] as number)])) as Record<Name, number>
const round = (value: number): number => Math.round(value * 1_000) / 1_000
const isUsed = (feature: string): boolean => !options.drop.includes(feature)
const listed = <Name extends string>(names: readonly Name[], values: Values<Name>): readonly number[] =>
  names.map((name) => (isUsed(name) ? values[name] : 0))

const scored = (row: Row, model: Pick<Model, 'rank'>): readonly ScoredMessage[] =>
  scoreMessages(row.found, row.question, model, row.values)
type Trained = Pick<Model, 'rank' | 'change' | 'push' | 'update'>

async function placed(
  row: Row,
  all: readonly ScoredMessage[],
  { change }: Pick<Model, 'change'>,
): Promise<readonly PlacedMessage[]> {
  const first = all.slice(0, maxConsidered)
  const rest = all.slice(maxConsidered).map((one) => ({ ...one, isEarlier: false }))
  return [...placeFirst(first, await row.changes(first), change), ...rest]
}

async function trainRanking(rows: readonly Row[]): Promise<Pick<Model, 'rank' | 'change'>> {
  const needing = rows.filter(({ fine }) => fine.size > 0)
  const families = Map.groupBy(needing, ({ family }) => family)
  const familyWeight = (row: Row): number => needing.length / families.size / (families.get(row.family)?.length ?? 1)
  const rank = named(
    rankFeatures,
    fitChoices(
      needing.map((row) => ({
        rows: row.values.map((values) => listed(rankFeatures, values)),
        isRight: row.found.messages.map(({ turn }) => row.gold.has(turn.id)),
        offsets: row.values.map(() => 0),
        weight: familyWeight(row),
      })),
      penalties.rank,
    ),
  )
  const changeChoices: Choice[] = []
  for (const row of needing) {
    const first = scored(row, { rank }).slice(0, maxConsidered)
    const changes = await row.changes(first)
    changeChoices.push({
      rows: changes.map(({ values }) => listed(changeFeatures, values)),
      isRight: first.map(({ candidate }) => row.gold.has(candidate.turn.id)),
      offsets: first.map(({ score }) => score),
      weight: familyWeight(row) * (isChanged(row) ? changedWeight : 1),
    })
  }
  const change = named(changeFeatures, fitChoices(changeChoices, penalties.change))
  return { rank, change }
}

async function train(rows: readonly Row[]): Promise<Trained> {
  const { rank, change } = await trainRanking(rows)
  const labels: Label[] = []
  const updateChoices: Choice[] = []
  for (const row of rows.filter(({ isRecalled }) => isRecalled)) {
    const ranked = await rankQuotable(row.index, row.ranking, row.quotable, { rank, change })
    if (isChanged(row)) updateChoices.push(...(await choicesOfUpdates(row, ranked)))
    const values = pushValues(ranked, row.quotable.terms, row.question, await nearnessIn(row, ranked))
    for (const [place, value] of values.slice(0, maxConsidered).entries()) {
      const id = ranked[place]?.candidate.turn.id as string
      const weight = (row.family === 'locomo' ? locomoWeight : 1) * (messageWeights[row.asked.kind] ?? 1)
      if (!row.outdated.has(id)) labels.push({ row: listed(pushFeatures, value), isRight: row.fine.has(id), weight })
    }
  }
  const push = named([...pushFeatures, 'bias'] as const, fitLogistic(labels, penalties.push))
  const update = named(updateFeatures, fitChoices(updateChoices, penalties.update))
  return { rank, change, push, update }
}

const knownNearness = new Map<Row, Map<string, Nearness>>()

/** The nearness of the first turns of a row. It does not depend on the fold. */
async function nearnessIn(row: Row, ranked: readonly PlacedMessage[]): Promise<readonly Nearness[]> {
  const known = knownNearness.get(row) ?? new Map<string, Nearness>()
  knownNearness.set(row, known)
  const first = ranked.slice(0, maxConsidered).map(({ candidate }) => candidate)
  const missing = first.filter(({ turn }) => !known.has(turn.id))
  const found = (await nearnessOf(row.index, row.ranking, missing, row.quotable.terms)) ?? []
  for (const [at, nearness] of found.entries()) known.set((missing[at] as (typeof missing)[number]).turn.id, nearness)
  return first.flatMap(({ turn }) => known.get(turn.id) ?? [])
}

/** For each outdated turn that was found, the newer turns: those with the current value are right. */
async function choicesOfUpdates(row: Row, ranked: readonly PlacedMessage[]): Promise<readonly Choice[]> {
  const isIn = (ids: ReadonlySet<string>, place: number): boolean =>
    ids.has((ranked[place] as PlacedMessage).candidate.turn.id)
  const outdated = [...ranked.keys()].filter((place) => isIn(row.outdated, place))
  const found = await updateValues(row.index, ranked, outdated, { ...row.ranking, terms: row.quotable.terms })
  return [...found.values()].map((newer) => ({
    rows: newer.map(({ values }) => listed(updateFeatures, values)),
    isRight: newer.map(({ place }) => isIn(row.fine, place)),
    offsets: newer.map(() => 0),
    weight: 1,
  }))
}

type Result = {
  readonly row: Row
  /** Ids of turns in the order of a search, and without the model of changes. */
  readonly ids: readonly string[]
  readonly idsOfRanking: readonly string[]
  readonly decision: PushDecision
  readonly lines: (levels: Levels, limits: UpdateLimits) => readonly ShownLine[]
}
const notRecalled = (model: Model): PushDecision => ({
  ranked: [],
  explanations: [],
  probabilities: [],
  probability: 0,
  isQuestion: true,
  likely: [],
  model,
  updates: new Map(),
})
type ShownLine = Pick<PushLine, 'level'> & { readonly id: string }

async function resultOf(name: ModelName, row: Row, trained: Trained): Promise<Result> {
  const model = { ...models[name], ...trained }
  const ranking = scored(row, model)
  const decision = row.isRecalled
    ? await decide(row.index, row.ranking, row.quotable, { vectors: model, words: model }, () => 0)
    : notRecalled(model)
  const { ranked } = decision
  const idsOf = (list: readonly ScoredMessage[]) => list.map(({ candidate }) => candidate.turn.id)
  const ids = idsOf(await placed(row, ranking, model))
  const places = row.family === 'life' ? [...ranked.keys()] : []
  const quotes = await quoteTurns(row.index, row.ranking, row.quotable, decision, places, row.asked.message)
  const lines = (levels: Levels, limits: UpdateLimits): readonly ShownLine[] =>
    chooseLines(decision, levels, limits).lines.map(({ place, level }) => ({
      id: (ranked[place] as PlacedMessage).candidate.turn.id,
      level: quotes.get(place)?.perhapsPasted === true ? 'perhaps' : level,
    }))
  return { row, ids, idsOfRanking: idsOf(ranking), decision, lines }
}

const count = <Item>(items: readonly Item[], isCounted: (item: Item) => boolean): number =>
  items.filter(isCounted).length
const percent = (value: number): string => (100 * value).toFixed(1)
const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`

function searchTable(results: readonly Result[]): string {
  const rankIn = (ids: readonly string[], wanted: ReadonlySet<string>): number => {
    const at = ids.findIndex((id) => wanted.has(id))
    return at < 0 ? Number.POSITIVE_INFINITY : at + 1
  }
  const groups = Map.groupBy(
    results.filter(({ row }) => row.fine.size > 0),
    ({ row }) => `${row.family} ${row.asked.kind}`,
  )
  const families = Map.groupBy(
    results.filter(({ row }) => row.fine.size > 0),
    ({ row }) => `${row.family}, all`,
  )
  const shownGroups = [...groups].filter(([, some]) => some.some(({ row }) => row.family === 'life' || isChanged(row)))
  const rows = [...shownGroups, ...families]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, some]) => {
      const at = (place: number) => count(some, ({ ids, row }) => rankIn(ids, row.fine) <= place)
      const recall =
        some.reduce(
          (total, { ids, row }) => total + count([...row.gold], (id) => ids.slice(0, 10).includes(id)) / row.gold.size,
          0,
        ) / some.length
      const mrr = some.reduce((total, { ids, row }) => total + 1 / rankIn(ids, row.fine), 0) / some.length
      const plain =
        some.reduce((total, { idsOfRanking, row }) => total + 1 / rankIn(idsOfRanking, row.fine), 0) / some.length
      const newest = count(
        some,
        ({ ids, row }) => rankIn(ids, row.fine) <= 10 && rankIn(ids, row.fine) < rankIn(ids, row.outdated),
      )
      return line([
        name,
        some.length,
        at(1),
        at(5),
        at(10),
        percent(recall),
        percent(mrr),
        percent(plain),
        some.some(({ row }) => isChanged(row)) ? newest : '',
      ])
    })
  return [
    line(['search', 'n', '@1', '@5', '@10', 'R@10', 'MRR', 'MRR without change', 'newest first']),
    '|---|---:|---:|---:|---:|---:|---:|---:|---:|',
    ...rows,
  ].join('\n')
}

type Shown = { readonly fires: number; readonly right: number; readonly outdated: number; readonly lines: number }

/** Counts the messages of some results that show something, the right turn, or an outdated one without it. */
function countShown(results: readonly Result[], linesOfResult: (result: Result) => readonly ShownLine[]): Shown {
  let fires = 0
  let right = 0
  let outdated = 0
  let lines = 0
  for (const result of results) {
    const shown = linesOfResult(result)
    const hasRight = shown.some(({ id }) => result.row.fine.has(id))
    fires += Number(shown.length > 0)
    right += Number(hasRight)
    outdated += Number(!hasRight && shown.some(({ id }) => result.row.outdated.has(id)))
    lines += shown.length
  }
  return { fires, right, outdated, lines }
}

const isSureLine = ({ level }: ShownLine): boolean => level === 'sure'

type LevelsByKind = Model['levels']['normal']
const kindOf = ({ row }: Result): MessageKind => (row.question.isQuestion ? 'question' : 'request')
function recallTable(measured: readonly Result[], calibrationOf: (result: Result) => Calibration): string {
  const results = measured.filter(({ row }) => row.isRecalled)
  const shownIn = (one: Result): readonly ShownLine[] => {
    const { levels, limits } = calibrationOf(one)
    return one.lines(levels.normal[kindOf(one)], limits[kindOf(one)])
  }
  const groups = Map.groupBy(results, ({ row }) =>
    row.asked.kind === 'foreign'
      ? `${row.family}, messages of other people`
      : row.family === 'life'
        ? row.asked.kind
        : row.family,
  )
  const needing = results.filter(({ row }) => row.family === 'life' && row.fine.size > 0)
  const rows = [...groups, ['lives, all that need memory', needing] as const].map(([name, some]) => {
    const sure = countShown(some, (one) => shownIn(one).filter(isSureLine))
    const all = countShown(some, shownIn)
    const cells = [sure, all].flatMap(({ fires, right, outdated }) => [fires, right, outdated])
    return line([name, some.length, ...cells, all.fires === 0 ? '' : (all.lines / all.fires).toFixed(1)])
  })
  const titles = ['shows', 'right', 'outdated alone']
  return [
    line([
      'recall',
      'messages',
      ...titles.map((title) => `sure: ${title}`),
      ...titles.map((title) => `all: ${title}`),
      'lines',
    ]),
    '|---|---:|---:|---:|---:|---:|---:|---:|---:|',
    ...rows,
  ].join('\n')
}

/** Max share of messages with a line that should have none, by kind: sure lines, all lines, and all lines if eager. */
const maxFalse = {
  unrelated: { sure: 0.02, normal: 0.06, eager: 0.15 },
  'never-told': { sure: 0.1, normal: 0.4, eager: 0.6 },
}
type Strictness = 'sure' | 'normal' | 'eager'
/** The max number of messages that show a line although they should show none. */
type Budget = Readonly<Record<keyof typeof maxFalse, number>>
/** Max share of the messages with outdated turns for which an outdated turn is shown without the newest. */
const maxOutdated = 0.05

type Calibration = Pick<Model, 'levels' | 'limits'>

/**
 * The probabilities of messages that show a line if their probability is reached: a false, a right or an outdated one.
 * `changed`: an outdated one about a changed fact.
 */
type Reaching = Readonly<Record<keyof typeof maxFalse | 'right' | keyof MostOutdated, readonly number[]>>
type MostOutdated = { readonly outdated: number; readonly changed: number }
/** The lines that messages of one kind show under certain limits of updates. */
type Possible = { readonly limits: UpdateLimits; readonly any: Reaching; readonly sure: Reaching }
type Chosen = { readonly possible: Possible; readonly sure: number; readonly normal: number }

function reachingOf(results: readonly Result[], linesOfResult: (result: Result) => readonly ShownLine[]): Reaching {
  const shown = results.map((one) => ({ ...one, lines: linesOfResult(one) })).filter(({ lines }) => lines.length > 0)
  const probabilities = (isWanted: (one: (typeof shown)[number]) => boolean): readonly number[] =>
    shown
      .filter(isWanted)
      .map(({ decision }) => decision.probability)
      .sort((a, b) => b - a)
  const hasOf = (which: 'fine' | 'outdated') => (one: (typeof shown)[number]) =>
    one.lines.some(({ id }) => one.row[which].has(id))
  const isOutdated = (one: (typeof shown)[number]): boolean => hasOf('outdated')(one) && !hasOf('fine')(one)
  return {
    unrelated: probabilities(({ row }) => row.asked.kind === 'unrelated'),
    'never-told': probabilities(({ row }) => row.asked.kind === 'never-told'),
    right: probabilities(hasOf('fine')),
    outdated: probabilities(isOutdated),
    changed: probabilities((one) => isOutdated(one) && isChanged(one.row)),
  }
}

function possibilitiesOf(results: readonly Result[]): readonly Possible[] {
  const all: Possible[] = []
  for (let unclear = -2; unclear <= 6; unclear += 0.5)
    for (let likely = Math.max(-4, unclear - 8); likely <= unclear; likely += 1) {
      const limits = { likely, unclear }
      const lines = new Map(results.map((one) => [one, one.lines({ sure: 0, perhaps: 0 }, limits)]))
      const linesIn = (one: Result): readonly ShownLine[] => lines.get(one) ?? []
      const sure = reachingOf(results, (one) => linesIn(one).filter(isSureLine))
      all.push({ limits, any: reachingOf(results, linesIn), sure })
    }
  return all
}

/** The lowest threshold that keeps within a budget. */
function thresholdFor(reaching: Reaching, budget: Budget): number {
  const above = (which: keyof Budget): number => Math.ceil(1_000 * (reaching[which][budget[which]] ?? 0) + 1) / 1_000
  return Math.max(above('unrelated'), above('never-told'))
}

const countReaching = (probabilities: readonly number[], threshold: number): number =>
  count(probabilities, (probability) => probability >= threshold)

/** The limits of updates that show the right turn most often without showing more outdated turns than allowed. */
function chooseLimits(
  possibilities: readonly Possible[],
  budgets: Readonly<Record<'sure' | 'normal', Budget>>,
  maxUpdates: MostOutdated,
): Chosen & { readonly excess: number; readonly right: number } {
  return possibilities
    .map((possible) => {
      const { any, sure: sureLines } = possible
      const normal = thresholdFor(any, budgets.normal)
      const sure = Math.max(normal, thresholdFor(sureLines, budgets.sure))
      const right = countReaching(any.right, normal) + countReaching(sureLines.right, sure)
      const excessOf = (which: keyof MostOutdated): number =>
        Math.max(
          0,
          countReaching(any[which], normal) - maxUpdates[which],
          countReaching(sureLines[which], sure) - maxUpdates[which],
        )
      return { possible, sure, normal, right, excess: excessOf('outdated') + excessOf('changed') }
    })
    .reduce(better)
}

type Rated = { readonly excess: number; readonly right: number }
const better = <Option extends Rated>(a: Option, b: Option): Option =>
  b.excess < a.excess || (b.excess === a.excess && b.right > a.right) ? b : a

const upTo = (number: number): readonly number[] => Array.from({ length: number + 1 }, (_, at) => at)

/** Every way to divide a budget between requests and questions. */
function divisionsOf(
  whole: Budget,
  requests: readonly Result[],
): readonly (readonly [request: Budget, rest: Budget])[] {
  const maxOf = (which: keyof Budget): number =>
    Math.min(
      whole[which],
      count(requests, ({ row }) => row.asked.kind === which),
    )
  return upTo(maxOf('never-told')).flatMap((neverTold) =>
    upTo(maxOf('unrelated')).map(
      (unrelated) =>
        [
          { 'never-told': neverTold, unrelated },
          { 'never-told': whole['never-told'] - neverTold, unrelated: whole.unrelated - unrelated },
        ] as const,
    ),
  )
}

/** The thresholds of questions and requests that together show the right turn most often, within limits for all messages. */
function calibrate(measured: readonly Result[]): Calibration {
  const results = measured.filter(({ row }) => row.family === 'life')
  const ofKind = Map.groupBy(results, kindOf)
  const questions = ofKind.get('question') ?? []
  const requests = ofKind.get('request') ?? []
  const budgetFor = (which: Strictness): Budget => {
    const maxOf = (kind: keyof Budget): number =>
      Math.floor(maxFalse[kind][which] * count(results, ({ row }) => row.asked.kind === kind))
    return { unrelated: maxOf('unrelated'), 'never-told': maxOf('never-told') }
  }
  const outdatedIn = (some: readonly Result[], changed: number): MostOutdated => ({
    outdated: maxOutdated * count(some, ({ row }) => row.outdated.size > 0),
    changed,
  })
  const maxChanged = Math.floor(maxOutdated * count(results, ({ row }) => isChanged(row)))
  const changedRequests = upTo(
    Math.min(
      maxChanged,
      count(requests, ({ row }) => isChanged(row)),
    ),
  )
  const forQuestions = possibilitiesOf(questions)
  const forRequests = possibilitiesOf(requests)
  const chosen = divisionsOf(budgetFor('normal'), requests).flatMap(([normalRequest, normalQuestion]) =>
    divisionsOf(budgetFor('sure'), requests).flatMap(([sureRequest, sureQuestion]) =>
      changedRequests.map((changed) => {
        const ofQuestions = { normal: normalQuestion, sure: sureQuestion }
        const ofRequests = { normal: normalRequest, sure: sureRequest }
        const question = chooseLimits(forQuestions, ofQuestions, outdatedIn(questions, maxChanged - changed))
        const request = chooseLimits(forRequests, ofRequests, outdatedIn(requests, changed))
        return { question, request, right: question.right + request.right, excess: question.excess + request.excess }
      }),
    ),
  )
  const { question, request } = chosen.reduce(better)
  const eagerOf = ({ possible, normal }: Chosen, budget: Budget): number =>
    Math.min(normal, thresholdFor(possible.any, budget))
  const eager = divisionsOf(budgetFor('eager'), requests)
    .map(([ofRequests, rest]) => {
      const thresholds = { question: eagerOf(question, rest), request: eagerOf(request, ofRequests) }
      const right =
        countReaching(question.possible.any.right, thresholds.question) +
        countReaching(request.possible.any.right, thresholds.request)
      return { thresholds, right, excess: 0 }
    })
    .reduce(better).thresholds
  const levelsFor = (perhaps: Readonly<Record<MessageKind, number>>): LevelsByKind => ({
    question: { sure: question.sure, perhaps: perhaps.question },
    request: { sure: request.sure, perhaps: perhaps.request },
  })
  return {
    limits: { question: question.possible.limits, request: request.possible.limits },
    levels: {
      quiet: levelsFor({ question: question.sure, request: request.sure }),
      normal: levelsFor({ question: question.normal, request: request.normal }),
      eager: levelsFor(eager),
    },
  }
}

function reliabilityTable(results: readonly Result[]): string {
  const edges = [0, 0.05, 0.1, 0.2, 0.3, 0.5, 1]
  const all = results
    .filter(({ row }) => row.family === 'life')
    .flatMap(({ decision: { ranked, probabilities }, row }) =>
      probabilities
        .slice(0, maxConsidered)
        .map((p, place) => ({ p, isRight: row.fine.has((ranked[place] as PlacedMessage).candidate.turn.id) })),
    )
  const rows = edges.slice(1).map((to, at) => {
    const some = all.filter(({ p }) => p >= (edges[at] as number) && (p < to || to === 1))
    const mean = some.reduce((total, { p }) => total + p, 0) / Math.max(1, some.length)
    return line([
      `${edges[at]} to ${to}`,
      some.length,
      mean.toFixed(2),
      (count(some, ({ isRight }) => isRight) / Math.max(1, some.length)).toFixed(2),
    ])
  })
  return [line(['probability of a line', 'lines', 'mean', 'right']), '|---|---:|---:|---:|', ...rows].join('\n')
}

/** The number of questions of other people per conversation. They come from conversations of the same kind. */
const foreignEach = 20
function foreignFor({ family }: Conversation): readonly Asked[] {
  const others = conversations.filter((one) =>
    family === 'life' ? one.family === 'locomo' : one.id === 'life-b' && family === 'locomo',
  )
  return others.flatMap(({ asked }) => {
    const some = asked.filter(({ kind }) => !['unrelated', 'needed-by-task'].includes(kind))
    const every = Math.max(1, Math.floor(some.length / foreignEach))
    return some
      .filter((_, at) => at % every === 0)
      .slice(0, foreignEach)
      .map((one) => ({ ...one, kind: 'foreign', gold: [], also: [], outdated: [] }))
  })
}

/** A trained model, and the tables of its cross-validation. */
async function trainAll(
  name: ModelName,
  rows: readonly Row[],
): Promise<{ readonly model: Model; readonly tables: string }> {
  const results: Result[] = []
  for (const fold of new Set(rows.map((row) => row.fold))) {
    const model = await train(rows.filter((row) => row.fold !== fold))
    for (const row of rows.filter((one) => one.fold === fold)) results.push(await resultOf(name, row, model))
    console.error(`${name}, fold ${fold}`)
  }
  const calibration = calibrate(results)
  const lives = results.filter(({ row }) => row.family === 'life' && row.asked.kind !== 'foreign')
  const withoutFold = new Map(
    [...new Set(lives.map(({ row }) => row.fold))].map((fold) => [
      fold,
      calibrate(lives.filter(({ row }) => row.fold !== fold)),
    ]),
  )
  const tables = [
    searchTable(results),
    recallTable(results, () => calibration),
    'Recall of each life with the thresholds of the other two:',
    recallTable(lives, ({ row }) => withoutFold.get(row.fold) as Calibration),
    reliabilityTable(results),
  ].join('\n\n')
  return { model: { ...(await train(rows)), ...calibration }, tables }
}

const rows: Record<ModelName, Row[]> = { vectors: [], words: [] }
for (const conversation of conversations) {
  const own = await rowsOf(conversation, foreignFor(conversation))
  for (const name of modelNames) rows[name].push(...own[name])
}
const title = { vectors: 'With sentence vectors', words: 'Words alone' }
for (const name of modelNames) {
  const { model, tables } = await trainAll(name, rows[name])
  console.log(`\n### ${title[name]}\n\n${tables}\n\n${JSON.stringify(model, null, 2)}`)
  if (options.write !== true) continue
  const file = new URL('../src/search/turns/weights.json', import.meta.url)
  const weights = { ...JSON.parse(readFileSync(file, 'utf8')), [name]: model }
  writeFileSync(file, `${JSON.stringify(weights, null, 2)}\n`)
  const docs = new URL('../docs/ranking.md', import.meta.url)
  const part = new RegExp(`### ${title[name]}\\n[\\s\\S]*?(?=\\n### |\\n<!-- End of the written part -->)`, 'u')
  writeFileSync(
    docs,
    readFileSync(docs, 'utf8').replace(part, () => `### ${title[name]}\n\n${tables}\n`),
  )
}
