/** The waiting callers of `yieldToEventLoop`, in order. */
const waiting: (() => void)[] = []

function resumeOne(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(resumeOne)
}

/**
 * Yields to the event loop, so that long work does not delay timers and other requests. Each turn of the event loop resumes
 * one waiting caller.
 */
export const yieldToEventLoop = (): Promise<void> =>
  new Promise((resume) => {
    if (waiting.push(resume) === 1) setImmediate(resumeOne)
  })

/** Runs a generator, and yields to the event loop after each step. */
export async function runYielding<Result>(work: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const { done, value } = work.next()
    await yieldToEventLoop()
    if (done) return value
  }
}

/** Runs a generator to its end without yielding to the event loop. */
export function runToEnd<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}
