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

/** Long work yields to the event loop after this many milliseconds, so that a server stays responsive. */
export const sliceMs = 4

/** Runs a generator, and yields to the event loop after each step that ends more than `ms` after the last yield. */
export async function runYielding<Result>(work: Generator<void, Result>, ms = sliceMs): Promise<Result> {
  for (let until = performance.now() + ms; ; ) {
    const { done, value } = work.next()
    if (performance.now() >= until) {
      await yieldToEventLoop()
      until = performance.now() + ms
    }
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
