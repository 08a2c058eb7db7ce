import type { Turn } from '../../beliefs/turn.ts'
import { type Explanation, leaf, product, sum } from '../explanation.ts'
import { correctionCue, type Sentence, sentencesOf } from '../sentences.ts'
import { Slices } from '../slices.ts'
import { newestFirst } from './newest-first.ts'
import { passagesOf } from './passages.ts'
import { announcesPaste, endsInColon, type OwnPart, ownParts } from './pasted.ts'
import { countsIn, heaviestRows, reachOf } from './postings.ts'
import { parseQuestion, type Question } from './question.ts'
import { termsOf, type WantedTerms, wantedTerms } from './terms.ts'
import type { TurnIndex, TurnPostings, TurnUnit, TurnView } from './turn-index.ts'
import { pointsAmong, uncommonPoints } from './word-points.ts'

/**
 * When something that was said may be shown unasked. A sentence scores by how much of the message's telling words it
 * holds; the threshold is passed by at most one in twenty messages of people who never spoke here (docs/conversations.md).
 */
const constants = {
  /** What a word counts by where it was found. */
  inSentence: 1,
  inTurn: 0.7,
  /** Elsewhere in a turn of more terms than `longTurn`: a long text holds many words that have nothing to do with each other. */
  inLongTurn: 0.35,
  longTurn: 120,
  /** In the question that the turn answers. */
  inAnsweredQuestion: 0.7,
  nextTurn: 0.35,
  secondTurn: 0.2,
  /** Added to the points of every message, so that one rare word alone proves no topic. */
  unknown: 12,
  /** For the turn of somebody else than the one person named. */
  wrongSpeaker: 0.5,
  question: 0.44,
  statement: 0.4,
  /** The threshold grows with the logarithm of how much was said, from this many words. */
  slope: 0.05,
  words: 10_000,
  /** The second and third quote need this share of the threshold. */
  keep: 0.85,
  /** A later turn speaks of the same thing if it has this share, by points, of the asked words that the quotes have. */
  sameThing: 0.25,
  /** Quotes may be outdated if more later turns than this speak of the same thing. */
  maxLaterTurns: 1,
}

const mostQuotes = 3
const mostTerms = 60
const mostCandidates = 40
const mostTexts = 30
export const reach = 2
/** Fewer words than this are counted as this many. */
const fewestWords = 200
/** A quote is clipped to so many characters. The sentences that follow are shown as long as there is room. */
const longestQuote = 240
/** A turn up to so many characters speaks of one thing. */
const shortTurn = 500

export type PushedQuote = {
  readonly turn: Turn
  readonly text: string
  readonly score: number
  readonly explanation: Explanation
  /** Words of the message, as they stand there: in the sentence, elsewhere in its turn or around it, and not found. */
  readonly shared: readonly string[]
  readonly nearby: readonly string[]
  /** It stands where a person may have pasted it. */
  readonly perhapsPasted: boolean
  /** Something newer about the same thing is shown too. */
  readonly isEarlier: boolean
}

/** What was shown, or why nothing was. */
export type Push = {
  readonly quotes: readonly PushedQuote[]
  readonly threshold: number
  /** The best that was found, shown or not. */
  readonly best: PushedQuote | null
  /** What the best one lacks; null when it passed. */
  readonly unmet: 'score' | 'an uncommon word' | 'two uncommon words' | 'the newest word' | null
  /** The telling words of the message, and those of them that are too common to tell a topic. */
  readonly asked: readonly string[]
  readonly common: readonly string[]
}

export async function pushQuotes(index: TurnIndex, view: TurnView, message: string): Promise<Push> {
  const read = await readMessage(index, view, message)
  const { threshold, question, words } = read
  const asked = askedWords(read)
  const candidates = await candidatesFor(index, view, read)
  const mayShow = candidates.filter((candidate) => isTelling(candidate, question, words.size))
  const [best] = mayShow
  if (best === undefined || best.quote.score < threshold) {
    const nearest = best ?? candidates[0]
    const unmet = nearest === undefined ? null : unmetBy(nearest, read)
    return { quotes: [], threshold, best: nearest?.quote ?? null, unmet, ...asked }
  }
  const seen = new Set<string>()
  const shown = mayShow
    .filter(({ quote }) => quote.score >= constants.keep * threshold && !seen.has(quote.text) && seen.add(quote.text))
    .slice(0, mostQuotes)
  if (!question.asksPast && (await mayBeOutdated(index, view, shown, read)))
    return { quotes: [], threshold, best: best.quote, unmet: 'the newest word', ...asked }
  const ordered = question.asksPast
    ? shown.map((item) => ({ item, isEarlier: false }))
    : shown.every(({ quote: { turn } }) => isOwn(turn))
      ? newestOfAll(shown)
      : newestFirst(
          shown,
          ({ quote }) => ({ text: quoteTextOf(quote), at: Date.parse(quote.turn.at), session: quote.turn.session }),
          question.terms,
          () => true,
        )
  const corrections = await correctionsOf(index, view, question.asksPast ? [] : shown)
  const quotes = ordered.flatMap(({ item, isEarlier }) => {
    const correction = corrections.get(item)
    const quote = { ...item.quote, isEarlier: isEarlier || correction !== undefined }
    return correction === undefined ? [quote] : [correction, quote]
  })
  return { quotes: quotes.slice(0, mostQuotes), threshold, best: best.quote, unmet: null, ...asked }
}

/** One turn and one message: the best sentence of the turn, and the condition that keeps it from being quoted. */
export type TurnJudgement = Pick<Push, 'threshold' | 'asked' | 'common'> & {
  /** How much was said in the scopes; the threshold grows with the words. A long turn is several units. */
  readonly saidInAll: { readonly units: number; readonly words: number }
  /** Null if no sentence of the turn can be quoted. */
  readonly best: PushedQuote | null
  /** Null if the best sentence passes. */
  readonly unmet: Push['unmet'] | 'a shared word' | "the person's own words"
}

/**
 * Judges one turn by the rules of `pushQuotes`. Only the view is narrowed, to the turn and its neighbours: the statistics,
 * and so score and threshold, are those of all turns in the scopes. `around`: the turns up to `reach` places away, and itself.
 */
export async function judgeTurn(
  index: TurnIndex,
  view: Pick<TurnView, 'user' | 'scopes'>,
  message: string,
  { turn, around }: { readonly turn: Turn; readonly around: readonly Turn[] },
): Promise<TurnJudgement> {
  const times = around.map(({ at }) => Date.parse(at))
  const near = { ...view, session: turn.session, since: Math.min(...times), until: Math.max(...times) }
  const asked = await readMessage(index, near, message)
  const candidates = await candidatesFor(index, near, asked, Date.parse(turn.at))
  const candidate = candidates.find(({ quote }) => quote.turn.id === turn.id)
  const { units, humanWords: words } = asked.postings
  const judged = {
    threshold: asked.threshold,
    ...askedWords(asked),
    saidInAll: { units, words },
    best: candidate?.quote ?? null,
  }
  if (candidate !== undefined) return { ...judged, unmet: unmetBy(candidate, asked) }
  const terms = new Set(termsOf(turn.text).map(({ term }) => term))
  const sharesWord = [...asked.words.keys()].some((term) => terms.has(term))
  return { ...judged, unmet: sharesWord ? "the person's own words" : 'a shared word' }
}

/** Reads a message for quotes: its question, its telling words with their postings, and the threshold. */
async function readMessage(index: TurnIndex, view: TurnView, message: string): Promise<Asked> {
  const question = parseQuestion(message, await index.turnSpeakers(view))
  const words = questionWordsOf(message, question)
  const postings = await index.turnPostings(view, [...words.keys()])
  return { question, words, postings, threshold: thresholdFor(question, postings) }
}

function askedWords({ words, postings }: Pick<Asked, 'words' | 'postings'>): Pick<Push, 'asked' | 'common'> {
  const isCommon = (term: string): boolean => pointsIn(postings, term) < uncommonPoints
  return {
    asked: [...words.values()],
    common: [...words].flatMap(([term, word]) => (isCommon(term) ? [word] : [])),
  }
}

/** The condition that keeps a candidate from being the first quote; null if it meets all. */
function unmetBy(
  candidate: Candidate,
  { threshold, question, words }: Pick<Asked, 'threshold' | 'question' | 'words'>,
): Push['unmet'] {
  if (candidate.quote.score < threshold) return 'score'
  if (isTelling(candidate, question, words.size)) return null
  return question.isQuestion ? 'an uncommon word' : 'two uncommon words'
}

/** Whether the person told it to an assistant. In a dialogue of several people every speaker has a name. */
const isOwn = ({ role, speaker }: Turn): boolean => role === 'user' && speaker === null

/** Everything that answers one question of the person, the newest first; what was said in older conversations is marked. */
function newestOfAll(
  shown: readonly Candidate[],
): readonly { readonly item: Candidate; readonly isEarlier: boolean }[] {
  const saidAt = ({ quote }: Candidate): number => Date.parse(quote.turn.at)
  const sorted = shown.toSorted((a, b) => saidAt(b) - saidAt(a))
  const newest = sorted[0]?.quote.turn.session
  return sorted.map((item) => ({ item, isEarlier: item.quote.turn.session !== newest }))
}

/**
 * Whether the person came back to the topic of the quotes later, in other conversations and in turns that are not shown.
 * One of these turns may have changed the quoted fact, and an outdated value must not be shown alone. Dialogues of named
 * speakers are left out: they are about events, which do not change, more than about facts.
 */
async function mayBeOutdated(
  index: TurnIndex,
  view: TurnView,
  shown: readonly Candidate[],
  { words, postings }: Asked,
): Promise<boolean> {
  const newest = shown.map(({ quote }) => quote.turn).reduce((a, b) => (Date.parse(b.at) > Date.parse(a.at) ? b : a))
  if (!isOwn(newest)) return false
  const wanted = wantedTerms(new Set(words.keys()))
  const shared = new Set(shown.flatMap(({ quote }) => termsOf(quote.turn.text, wanted).map(({ term }) => term)))
  const points = new Map<number, number>()
  let total = 0
  for (const term of [...words.keys()].filter((word) => shared.has(word))) {
    const worth = pointsIn(postings, term)
    total += worth
    for (const row of postings.terms.get(term)?.rows ?? []) points.set(row, (points.get(row) ?? 0) + worth)
  }
  const rows = [...points].flatMap(([row, found]) =>
    found >= constants.sameThing * total && (postings.inView?.has(row) ?? true) ? [row] : [],
  )
  const [units, said] = [await index.unitsAround(view, rows, 0), Date.parse(newest.at)]
  const sessions = new Set(units.filter(({ at, role }) => at === said && role === 'user').map(({ session }) => session))
  const later = units.filter(
    ({ row, role, speaker, at, session }) =>
      points.has(row) && role === 'user' && speaker === null && at > said && !sessions.has(session),
  )
  return new Set(later.map(({ first }) => first)).size > constants.maxLaterTurns
}

/** Marks the quotes that are older than a statement about the same thing. */
export function markOvertaken(
  quotes: readonly PushedQuote[],
  statements: readonly { readonly text: string; readonly at: number }[],
  message: string,
): readonly PushedQuote[] {
  const { terms, asksPast } = parseQuestion(message, [])
  if (asksPast) return quotes
  return quotes.map((quote) => {
    const said = { text: quoteTextOf(quote), at: Date.parse(quote.turn.at), session: quote.turn.session }
    const isOvertaken = statements.some((statement) => {
      const both = newestFirst(
        [{ ...statement, session: '' }, said],
        (one) => one,
        terms,
        () => true,
      )
      return both.some(({ item, isEarlier }) => item === said && isEarlier)
    })
    return isOvertaken ? { ...quote, isEarlier: true } : quote
  })
}

/** What a quote is about: the whole turn, where it is short. */
const quoteTextOf = ({ turn, text }: PushedQuote): string => (turn.text.length <= shortTurn ? turn.text : text)

/** What the same person said next to correct a quote ("Wait no, 2.5 bar"): such a turn has few words to be found by. */
async function correctionsOf(
  index: TurnIndex,
  view: TurnView,
  shown: readonly Candidate[],
): Promise<ReadonlyMap<Candidate, PushedQuote>> {
  const rows = shown.flatMap(({ quote, following }) => (quote.turn.role === 'user' ? following : []))
  const turns = rows.length === 0 ? new Map<number, Turn>() : await index.turnsAt(view.user, rows)
  const known = new Set(shown.map(({ quote }) => quote.turn.id))
  const found = new Map<Candidate, PushedQuote>()
  for (const candidate of shown) {
    const { quote, following } = candidate
    const isBySame = ({ origin, speaker }: Turn): boolean => origin === 'person' && speaker === quote.turn.speaker
    const next = following
      .flatMap((row) => turns.get(row) ?? [])
      .find((turn) => isBySame(turn) && !known.has(turn.id) && isCorrectionOf(quote.text, turn.text))
    const sentences = next === undefined ? [] : ownSentences(next.text, memoizedParts()(next), 0)
    const [first] = sentences
    if (next === undefined || first === undefined) continue
    known.add(next.id)
    const text = quoteAt(sentences, 0)
    const said = { turn: next, text, perhapsPasted: first.part.perhapsPasted || isDoubtful(next, text) }
    found.set(candidate, { ...quote, ...said, shared: [], nearby: [...quote.shared, ...quote.nearby] })
  }
  return found
}

/** Begins like a correction, and has two words of the corrected text, or a number where that has one. */
function isCorrectionOf(corrected: string, text: string): boolean {
  const cue = correctionCue.exec(text.slice(0, 100))?.[0]
  if (cue === undefined) return false
  const rest = text.slice(cue.length, shortTurn)
  const terms = new Set(termsOf(corrected).map(({ term }) => term))
  const shared = new Set(termsOf(rest).flatMap(({ term }) => (terms.has(term) ? [term] : [])))
  return shared.size >= 2 || [corrected, rest].every((one) => /\d/u.test(one))
}

/** The telling terms of a message, each with the word it was written as. Times and the names of speakers say nothing here. */
function questionWordsOf(message: string, { terms }: Question): ReadonlyMap<string, string> {
  const untimed = message.replaceAll('’', "'").replace(timePhrases, (phrase) => ' '.repeat(phrase.length))
  const words = new Map<string, string>()
  for (const { term, start, end } of termsOf(untimed)) {
    if (words.size >= mostTerms) break
    if (terms.has(term) && !words.has(term)) words.set(term, untimed.slice(start, end))
  }
  return words
}

const timePhrases =
  /\b(?:(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|\d+|few|couple(?: of)?|several)\s+(?:day|week|month|year|weekend)s?\s+ago|(?:last|past|this|next|previous)\s+(?:\w+\s+)?(?:day|week|month|year|weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|fall|winter)s?|how many (?:days|weeks|months|years|hours)(?: (?:had|have) passed)?(?: ago)?|today|yesterday|in total)\b/gi

function thresholdFor(question: Question, { humanWords }: TurnPostings): number {
  const base = question.isQuestion ? constants.question : constants.statement
  return base + constants.slope * Math.log(Math.max(humanWords, fewestWords) / constants.words)
}

const mayQuoteAssistant = ({ asksAssistant, asksEither }: Question): boolean => asksAssistant || asksEither

/**
 * A question about oneself or a person named speaks for itself; others need uncommon words, or three words that are all in
 * one sentence. Statements need two uncommon words in one sentence.
 */
function isTelling(
  { quote, uncommonInTurn, uncommonInSentence }: Candidate,
  question: Question,
  asked: number,
): boolean {
  if (!question.isQuestion) return uncommonInSentence >= 2
  if (question.isFirstPerson || question.namesSpeaker || mayQuoteAssistant(question)) return true
  return uncommonInTurn >= 1 || (asked >= 3 && quote.shared.length === asked)
}

type Candidate = {
  readonly quote: PushedQuote
  /** Rows of the person's next turns. */
  readonly following: readonly number[]
  readonly uncommonInTurn: number
  readonly uncommonInSentence: number
}

type Asked = {
  readonly question: Question
  readonly words: ReadonlyMap<string, string>
  readonly postings: TurnPostings
  readonly threshold: number
}

const pointsIn = ({ terms, units }: TurnPostings, term: string): number =>
  pointsAmong(term, { docFreq: terms.get(term)?.rows.length ?? 0, units })

/** The best sentence of each turn that may be quoted, best first; of equal ones the newer. `at`: only of turns said then. */
async function candidatesFor(
  index: TurnIndex,
  view: TurnView,
  asked: Asked,
  at?: number,
): Promise<readonly Candidate[]> {
  const { question, words, postings, threshold } = asked
  const points = (term: string): number => pointsIn(postings, term)
  const terms = [...words.keys()].flatMap((term) => {
    const found = postings.terms.get(term)
    return found === undefined ? [] : [{ term, weight: points(term), postings: found }]
  })
  const rows = heaviestRows(terms, postings.inView, mostCandidates)
  const units = await index.unitsAround(view, rows, 2 * reach)
  const counts = countsIn(terms, units)
  const total = [...words.keys()].reduce((sum_, term) => sum_ + points(term), constants.unknown)
  const mayQuote = (unit: TurnUnit): boolean =>
    (at === undefined || unit.at === at) &&
    (unit.role === 'user' || (unit.role === 'assistant' && mayQuoteAssistant(question)))

  const placed = units.flatMap((unit, at) => {
    if (!mayQuote(unit) || (postings.inView !== null && !postings.inView.has(unit.row))) return []
    const near = placesNear(units, at)
    const found = new Float64Array(terms.length)
    // No sentence of it can score more than this.
    let most = 0
    for (let index_ = 0; index_ < terms.length; index_ += 1) {
      const own = counts[index_] as Uint8Array
      const place = nearestPlaceOf(unit, own[at] !== 0, near, own)
      found[index_] = place
      most += (terms[index_] as (typeof terms)[number]).weight * (own[at] === 0 ? place : constants.inSentence)
    }
    const following = near.following.filter((row) => postings.inView?.has(row) ?? true)
    return most === 0 ? [] : [{ unit, at, found, most, previous: near.previous, following }]
  })
  // What cannot reach the threshold is not read, but for a few that tell how near it came.
  const close = placed
    .sort((one, other) => other.most - one.most || other.unit.at - one.unit.at)
    .filter(({ most }, place) => place < mostQuotes || most >= constants.keep * threshold * total)
    .slice(0, mostTexts)
  const turns = await index.turnsAt(
    view.user,
    close.flatMap(({ unit, previous }) => (previous === null ? [unit.row] : [unit.row, previous])),
  )
  const wanted = wantedTerms(new Set(terms.map(({ term }) => term)))
  const slices = new Slices()
  const partsOfTurn = memoizedParts()
  const read = new Set<string>()
  const candidates: Candidate[] = []
  for (const { unit, at, found, previous, following } of close) {
    if (slices.areOver) await slices.pause()
    const turn = turns.get(unit.row)
    if (turn === undefined || (turn.role === 'user' && turn.origin !== 'person')) continue
    const before = previous === null ? undefined : turns.get(previous)
    if (turn.role === 'user' && before !== undefined && announcesPaste(before.text)) continue
    // People often say the same again. The first of equal passages scores most, and a text is quoted once.
    const said = JSON.stringify([turn.text, unit.row - unit.first, turn.role, unit.speaker])
    if (read.has(said)) continue
    read.add(said)
    const isOther = question.speaker !== null && unit.speaker !== question.speaker
    const sentences = ownSentences(turn.text, partsOfTurn(turn), unit.row - unit.first)
    const factor = isOther ? constants.wrongSpeaker : 1
    const foundTerms = terms.map(({ term, weight }, index_) => {
      const isOwn = counts[index_]?.[at] !== 0
      return { term, points: weight, isOwn, place: found[index_] as number }
    })
    const best = bestSentence(turn, sentences, { found: foundTerms, words, wanted, total, factor })
    if (best !== null) candidates.push({ ...best, following })
  }
  return candidates.sort(
    (one, other) =>
      other.quote.score - one.quote.score || Date.parse(other.quote.turn.at) - Date.parse(one.quote.turn.at),
  )
}

/** `isOwn`: the turn itself holds it. `place`: what it counts for a sentence that does not. */
type FoundTerm = { readonly term: string; readonly points: number; readonly isOwn: boolean; readonly place: number }

/** The units near another, by their place in the list, with what a term counts that is found there. */
type NearPlaces = {
  readonly places: readonly number[]
  readonly shares: readonly number[]
  /** The row of the last unit of an earlier turn of a person, and the rows of later turns. */
  readonly previous: number | null
  readonly following: readonly number[]
}

function placesNear(units: readonly TurnUnit[], at: number): NearPlaces {
  const own = units[at] as TurnUnit
  const [from, to] = reachOf(units, at, reach)
  const places: number[] = []
  const shares: number[] = []
  let previous: TurnUnit | null = null
  const following: number[] = []
  for (let other = from; other <= to; other += 1) {
    const unit = units[other] as TurnUnit
    if (other === at) continue
    const distance = unit.place - own.place
    if (distance < 0 && unit.role === 'user') previous = unit
    if (distance > 0 && unit.role === 'user' && unit.row === unit.first) following.push(unit.row)
    const isAnswered =
      distance === -1 && unit.asks && unit.role === 'user' && own.role === 'user' && unit.speaker !== own.speaker
    places.push(other)
    shares.push(
      isAnswered
        ? constants.inAnsweredQuestion
        : ([constants.inTurn, constants.nextTurn, constants.secondTurn][Math.abs(distance)] as number),
    )
  }
  return { places, shares, previous: previous?.row ?? null, following }
}

/** What a term counts by where it is found: in the unit itself, in the question it answers, or in the turns beside it. */
function nearestPlaceOf(own: TurnUnit, isOwn: boolean, { places, shares }: NearPlaces, counts: Uint8Array): number {
  if (isOwn) return own.length > constants.longTurn ? constants.inLongTurn : constants.inTurn
  let most = 0
  for (let one = 0; one < places.length; one += 1)
    if (counts[places[one] as number] !== 0 && (shares[one] as number) > most) most = shares[one] as number
  return most
}

type Scoring = {
  readonly found: readonly FoundTerm[]
  readonly words: ReadonlyMap<string, string>
  readonly wanted: WantedTerms
  readonly total: number
  readonly factor: number
}

/** The sentence that scores best; null where there is none. */
function bestSentence(
  turn: Turn,
  sentences: readonly OwnSentence[],
  scoring: Scoring,
): Omit<Candidate, 'following'> | null {
  const { found, words, wanted, total, factor } = scoring
  let best: { place: number; score: number; held: ReadonlySet<string> } | null = null
  for (const [place, { text }] of sentences.entries()) {
    const held = new Set(termsOf(text, wanted).map(({ term }) => term))
    const score = found.reduce(
      (sum_, one) => sum_ + one.points * (held.has(one.term) ? constants.inSentence : one.place),
      0,
    )
    if (best === null || score > best.score) best = { place, score, held }
  }
  if (best === null) return null
  const { place, held } = best
  const isUncommon = ({ points }: FoundTerm): boolean => points >= uncommonPoints
  const shareOf = ({ term, points, place: near }: FoundTerm): Explanation =>
    product(words.get(term) ?? term, [
      leaf('points for its rarity', points),
      held.has(term) ? leaf('in the sentence', 1) : leaf('near it', near),
    ])
  const explanation = product('score: the share of all points', [
    sum('points found', found.filter((one) => one.place > 0).map(shareOf)),
    leaf(`1 / ${total}: the points of all words of the message, and ${constants.unknown}`, 1 / total),
    ...(factor === 1 ? [] : [leaf('not said by the person asked about', factor)]),
  ])
  const written = (terms: readonly FoundTerm[]): readonly string[] => terms.map(({ term }) => words.get(term) ?? term)
  const shared = written(found.filter(({ term }) => held.has(term)))
  const nearby = written(found.filter(({ term, place: near }) => near > 0 && !held.has(term)))
  const text = quoteAt(sentences, place)
  const perhapsPasted = sentences[place]?.part.perhapsPasted === true || isDoubtful(turn, text)
  return {
    quote: { turn, text, score: explanation.value, explanation, shared, nearby, perhapsPasted, isEarlier: false },
    uncommonInTurn: found.filter((one) => isUncommon(one) && (one.isOwn || one.place >= constants.inTurn)).length,
    uncommonInSentence: found.filter((one) => isUncommon(one) && held.has(one.term)).length,
  }
}

/** Characters of a statement that a quote is compared with: it may end earlier than the statement. */
const comparedBeginning = 40

/** Whether a quote of a person's turn has a statement that may be pasted. Unknown counts as such. */
const isDoubtful = ({ role, text, doubtful }: Turn, quote: string): boolean =>
  role === 'user' &&
  (doubtful?.some(([start, end]) => quote.includes(text.slice(start, Math.min(end, start + comparedBeginning)))) ??
    true)

/** A piece shorter than this is read together with its neighbour. */
const shortPiece = 20
const mostSentences = 40

/** A sentence, and the part of the turn that it is quoted from. */
type OwnSentence = Sentence & { readonly part: OwnPart }

type TurnParts = { readonly passages: readonly string[]; readonly own: readonly OwnPart[] }

/** The passages of a turn, and what of it may be quoted: of a person's turn, what is not pasted. Each turn is read once. */
function memoizedParts(): (turn: Turn) => TurnParts {
  const known = new Map<string, TurnParts>()
  return ({ id, role, text }) => {
    const own = () => (role === 'user' ? ownParts(text) : [{ start: 0, end: text.length, perhapsPasted: false }])
    const parts = known.get(id) ?? { passages: passagesOf(text), own: own() }
    known.set(id, parts)
    return parts
  }
}

/** The sentences of a turn's passage that may be quoted. One that announces a pasted text says nothing without it. */
function ownSentences(text: string, { passages, own }: TurnParts, place: number): readonly OwnSentence[] {
  const start = passages.slice(0, place).reduce((length, passage) => length + passage.length, 0)
  const end = start + (passages[place] ?? '').length
  return own.flatMap((part) =>
    joinedSentences(text.slice(Math.max(start, part.start), Math.min(end, part.end)))
      .filter((one) => part.end === text.length || !endsInColon(one.text))
      .map((one) => ({ ...one, part })),
  )
}

/** Sentences, with fragments such as "Yes." joined to what follows them. */
function joinedSentences(text: string): readonly Sentence[] {
  const joined: Sentence[] = []
  for (const sentence of sentencesOf(text)) {
    const last = joined.at(-1)
    if (last !== undefined && (sentence.text.length < shortPiece || last.text.length < shortPiece))
      joined[joined.length - 1] = { start: last.start, end: sentence.end, text: text.slice(last.start, sentence.end) }
    else joined.push(sentence)
  }
  return joined.slice(0, mostSentences)
}

/** The sentence, with those that follow it: "Mr. Okafor cannot come on Thursday. He comes on Monday instead." */
function quoteAt(sentences: readonly OwnSentence[], place: number): string {
  let text = ''
  for (const { text: next, part } of sentences.slice(place)) {
    const longer = `${text} ${next}`.replace(/\s+/gu, ' ').trim()
    const isLast = part !== sentences[place]?.part || longer.length > longestQuote || next.endsWith('?')
    if (text !== '' && isLast) break
    text = longer
  }
  return text.length > longestQuote ? `${text.slice(0, longestQuote - 1).trimEnd()}…` : text
}
