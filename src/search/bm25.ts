/**
 * Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009), with the idf that stays
 * positive for a term in every document.
 */
type TermStats = { readonly docFreq: number; readonly docCount: number }
type FieldMatch = { readonly termFreq: number; readonly length: number; readonly averageLength: number }

/** How much repetitions count: the smaller the value, the sooner they stop adding to the score. */
const K1 = 1.2
/** How much a long field lowers the score, from 0 to 1. */
const B = 0.75

/** Rare terms weigh more. Never negative, even for a term in every document. */
export const inverseDocFreq = ({ docFreq, docCount }: TermStats): number =>
  Math.log(1 + (docCount - docFreq + 0.5) / (docFreq + 0.5))

/** Each repetition counts less than the one before, and less in a long field than in a short one. Stays below 1. */
export const saturation = ({ termFreq, length, averageLength }: FieldMatch): number =>
  termFreq / (termFreq + K1 * (1 - B + (B * length) / averageLength))

/**
 * The gain of the nth mention of a form. Each form is a separate field of average length, so other aliases do not lower its
 * score.
 */
export const mentionGain = (nth: number): number => mentions(nth) - mentions(nth - 1)

const mentions = (count: number): number => saturation({ termFreq: count, length: 1, averageLength: 1 })
