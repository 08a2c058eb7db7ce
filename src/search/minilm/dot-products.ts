/**
 * Dot products of integers in WebAssembly, eight at a time. They take most of the model's time, and are slow in JavaScript.
 * Integer sums are exact, so every machine gets the same results.
 */

/** The sum of `maxTerms` products of numbers up to `maxInteger` fits into 32 bits. */
export const maxInteger = 2047
export const maxTerms = 512

/** Addresses, `stride` and `length` are in bytes. Rows of both matrices have `stride` bytes; the first `length` are multiplied. */
type Products = {
  /** Rows of 16-bit numbers; an even number of them. */
  readonly inputs: number
  readonly inputCount: number
  /** Rows of 16-bit numbers; a multiple of four. */
  readonly weights: number
  readonly weightCount: number
  readonly stride: number
  /** At most `maxTerms` numbers; a multiple of 16 bytes. */
  readonly length: number
  /** For each input a row of 32-bit floats, one per row of weights. The products are added to the existing values. */
  readonly results: number
}

/** Allocates `bytes` bytes of memory, and returns it with a function that multiplies matrices in it. */
export async function openProducts(
  bytes: number,
): Promise<{ readonly memory: ArrayBuffer; readonly multiply: (products: Products) => void }> {
  const pages = Math.ceil(bytes / 65_536)
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages })
  const { instance } = await WebAssembly.instantiate(program(), { env: { memory } })
  const multiply = instance.exports.multiply as (...sizes: readonly number[]) => void
  return {
    memory: memory.buffer,
    multiply: ({ inputs, inputCount, weights, weightCount, stride, length, results }) =>
      multiply(inputs, inputCount, weights, weightCount, stride, length, results),
  }
}

// Node's types lack WebAssembly, and the DOM types would add all other globals of a browser.
declare namespace WebAssembly {
  class Memory {
    constructor(pages: { readonly initial: number; readonly maximum: number })
    readonly buffer: ArrayBuffer
  }
  function instantiate(
    program: Uint8Array,
    imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  ): Promise<{ readonly instance: { readonly exports: Readonly<Record<string, unknown>> } }>
}

type Code = readonly number[]

const number = (value: number): Code => (value < 128 ? [value] : [(value & 127) | 128, ...number(value >>> 7)])
/** LEB128 for signed numbers, which reserves a bit for the sign. */
const signedLeb128 = (value: number): Code =>
  value >= -64 && value < 64 ? [value & 127] : [(value & 127) | 128, ...signedLeb128(value >> 7)]

const get = (local: number): Code => [0x20, ...number(local)]
const set = (local: number): Code => [0x21, ...number(local)]
const constant = (value: number): Code => [0x41, ...signedLeb128(value)]
const vector = (instruction: number): Code => [0xfd, ...number(instruction)]
const load = (offset: number): Code => [...vector(0), 0, ...number(offset)]
const store: Code = [...vector(11), 0, 0]
const zeros: Code = [...vector(12), ...Array.from({ length: 16 }, () => 0)]
/** A shuffle that selects four of the eight 32-bit numbers in two vectors. */
const pick = (...places: readonly number[]): Code => [
  ...vector(13),
  ...places.flatMap((place) => [0, 1, 2, 3].map((byte) => 4 * place + byte)),
]
const plus: Code = [0x6a]
const addWhole = vector(174)
const dot = vector(186)
const addFloats = vector(228)
const toFloats = vector(250)
const increase = (local: number, by: Code): Code => [...get(local), ...by, ...plus, ...set(local)]
/** Repeats code until `counter`, which starts at the value on the stack and falls by `step`, is zero. */
const repeat = (counter: number, step: number, code: Code): Code => [
  ...set(counter),
  ...[0x03, 0x40, ...code],
  ...[...get(counter), ...constant(step), 0x6b, 0x22, ...number(counter), 0x0d, 0, 0x0b],
]

const rowsAtOnce = 4
const inputsAtOnce = 2

/**
 * The program processes four rows of weights and two inputs at a time, with eight running sums of four lanes each. At the end
 * it adds up the lanes of each sum, and stores the sums of an input next to each other.
 */
function program(): Uint8Array {
  const inputs = 0
  const inputCount = 1
  const weights = 2
  const weightCount = 3
  const stride = 4
  const length = 5
  const results = 6
  const weightsLeft = 7
  const inputsLeft = 8
  const bytesLeft = 9
  const input = 10
  const result = 11
  const rows = Array.from({ length: rowsAtOnce + inputsAtOnce }, (_, place) => 12 + place)
  const firstVector = 12 + rows.length
  const sums = Array.from({ length: inputsAtOnce }, (_, one) =>
    Array.from({ length: rowsAtOnce }, (_, row) => firstVector + one * rowsAtOnce + row),
  )
  const held = firstVector + inputsAtOnce * rowsAtOnce
  const weightRows = rows.slice(0, rowsAtOnce)
  const inputRows = rows.slice(rowsAtOnce)

  const multiplyAt = (offset: number): Code => [
    ...inputRows.flatMap((row, one) => [...get(row), ...load(offset), ...set(held + one)]),
    ...weightRows.flatMap((row, at) => [
      ...[...get(row), ...load(offset), ...set(held + inputsAtOnce)],
      ...sums.flatMap((own, one) => [
        ...[...get(own[at] as number), ...get(held + inputsAtOnce), ...get(held + one)],
        ...[...dot, ...addWhole, ...set(own[at] as number)],
      ]),
    ]),
  ]
  const addedUp = ([a, b, c, d]: readonly number[]): Code => {
    const halves = (a: number, b: number): Code => [
      ...[...get(a), ...get(b), ...pick(0, 1, 4, 5), ...get(a), ...get(b), ...pick(2, 3, 6, 7)],
      ...addWhole,
    ]
    return [
      ...[...halves(a as number, b as number), ...set(a as number)],
      ...[...halves(c as number, d as number), ...set(c as number)],
      ...[...get(a as number), ...get(c as number), ...pick(0, 2, 4, 6)],
      ...[...get(a as number), ...get(c as number), ...pick(1, 3, 5, 7), ...addWhole],
    ]
  }
  const startRows = (own: readonly number[], from: number): Code => [
    ...[...get(from), ...set(own[0] as number)],
    ...own.slice(1).flatMap((row, before) => [...get(own[before] as number), ...get(stride), ...plus, ...set(row)]),
  ]
  const forInputs: Code = [
    ...[...startRows(weightRows, weights), ...startRows(inputRows, input)],
    ...sums.flat().flatMap((one) => [...zeros, ...set(one)]),
    ...get(length),
    ...repeat(bytesLeft, 16, [...multiplyAt(0), ...rows.flatMap((row) => increase(row, constant(16)))]),
    ...sums.flatMap((own) => [
      ...[...get(result), ...get(result), ...load(0), ...addedUp(own), ...toFloats, ...addFloats, ...store],
      ...increase(result, [...get(weightCount), ...constant(2), 0x74]),
    ]),
    ...increase(input, [...get(stride), ...constant(1), 0x74]),
  ]
  const forWeights: Code = [
    ...[...get(inputs), ...set(input), ...get(results), ...set(result)],
    ...[...get(inputCount), ...repeat(inputsLeft, inputsAtOnce, forInputs)],
    ...increase(weights, [...get(stride), ...constant(2), 0x74]),
    ...increase(results, constant(16)),
  ]
  const body: Code = [
    ...[2, ...number(firstVector - 7), 0x7f, ...number(held + inputsAtOnce + 1 - firstVector), 0x7b],
    ...[...get(weightCount), ...repeat(weightsLeft, rowsAtOnce, forWeights), 0x0b],
  ]
  const section = (id: number, content: Code): Code => [id, ...number(content.length), ...content]
  const text = (value: string): Code => [value.length, ...Buffer.from(value)]
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 7, ...Array.from({ length: 7 }, () => 0x7f), 0]),
    ...section(2, [1, ...text('env'), ...text('memory'), 2, 0, 0]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...text('multiply'), 0, 0]),
    ...section(10, [1, ...number(body.length), ...body]),
  ])
}
