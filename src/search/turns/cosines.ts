import type { MessageVectors } from './turn-index.ts'

/** The length of a unit vector with a byte for each dimension. */
const unit = 127

/** Scales vectors to length 1 and packs them with one byte per dimension. They then need a quarter of the space, and give almost the same ranking. */
export function packVectors(vectors: readonly Float32Array[], dimensions: number): Int8Array {
  const bytes = new Int8Array(vectors.length * dimensions)
  for (const [place, vector] of vectors.entries()) {
    const length = Math.hypot(...vector) || 1
    for (let at = 0; at < dimensions; at += 1)
      bytes[place * dimensions + at] = Math.round((unit * (vector[at] ?? 0)) / length)
  }
  return bytes
}

/** The cosine of two packed vectors, each given by its list and its position in that list. */
export function cosineAt(a: Int8Array, placeA: number, b: Int8Array, placeB: number, dimensions: number): number {
  const fromA = placeA * dimensions
  const fromB = placeB * dimensions
  let product = 0
  for (let at = 0; at < dimensions; at += 1) product += (a[fromA + at] as number) * (b[fromB + at] as number)
  return product / (unit * unit)
}

/**
 * Returns a function that compares a message with turns. The result is the mean of two cosines: that of the turn's best
 * sentence, and that of the whole turn (the sum of its sentences). If the message has several vectors, each cosine uses
 * the one that fits best.
 */
export function compareWith({ vectors: message, dimensions }: MessageVectors): (turn: Int8Array) => number {
  const asked = Math.floor(message.length / dimensions)
  const whole = new Float64Array(dimensions)
  return (turn) => {
    const sentences = Math.floor(turn.length / dimensions)
    if (sentences === 0) return 0
    whole.fill(0)
    for (let from = 0; from < turn.length; from += dimensions)
      for (let at = 0; at < dimensions; at += 1) whole[at] = (whole[at] as number) + (turn[from + at] as number)
    let squares = 0
    for (let at = 0; at < dimensions; at += 1) squares += (whole[at] as number) ** 2
    const length = Math.sqrt(squares) || 1
    let bestSentence = -1
    let bestWhole = -1
    for (let one = 0; one < asked; one += 1) {
      let total = 0
      for (let sentence = 0; sentence < sentences; sentence += 1) {
        const cosine = cosineAt(message, one, turn, sentence, dimensions)
        total += cosine
        if (cosine > bestSentence) bestSentence = cosine
      }
      bestWhole = Math.max(bestWhole, (total * unit) / length)
    }
    return (bestSentence + bestWhole) / 2
  }
}
