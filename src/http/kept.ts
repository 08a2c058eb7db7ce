/**
 * Does costly work at most so often: an answer is kept for a while, and whoever asks while it is being made waits for the
 * same one. What fails is not kept.
 */
export function kept<Result>(
  make: () => Promise<Result>,
  { clock, keptMs }: { readonly clock: () => number; readonly keptMs: number },
): () => Promise<Result> {
  let last: { readonly at: number; readonly result: Promise<Result> } | null = null
  return () => {
    if (last !== null && clock() - last.at < keptMs) return last.result
    const made = { at: clock(), result: make() }
    last = made
    made.result.catch(() => {
      if (last === made) last = null
    })
    return made.result
  }
}
