/** The time a task has, for all its sessions together. */
export type Budget = { readonly totalMs: number; readonly leftMs: () => number }

/** Longer timers fire at once. */
const longestTimerMs = 2 ** 31 - 1

export function budgetOf(totalMs: number): Budget {
  const end = performance.now() + totalMs
  return { totalMs, leftMs: () => end - performance.now() }
}

/**
 * Does something in the time that is left. `limit` is raised when that is over or `signal` is; the answer does not wait
 * for work that pays no heed to it.
 */
export async function inTime<Result>(
  budget: Budget,
  signal: AbortSignal,
  work: (limit: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted()
  const over = new AbortController()
  const end = (): void => over.abort(new DOMException('The time is used up.', 'TimeoutError'))
  const limit = AbortSignal.any([signal, over.signal])
  const leftMs = budget.leftMs()
  if (leftMs <= 0) end()
  limit.throwIfAborted()
  const timer = setTimeout(end, Math.min(leftMs, longestTimerMs))
  try {
    return await new Promise<Result>((resolve, reject) => {
      const working = work(limit)
      limit.addEventListener('abort', () => settleOr(working, lateMs, () => reject(limit.reason)), { once: true })
      // An answer that came after its time is none.
      working.then((result) => (limit.aborted ? reject(limit.reason) : resolve(result)), reject)
    })
  } finally {
    clearTimeout(timer)
  }
}

/** Work that heeds the limit still has to end its processes, and then says what it did until then. */
const lateMs = 5_000

function settleOr(working: Promise<unknown>, afterMs: number, giveUp: () => void): void {
  const timer = setTimeout(giveUp, afterMs)
  const clear = (): void => clearTimeout(timer)
  working.then(clear, clear)
}
