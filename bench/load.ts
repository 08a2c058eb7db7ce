import { type Ratio, ratioOf, type Spread, spreadOf } from './measure.ts'

export type LoadRow = {
  readonly what: string
  readonly clients: number
  readonly perSecond: number
  readonly spread: Spread
  /** Processor time of one call, if measured. */
  readonly cpuMs?: number
  /** The ratio to the floor, which is the first of the measured calls. */
  readonly ratio?: Ratio
}

const rounds = 5

/**
 * Measures calls and their floor in alternating rounds, so that the same noise affects both. `cpu` returns the processor time so
 * far, in milliseconds, of all processes involved.
 */
export async function inTurns<Question>(
  asks: Readonly<Record<string, (question: Question) => Promise<unknown>>>,
  clients: number,
  questions: readonly Question[],
  cpu?: () => number,
): Promise<readonly LoadRow[]> {
  const seen = Object.keys(asks).map((what) => ({ what, took: [] as (readonly number[])[], seconds: 0, cpuMs: 0 }))
  const inRound = Math.ceil(questions.length / rounds)
  for (let round = 0; round < rounds; round += 1) {
    for (const own of seen) {
      const block = questions.slice(round * inRound, (round + 1) * inRound)
      const before = cpu?.() ?? 0
      const { tookMs, seconds } = await underLoad(clients, block, asks[own.what] as (question: Question) => unknown)
      own.took.push(tookMs)
      own.seconds += seconds
      own.cpuMs += (cpu?.() ?? 0) - before
    }
  }
  return seen.map(({ what, took, seconds, cpuMs }) => ({
    what,
    clients,
    perSecond: took.flat().length / seconds,
    spread: spreadOf(took.flat()),
    ...(cpu === undefined ? {} : { cpuMs: cpuMs / took.flat().length }),
    ratio: ratioOf(took, seen[0]?.took ?? []),
  }))
}

/**
 * Runs questions with this many parallel clients; each client sends its next question when the previous one is
 * answered.
 */
export async function underLoad<Question>(
  clients: number,
  questions: readonly Question[],
  ask: (question: Question) => unknown,
) {
  const tookMs: number[] = []
  const waiting = [...questions]
  const start = performance.now()
  const client = async (): Promise<void> => {
    for (let question = waiting.pop(); question !== undefined; question = waiting.pop()) {
      const begin = performance.now()
      await ask(question)
      tookMs.push(performance.now() - begin)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return { tookMs, seconds: (performance.now() - start) / 1_000 }
}
