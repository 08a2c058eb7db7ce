/**
 * Trains the ranking of turns: `node scripts/train-ranking.ts <data> [--cache DIR] [--only vectors|words] [--write]`.
 * Reads development data from outside the repository (`training-data.ts`), computes the features with the code of the
 * product, fits the three linear models of docs/ranking.md, and prints the results of cross-validation by person as
 * Markdown. With `--write` it also writes src/search/turns/weights.json. Everything is deterministic: Newton's method
 * on convex losses, and random numbers only from fixed seeds of the data.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { hear } from '../src/memory/conversation/hear.ts'
import { embedTexts, meaningOf } from '../src/memory/conversation/meaning.ts'
import { openMiniLm } from '../src/search/minilm/minilm.ts'
import { type Candidates, findCandidates, type Ranking, type SearchedIndex } from '../src/search/turns/candidates.ts'
import { announcedBy, maxCompared, textsToEmbed, updateValues } from '../src/search/turns/change.ts'
import { cosineAt, packVectors } from '../src/search/turns/cosines.ts'
import {
  maxConsidered,
  pushFeatures,
  pushValues,
  type RankFeature,
  rankFeatures,
  rankValues,
  updateFeatures,
  type Values,
} from '../src/search/turns/features.ts'
import {
  type Announcing,
  type Levels,
  type MessageKind,
  type Model,
  models,
  type Replaced,
  type UpdateLimits,
} from '../src/search/turns/model.ts'
import { type Nearness, nearnessOf } from '../src/search/turns/nearness.ts'
import {
  chooseLines,
  decide,
  type LineLimits,
  mayQuote,
  type PushDecision,
  type PushLine,
  rankQuotable,
  sigmoid,
} from '../src/search/turns/push.ts'
import { dateWindow, parseQuestion, type Question } from '../src/search/turns/question.ts'
import { quoteTurns } from '../src/search/turns/quotes.ts'
import { maxUpdated, placeNewest, type ScoredMessage, scoreMessages, updatesOfFirst } from '../src/search/turns/rank.ts'
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

const isLife = (family: Family): boolean => family === 'life' || family === 'small life'
/** Whether models are trained with a row. Small stores are parts of the lives, so they are only measured. */
const isTrained = ({ family }: Pick<Row, 'family'>): boolean => family !== 'small life'

/** A message with its candidates and their features. `gold`, `fine` and `outdated` are ids of turns. */
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
  readonly conversation: Conversation
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
const folds = 4
/** Of the LoCoMo questions, one in this many is used as a message to train recall with. */
const locomoEvery = 4

/** What people said in a conversation: ids of turns, and the vectors of their sentences. */
type Sentences = { readonly id: string; readonly vectors: Int8Array }
const sentencesIn = new Map<Conversation, readonly Sentences[]>()

/** An index that reads everything once, because the training of every fold asks for the same values again. */
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

/**
 * The rows for the messages of a conversation and for unrelated messages of other people, for each of the two models.
 */
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
  const said = turns.flatMap(({ role, text }, at) => (role === 'user' ? [{ id: ids[at] as string, text }] : []))
  sentencesIn.set(
    conversation,
    await Promise.all(
      said.map(async ({ id: turn, text }) => {
        const vectors = await embedder.embed(textsToEmbed(text))
        return { id: turn, vectors: packVectors(vectors, embedder.dimensions) }
      }),
    ),
  )
  const setOf = (places: readonly number[]): ReadonlySet<string> => new Set(places.map((place) => ids[place] as string))
  const people = [...new Set(conversations.filter((one) => one.family === family).map(({ person }) => person))]
  const fold = String(people.indexOf(conversation.person) % folds)
  const speakers = await store.turnSpeakers(view)
  const index = remembered(store)
  const rows: Record<ModelName, Row[]> = { vectors: [], words: [] }
  for (const [place, asked] of [...conversation.asked, ...foreign].entries()) {
    const isForeign = foreign.includes(asked)
    const isRecalled = isForeign || isLife(family) || (family === 'locomo' && place % locomoEvery === 0)
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
        conversation,
      })
    }
  }
  console.error(`${id}: ${rows[modelNames[0] as ModelName].length} messages`)
  return rows
}

type Matrix = readonly (readonly number[])[]
/** A question: rows of features, whether each row is right, an offset for each row, and the weight of the question. */
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

/**
 * Minimises, by Newton's method with damping, Σ weight · mean over right rows of −log softmax + l2/2 |w|². Features are
 * divided by their standard deviation first.
 */
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
const penalties = { rank: 3, push: 2, update: 1, announcing: 3 }
/**
 * The weight of an outdated turn. All other turns of a message together weigh at most 1: showing an outdated turn
 * without the newest is worse than showing a newer turn for nothing.
 */
const outdatedWeight = 4
/** The facts of one suite are so alike that its 100 messages would outweigh all others. */
const familyWeights: Partial<Record<Family, number>> = { factconsolidation: 0.3 }
const isChanged = ({ asked, outdated }: Row): boolean =>
  outdated.size > 0 && ['changed', 'knowledge-update'].includes(asked.kind)
/**
 * Weights of messages in the training of recall. Most messages of a day need no memory, so `unrelated` weighs most.
 * Messages of the other kinds come close to what was said, so a false line does less harm.
 */
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
type Trained = Pick<Model, 'rank' | 'push' | 'update' | 'announcing'>

function trainRank(rows: readonly Row[]): Model['rank'] {
  const needing = rows.filter(({ fine }) => fine.size > 0)
  const families = Map.groupBy(needing, ({ family }) => family)
  const choices = needing.map((row) => ({
    rows: row.values.map((values) => listed(rankFeatures, values)),
    isRight: row.found.messages.map(({ turn }) => row.gold.has(turn.id)),
    offsets: row.values.map(() => 0),
    weight: needing.length / families.size / (families.get(row.family)?.length ?? 1),
  }))
  return named(rankFeatures, fitChoices(choices, penalties.rank))
}

const sentencesOf = ({ vectors }: Sentences): readonly number[] =>
  Array.from({ length: vectors.length / embedder.dimensions }, (_, place) => place)

/**
 * The weighted sums of the sentences of a life: those with a changed fact, and all others. Every turn has the same
 * weight.
 */
type Moments = {
  readonly changed: { readonly weight: number; readonly sum: Float64Array }
  readonly others: { readonly weight: number; readonly sum: Float64Array }
  /** The lower half of the sum of each sentence's product with itself. */
  readonly squares: readonly Float64Array[]
}
const momentsIn = new Map<Conversation, Moments>()

function momentsOf(conversation: Conversation, rows: readonly Row[]): Moments {
  const { dimensions } = embedder
  const known = momentsIn.get(conversation)
  if (known !== undefined) return known
  const moments = {
    changed: { weight: 0, sum: new Float64Array(dimensions) },
    others: { weight: 0, sum: new Float64Array(dimensions) },
    squares: Array.from({ length: dimensions }, () => new Float64Array(dimensions)),
  }
  for (const turn of sentencesIn.get(conversation) ?? []) {
    const asking = rows.filter((row) => isChanged(row) && row.gold.has(turn.id))
    const near = new Set(asking.map((row) => nearestSentence(row, turn)))
    const places = asking.length === 0 ? sentencesOf(turn) : sentencesOf(turn).filter((place) => near.has(place))
    const own = asking.length === 0 ? moments.others : moments.changed
    for (const place of places) {
      const vector = Array.from(turn.vectors.subarray(place * dimensions, (place + 1) * dimensions))
      own.weight += 1 / places.length
      for (const [at, value] of vector.entries()) own.sum[at] = (own.sum[at] as number) + value / places.length
      addProduct(moments.squares, vector, 1 / places.length)
    }
  }
  momentsIn.set(conversation, moments)
  return moments
}

/** The direction that separates sentences that announce a change from all others: a linear discriminant. */
function trainAnnouncing(rows: readonly Row[]): Announcing | null {
  const lives = [
    ...Map.groupBy(
      rows.filter(({ family }) => family === 'life'),
      ({ conversation }) => conversation,
    ),
  ]
  const moments = lives.map(([conversation, own]) => momentsOf(conversation, own))
  const { dimensions, model } = embedder
  const mean = (kinds: readonly ('changed' | 'others')[]): readonly number[] => {
    const parts = moments.flatMap((one) => kinds.map((kind) => one[kind]))
    const weight = parts.reduce((total, part) => total + part.weight, 0)
    return Array.from({ length: dimensions }, (_, at) =>
      parts.reduce((total, { sum }) => total + (sum[at] as number) / weight, 0),
    )
  }
  if (!moments.some(({ changed }) => changed.weight > 0)) return null
  const whole = mean(['changed', 'others'])
  const weight = moments.reduce((total, { changed, others }) => total + changed.weight + others.weight, 0)
  const covariance = Array.from({ length: dimensions }, (_, f) =>
    Float64Array.from({ length: dimensions }, (__, g) =>
      g > f
        ? 0
        : moments.reduce((total, { squares }) => total + (squares[f]?.[g] as number) / weight, 0) -
          (whole[f] as number) * (whole[g] as number),
    ),
  )
  mirrorLower(covariance)
  const variance = covariance.reduce((total, row, at) => total + (row[at] as number) / dimensions, 0)
  for (const [at, row] of covariance.entries()) row[at] = (row[at] as number) + penalties.announcing * variance
  const changed = mean(['changed'])
  const others = mean(['others'])
  const weights = solve(
    covariance,
    changed.map((value, at) => value - (others[at] as number)),
  )
  const packed = packVectors([Float32Array.from(weights)], dimensions)
  const cosines = lives.flatMap(([conversation]) =>
    (sentencesIn.get(conversation) ?? []).flatMap((turn) => {
      const all = sentencesOf(turn).map((place) => cosineAt(packed, 0, turn.vectors, place, dimensions))
      return all.length === 0 ? [] : [[Math.max(...all)]]
    }),
  )
  const spread = deviations(cosines)
  return {
    model,
    direction: Buffer.from(packed.buffer).toString('base64'),
    mean: round(spread.mean[0] as number),
    deviation: round(spread.sd[0] as number),
  }
}

function nearestSentence({ ranking: { meaning } }: Row, turn: Sentences): number {
  if (meaning === undefined) return 0
  const cosines = sentencesOf(turn).map((place) =>
    cosineAt(meaning.vectors, 0, turn.vectors, place, meaning.dimensions),
  )
  return cosines.indexOf(Math.max(...cosines))
}

async function train(name: ModelName, rows: readonly Row[]): Promise<Trained> {
  const rank = trainRank(rows)
  const announcingOf = (some: readonly Row[]) => (name === 'vectors' ? trainAnnouncing(some) : null)
  const announcing = announcingOf(rows)
  const updateChoices: Choice[] = []
  // For a life, the direction is fitted without that life: a direction that has seen a conversation fits it too well.
  for (const [conversation, own] of Map.groupBy(rows, (row) => row.conversation)) {
    const others = rows.filter((row) => row.conversation !== conversation)
    const ofOthers = conversation.family === 'life' ? announcingOf(others) : announcing
    for (const row of own) updateChoices.push(...(await choicesOfUpdates(row, rank, ofOthers)))
  }
  const update = named([...updateFeatures, 'bias'] as const, fitChoices(updateChoices, penalties.update))
  const labels: Label[] = []
  for (const row of rows.filter(({ isRecalled }) => isRecalled)) {
    const ranked = await rankQuotable(row.index, row.ranking, row.quotable, { rank })
    const values = pushValues(ranked, row.quotable.terms, row.question, await nearnessIn(row, ranked))
    for (const [place, value] of values.slice(0, maxConsidered).entries()) {
      const id = ranked[place]?.candidate.turn.id as string
      const weight = (row.family === 'locomo' ? locomoWeight : 1) * (messageWeights[row.asked.kind] ?? 1)
      if (!row.outdated.has(id)) labels.push({ row: listed(pushFeatures, value), isRight: row.fine.has(id), weight })
    }
  }
  const push = named([...pushFeatures, 'bias'] as const, fitLogistic(labels, penalties.push))
  return { rank, push, update, announcing }
}

const knownNearness = new Map<Row, Map<string, Nearness>>()

/** The nearness of the first turns of a row, computed once, because it is the same in every fold. */
async function nearnessIn(row: Row, ranked: readonly ScoredMessage[]): Promise<readonly Nearness[]> {
  const known = knownNearness.get(row) ?? new Map<string, Nearness>()
  knownNearness.set(row, known)
  const first = ranked.slice(0, maxConsidered).map(({ candidate }) => candidate)
  const missing = first.filter(({ turn }) => !known.has(turn.id))
  const found = (await nearnessOf(row.index, row.ranking, missing, row.quotable.terms)) ?? []
  for (const [at, nearness] of found.entries()) known.set((missing[at] as (typeof missing)[number]).turn.id, nearness)
  return first.flatMap(({ turn }) => known.get(turn.id) ?? [])
}

/**
 * For each of the first turns, which newer turn updates it. For an outdated turn, a newer turn with the current value is
 * right; for any other turn, none is.
 */
async function choicesOfUpdates(
  row: Row,
  rank: Model['rank'],
  announcing: Announcing | null,
): Promise<readonly Choice[]> {
  if (row.fine.size === 0) return []
  const ranked = scored(row, { rank }).slice(0, maxCompared)
  const idAt = (place: number): string => (ranked[place] as ScoredMessage).candidate.turn.id
  const places = [...ranked.keys()].slice(0, maxUpdated)
  const announced = announcedBy(announcing, row.ranking.meaning)
  const found = await updateValues(row.index, ranked, places, { ...row.ranking, terms: row.found.terms }, announced)
  return [...found].flatMap(([place, newer]): readonly Choice[] => {
    const isOutdated = row.outdated.has(idAt(place))
    // If a fact changed, turns that are neither right nor outdated have no label, so they are left out.
    if (newer.length === 0 || (row.outdated.size > 0 && !isOutdated && !row.fine.has(idAt(place)))) return []
    const none = updateFeatures.map(() => 0)
    return [
      {
        rows: [...newer.map(({ values }) => [...listed(updateFeatures, values), 1]), [...none, 0]],
        isRight: [...newer.map((one) => isOutdated && row.fine.has(idAt(one.place))), !isOutdated],
        offsets: [...newer.map(() => 0), 0],
        weight: (familyWeights[row.family] ?? 1) * (isOutdated ? outdatedWeight : 1 / found.size),
      },
    ]
  })
}

type Result = {
  readonly row: Row
  /** Ids of turns in the order of the ranking model, without updates. */
  readonly idsOfRanking: readonly string[]
  /** The order of a search with these limits. */
  readonly idsFrom: (replaced: Replaced) => readonly string[]
  readonly decision: PushDecision
  readonly lines: (levels: Levels, limits: LineLimits) => readonly ShownLine[]
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
type ShownLine = Pick<PushLine, 'level'> & { readonly id: string; readonly isEarlier: boolean }

async function resultOf(name: ModelName, row: Row, trained: Trained): Promise<Result> {
  const model = { ...models[name], ...trained }
  const ranking = scored(row, model)
  const decision = row.isRecalled
    ? await decide(row.index, row.ranking, row.quotable, { vectors: model, words: model }, () => 0)
    : notRecalled(model)
  const { ranked } = decision
  const idsOf = (list: readonly ScoredMessage[]) => list.map(({ candidate }) => candidate.turn.id)
  const updates = await updatesOfFirst(row.index, row.ranking, row.found, ranking, model)
  const idsFrom = (replaced: Replaced) => idsOf(placeNewest(ranking, updates, replaced))
  const places = isLife(row.family) ? [...ranked.keys()] : []
  const quotes = await quoteTurns(row.index, row.ranking, row.quotable, decision, places, row.asked.message)
  const lines = (levels: Levels, limits: LineLimits): readonly ShownLine[] =>
    chooseLines(decision, levels, limits).lines.map(({ place, level, newer }) => ({
      id: (ranked[place] as ScoredMessage).candidate.turn.id,
      level: quotes.get(place)?.perhapsPasted === true ? 'perhaps' : level,
      isEarlier: newer.length > 0,
    }))
  return { row, idsFrom, idsOfRanking: idsOf(ranking), decision, lines }
}

const count = <Item>(items: readonly Item[], isCounted: (item: Item) => boolean): number =>
  items.filter(isCounted).length
const percent = (value: number): string => (100 * value).toFixed(1)
const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`

const rankIn = (ids: readonly string[], wanted: ReadonlySet<string>): number => {
  const at = ids.findIndex((id) => wanted.has(id))
  return at < 0 ? Number.POSITIVE_INFINITY : at + 1
}

/** Whether the right turn is among the first ten, and before each outdated one. */
const isNewestFirst = (ids: readonly string[], { fine, outdated }: Row): boolean =>
  rankIn(ids, fine) <= 10 && rankIn(ids, fine) < rankIn(ids, outdated)

/**
 * Chooses the limits above which a newer turn is placed in front of an outdated one: those that give the most right
 * first turns and newest values. All families of data have equal weight.
 */
function chooseReplaced(results: readonly Result[]): Replaced {
  const families = [
    ...Map.groupBy(
      results.filter(({ row }) => isTrained(row) && row.fine.size > 0),
      ({ row }) => row.family,
    ).values(),
  ]
  const gainOf = (replaced: Replaced): number =>
    families.reduce((total, some) => {
      const gains = some.map(({ row, idsFrom }) => {
        const ids = idsFrom(replaced)
        return Number(rankIn(ids, row.fine) === 1) + Number(isChanged(row) && isNewestFirst(ids, row))
      })
      return total + gains.reduce((a, b) => a + b, 0) / some.length
    }, 0)
  const options = [0.1, 0.15, 0.2, 0.25, 0.3, 0.4].flatMap((probability) =>
    [1, 2, 3, 4, 6].map((lead) => ({ replaced: { probability, lead }, gain: gainOf({ probability, lead }) })),
  )
  return options.reduce((a, b) => (b.gain > a.gain ? b : a)).replaced
}

function searchTable(measured: readonly Result[], replaced: Replaced): string {
  const results = measured.map((one) => ({ ...one, ids: one.idsFrom(replaced) }))
  const groups = Map.groupBy(
    results.filter(({ row }) => row.fine.size > 0),
    ({ row }) => `${row.family} ${row.asked.kind}`,
  )
  const families = Map.groupBy(
    results.filter(({ row }) => row.fine.size > 0),
    ({ row }) => `${row.family}, all`,
  )
  const shownGroups = [...groups].filter(([, some]) => some.some(({ row }) => isLife(row.family) || isChanged(row)))
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
      const newest = count(some, ({ ids, row }) => isNewestFirst(ids, row))
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
    line(['search', 'n', '@1', '@5', '@10', 'R@10', 'MRR', 'MRR without updates', 'newest first']),
    '|---|---:|---:|---:|---:|---:|---:|---:|---:|',
    ...rows,
  ].join('\n')
}

type Shown = Readonly<Record<'fires' | 'right' | 'outdated' | 'lines' | 'newestFirst' | 'marked', number>>

/**
 * Counts all lines, and the messages that show any line (`fires`), a right turn, an outdated turn without a right one, or a
 * right turn before every outdated one (`newestFirst`), and those that mark a right turn as earlier.
 */
function countShown(results: readonly Result[], linesOfResult: (result: Result) => readonly ShownLine[]): Shown {
  let fires = 0
  let right = 0
  let outdated = 0
  let lines = 0
  let newestFirst = 0
  let marked = 0
  for (const result of results) {
    const shown = linesOfResult(result)
    const rightLines = shown.filter(({ id }) => result.row.fine.has(id))
    const hasRight = rightLines.length > 0
    const ids = shown.map(({ id }) => id)
    newestFirst += Number(isChanged(result.row) && isNewestFirst(ids, result.row))
    marked += Number(hasRight && rightLines.every(({ isEarlier }) => isEarlier))
    fires += Number(shown.length > 0)
    right += Number(hasRight)
    outdated += Number(!hasRight && shown.some(({ id }) => result.row.outdated.has(id)))
    lines += shown.length
  }
  return { fires, right, outdated, lines, newestFirst, marked }
}

const isSureLine = ({ level }: ShownLine): boolean => level === 'sure'

type LevelsByKind = Model['levels']['normal']
const kindOf = ({ row }: Result): MessageKind => (row.question.isQuestion ? 'question' : 'request')
function recallTable(measured: readonly Result[], calibrationOf: (result: Result) => Calibration): string {
  const results = measured.filter(({ row }) => row.isRecalled)
  const shownIn = (one: Result): readonly ShownLine[] => {
    const { levels, limits, replaced } = calibrationOf(one)
    return one.lines(levels.normal[kindOf(one)], { ...limits[kindOf(one)], replaced: replaced.probability })
  }
  const groups = Map.groupBy(results, ({ row }) =>
    row.asked.kind === 'foreign'
      ? `${row.family}, messages of other people`
      : isLife(row.family)
        ? row.asked.kind
        : row.family,
  )
  const needing = results.filter(({ row }) => isLife(row.family) && row.fine.size > 0)
  const rows = [...groups, ['lives, all that need memory', needing] as const].map(([name, some]) => {
    const sure = countShown(some, (one) => shownIn(one).filter(isSureLine))
    const all = countShown(some, shownIn)
    const cells = [sure, all].flatMap(({ fires, right, outdated }) => [fires, right, outdated])
    const newest = some.some(({ row }) => isChanged(row)) ? all.newestFirst : ''
    return line([
      name,
      some.length,
      ...cells,
      newest,
      all.marked,
      all.fires === 0 ? '' : (all.lines / all.fires).toFixed(1),
    ])
  })
  const titles = ['shows', 'right', 'outdated alone']
  return [
    line([
      'recall',
      'messages',
      ...titles.map((title) => `sure: ${title}`),
      ...titles.map((title) => `all: ${title}`),
      'newest first',
      'right marked earlier',
      'lines',
    ]),
    '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|',
    ...rows,
  ].join('\n')
}

/**
 * By kind of message, the max share of the messages without a right line that show a sure line, any line, and any line if
 * eager.
 */
const maxFalse = {
  unrelated: { sure: 0.01, normal: 0.04, eager: 0.15 },
  'never-told': { sure: 0.1, normal: 0.4, eager: 0.6 },
}
/**
 * Replaces `sure` above for the model of words alone, for which one rare word looks like an answer. Applies to
 * questions and requests separately.
 */
const maxSureByWords = 0.05
type Strictness = 'sure' | 'normal' | 'eager'
/** Max share of the messages with outdated turns for which an outdated turn is shown without the newest. */
const maxOutdated = 0.08
/**
 * By kind, the max number of messages that show a line although they should have none; then the max number that show an
 * outdated turn without the newest, among all messages (`outdated`) and among those about a changed fact (`changed`).
 */
type Budget = Readonly<Record<keyof typeof maxFalse | 'outdated' | 'changed', number>>

type Calibration = Pick<Model, 'levels' | 'limits' | 'replaced'>

/**
 * The probabilities of the messages that show a line if the threshold is low enough, by whether the line is false,
 * outdated or right.
 */
type Reaching = Readonly<Record<keyof Budget | 'right', readonly number[]>>
/** The probabilities of the messages that show a line with these limits for updates: any line (`any`), or a sure one (`sure`). */
type Possible = { readonly limits: UpdateLimits; readonly any: Reaching; readonly sure: Reaching }

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

function possibilitiesOf(results: readonly Result[], replaced: number): readonly Possible[] {
  const all: Possible[] = []
  for (const unclear of [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 1])
    for (const likely of [0.03, 0.06, 0.1]) {
      const limits = { likely, unclear }
      const lines = new Map(results.map((one) => [one, one.lines({ sure: 0, perhaps: 0 }, { ...limits, replaced })]))
      const linesIn = (one: Result): readonly ShownLine[] => lines.get(one) ?? []
      const sure = reachingOf(results, (one) => linesIn(one).filter(isSureLine))
      all.push({ limits, any: reachingOf(results, linesIn), sure })
    }
  return all
}

/** The lowest threshold that stays within a budget. */
const thresholdFor = (reaching: Reaching, budget: Budget): number =>
  Math.max(
    ...(Object.keys(budget) as (keyof Budget)[]).map(
      (which) => Math.ceil(1_000 * (reaching[which][budget[which]] ?? 0) + 1) / 1_000,
    ),
  )

const countReaching = (probabilities: readonly number[], threshold: number): number =>
  count(probabilities, (probability) => probability >= threshold)

type Threshold = { readonly possible: Possible; readonly threshold: number; readonly right: number }
const moreRight = <Option extends Pick<Threshold, 'right'>>(a: Option, b: Option): Option => (b.right > a.right ? b : a)

/** The possibility that shows the right turn most often within a budget, with its threshold. */
const bestWithin = (possibilities: readonly Possible[], which: 'any' | 'sure', budget: Budget): Threshold =>
  possibilities
    .map((possible) => {
      const threshold = thresholdFor(possible[which], budget)
      return { possible, threshold, right: countReaching(possible[which].right, threshold) }
    })
    .reduce(moreRight)

const upTo = (number: number): readonly number[] => Array.from({ length: number + 1 }, (_, at) => at)

/**
 * Chooses the thresholds for questions and for requests that together show the right turn most often, within limits for
 * all messages.
 */
function calibrate(name: ModelName, measured: readonly Result[]): Calibration {
  const results = measured.filter(({ row }) => row.family === 'life')
  const ofKind = Map.groupBy(results, kindOf)
  const questions = ofKind.get('question') ?? []
  const requests = ofKind.get('request') ?? []
  const budgetFor = (which: Strictness, of: readonly Result[]): Budget => {
    const maxOf = (kind: keyof typeof maxFalse): number =>
      Math.floor(
        (name === 'words' && which === 'sure' ? maxSureByWords : maxFalse[kind][which]) *
          count(of, ({ row }) => row.asked.kind === kind),
      )
    const maxOutdatedOf = (isCounted: (row: Row) => boolean): number =>
      which === 'eager' ? of.length : Math.floor(maxOutdated * count(of, ({ row }) => isCounted(row)))
    return {
      unrelated: maxOf('unrelated'),
      'never-told': maxOf('never-told'),
      outdated: maxOutdatedOf(({ outdated }) => outdated.size > 0),
      changed: maxOutdatedOf(isChanged),
    }
  }
  /** The best of all ways to divide a budget between requests and questions. */
  const divided = (
    strictness: Strictness,
    which: 'any' | 'sure',
    possible: Readonly<Record<MessageKind, readonly Possible[]>>,
  ): Readonly<Record<MessageKind, Threshold>> => {
    const whole = budgetFor(strictness, results)
    const parts = (key: keyof Budget): readonly number[] =>
      upTo(Math.min(whole[key], Math.max(...possible.request.map((one) => one[which][key].length))))
    const options = parts('never-told').flatMap((neverTold) =>
      parts('unrelated').flatMap((unrelated) =>
        parts('changed').map((changed) => {
          const ofRequests = { ...budgetFor(strictness, requests), 'never-told': neverTold, unrelated, changed }
          const request = bestWithin(possible.request, which, ofRequests)
          const question = bestWithin(possible.question, which, {
            ...budgetFor(strictness, questions),
            'never-told': whole['never-told'] - neverTold,
            unrelated: whole.unrelated - unrelated,
            changed: whole.changed - changed,
          })
          return { request, question, right: request.right + question.right }
        }),
      ),
    )
    return options.reduce(moreRight)
  }
  const replaced = chooseReplaced(measured)
  const normal = divided('normal', 'any', {
    question: possibilitiesOf(questions, replaced.probability),
    request: possibilitiesOf(requests, replaced.probability),
  })
  const chosen = { question: [normal.question.possible], request: [normal.request.possible] }
  const sure =
    name === 'vectors'
      ? divided('sure', 'sure', chosen)
      : {
          question: bestWithin(chosen.question, 'sure', budgetFor('sure', questions)),
          request: bestWithin(chosen.request, 'sure', budgetFor('sure', requests)),
        }
  const eager = divided('eager', 'any', chosen)
  const levelsFor = (perhapsOf: (kind: MessageKind) => number): LevelsByKind => {
    const levels = (kind: MessageKind): Levels => {
      const perhaps = perhapsOf(kind)
      return { sure: Math.max(perhaps, sureOf(kind)), perhaps }
    }
    return { question: levels('question'), request: levels('request') }
  }
  const sureOf = (kind: MessageKind): number => Math.max(sure[kind].threshold, normal[kind].threshold)
  return {
    replaced,
    limits: { question: normal.question.possible.limits, request: normal.request.possible.limits },
    levels: {
      quiet: levelsFor(sureOf),
      normal: levelsFor((kind) => normal[kind].threshold),
      eager: levelsFor((kind) => Math.min(normal[kind].threshold, eager[kind].threshold)),
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
        .map((p, place) => ({ p, isRight: row.fine.has((ranked[place] as ScoredMessage).candidate.turn.id) })),
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

/** Max questions of one conversation that are used in another as messages of other people. */
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
    const model = await train(
      name,
      rows.filter((row) => isTrained(row) && row.fold !== fold),
    )
    for (const row of rows.filter((one) => one.fold === fold)) results.push(await resultOf(name, row, model))
    console.error(`${name}, fold ${fold}`)
  }
  const calibration = calibrate(name, results)
  const lives = results.filter(({ row }) => row.family === 'life' && row.asked.kind !== 'foreign')
  const withoutFold = new Map(
    [...new Set(lives.map(({ row }) => row.fold))].map((fold) => [
      fold,
      calibrate(
        name,
        lives.filter(({ row }) => row.fold !== fold),
      ),
    ]),
  )
  const tables = [
    searchTable(results, calibration.replaced),
    recallTable(
      results.filter(({ row }) => isTrained(row)),
      () => calibration,
    ),
    'Recall in small stores:',
    recallTable(
      results.filter(({ row }) => !isTrained(row)),
      () => calibration,
    ),
    'Recall of each life with the thresholds of the others:',
    recallTable(lives, ({ row }) => withoutFold.get(row.fold) as Calibration),
    reliabilityTable(results),
  ].join('\n\n')
  return { model: { ...(await train(name, rows.filter(isTrained))), ...calibration }, tables }
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
