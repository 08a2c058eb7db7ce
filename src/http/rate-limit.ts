/** Buckets beyond this many are dropped, the one used longest ago first; a bucket that is dropped is full again. */
const mostBuckets = 10_000

/**
 * A token bucket for each key: at most `perMinute` requests at once, refilled evenly. `wait` takes one and returns 0, or
 * returns how many seconds to wait for the next. 0 a minute is no limit.
 */
export function rateLimit(perMinute: number, clock: () => number): { wait(key: string): number } {
  const buckets = new Map<string, { readonly left: number; readonly at: number }>()
  const perMs = perMinute / 60_000
  return {
    wait: (key) => {
      if (perMinute === 0) return 0
      const now = clock()
      const last = buckets.get(key)
      const left = last === undefined ? perMinute : Math.min(perMinute, last.left + (now - last.at) * perMs)
      buckets.delete(key)
      buckets.set(key, { left: left < 1 ? left : left - 1, at: now })
      const [oldest] = buckets.keys()
      if (buckets.size > mostBuckets && oldest !== undefined) buckets.delete(oldest)
      return left < 1 ? Math.max(1, Math.ceil((1 - left) / perMs / 1_000)) : 0
    },
  }
}
