import type { Turn } from '../../beliefs/turn.ts'
import { inverseDocFreq } from '../bm25.ts'
import { passagesOf } from './passages.ts'
import type { Question } from './question.ts'
import { type HoldingSentence, sentencesHolding } from './sentences-holding.ts'
import { termsOf, wantedTerms } from './terms.ts'
import type { TurnIndex, TurnUnit, TurnView } from './turn-index.ts'
import { pointsOf } from './word-points.ts'

/**
 * When a newer turn is taken for an update of an older one. Chosen on development data (docs/conversations.md): a lower
 * `minShared` finds more updates and puts more unrelated turns first.
 */
const constants = {
  /** Words that the question asks for count this many times. */
  asked: 2,
  /** Min weight of the shared words, as a multiple of the weight of a word that no turn has. */
  minShared: 1.7,
  /** Min number of shared words that are not common. */
  minWords: 2,
  /** A word in more than this share of all turns is common. */
  common: 0.05,
}
/** Max words of a statement that newer turns are looked up by: the rarest in English. */
const maxTerms = 24
/** Max newer turns whose text is read. */
const maxTexts = 30

/** A passage of a turn. */
export type Passage = { readonly unit: TurnUnit; readonly turn: Turn; readonly passage: string }

/**
 * The newer turn of the person that most likely updates the statement of a hit; null if none is likely. People state a new
 * value in other words than the question: "Traefik is stopped" shares no word with "What is my reverse proxy?", but two
 * with the statement that it updates. So newer turns are looked up by the words of the statement.
 */
export async function updateOf(
  index: TurnIndex,
  view: TurnView,
  { unit, turn, passage }: Passage,
  { terms: asked }: Question,
): Promise<Passage | null> {
  const statement = bestPair(sentencesHolding(passage, wantedTerms(asked)), (term) => asked.get(term) ?? 0)
  // A statement with every word of the question is compared with newer ones by `newestFirst`.
  if ([...asked.keys()].every((term) => statement.held.has(term))) return null
  const words = [...new Set(termsOf(statement.text).map(({ term }) => term))]
    .sort((a, b) => pointsOf(b) - pointsOf(a))
    .slice(0, maxTerms)
  const postings = await index.turnPostings(view, words)
  const rarity = (docFreq: number): number => inverseDocFreq({ docFreq, docCount: postings.units })
  const weights = new Map(
    [...postings.terms].map(([term, { rows }]) => [
      term,
      {
        weight: rarity(rows.length) * (asked.has(term) ? constants.asked : 1),
        isCommon: rows.length > constants.common * postings.units,
      },
    ]),
  )
  const isLikely = (terms: Iterable<string>): boolean => {
    const shared = [...terms].flatMap((term) => weights.get(term) ?? [])
    const weight = shared.reduce((total, one) => total + one.weight, 0)
    const distinctive = shared.filter(({ isCommon }) => !isCommon).length
    return weight >= constants.minShared * rarity(0) && distinctive >= constants.minWords
  }
  const held = new Map<number, string[]>()
  for (const [term, { rows }] of postings.terms)
    for (const row of rows) if (postings.inView?.has(row) ?? true) held.set(row, [...(held.get(row) ?? []), term])
  const weightOf = (terms: Iterable<string>): number =>
    [...terms].reduce((total, term) => total + (weights.get(term)?.weight ?? 0), 0)
  const rows = [...held]
    .filter(([, terms]) => isLikely(terms))
    .sort(([, a], [, b]) => weightOf(b) - weightOf(a))
    .map(([row]) => row)
  const units = (await index.unitsAround(view, rows, 0)).filter(
    (other) =>
      held.has(other.row) &&
      other.role === 'user' &&
      other.speaker === unit.speaker &&
      other.at > unit.at &&
      other.session !== unit.session,
  )
  const close = units.toSorted((a, b) => rows.indexOf(a.row) - rows.indexOf(b.row)).slice(0, maxTexts)
  const turns = await index.turnsAt(
    turn.user,
    close.map(({ row }) => row),
  )
  const wanted = wantedTerms(new Set(words))
  let best: (Passage & { readonly weight: number }) | null = null
  for (const other of close) {
    const said = turns.get(other.row)
    if (said === undefined || said.origin !== 'person') continue
    const text = passagesOf(said.text)[other.row - other.first] ?? ''
    const { held: shared } = bestPair(sentencesHolding(text, wanted), (term) => weights.get(term)?.weight ?? 0)
    const weight = weightOf(shared)
    if (
      isLikely(shared) &&
      (best === null || weight > best.weight || (weight === best.weight && other.at > best.unit.at))
    )
      best = { unit: other, turn: said, passage: text, weight }
  }
  return best
}

/** The two consecutive sentences whose words weigh most together. */
function bestPair(
  sentences: readonly HoldingSentence[],
  weightOf: (term: string) => number,
): { readonly text: string; readonly held: ReadonlySet<string> } {
  let best = { text: '', held: new Set<string>(), weight: Number.NEGATIVE_INFINITY }
  for (const [at, first] of sentences.entries()) {
    const second = sentences[at + 1]
    const held = new Set([...first.held, ...(second?.held ?? [])])
    const weight = [...held].reduce((total, term) => total + weightOf(term), 0)
    if (weight > best.weight) best = { text: `${first.text} ${second?.text ?? ''}`, held, weight }
  }
  return best
}
