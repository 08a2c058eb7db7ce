/** Callers of `nextTurn` in this process that wait, in their order. */
const waiting: (() => void)[] = []

function resumeOne(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(resumeOne)
}

/**
 * Lets the event loop turn, so that timers and other requests are not kept waiting by long work. Each turn resumes one of the callers
 * that wait, however many there are.
 */
export const nextTurn = (): Promise<void> =>
  new Promise((resume) => {
    if (waiting.push(resume) === 1) setImmediate(resumeOne)
  })

/** Runs work that yields after each part, and lets the event loop turn after each. */
export async function inTurns<Result>(work: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const { done, value } = work.next()
    await nextTurn()
    if (done) return value
  }
}

/** Runs work that yields after each part without a pause. */
export function runToEnd<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}
