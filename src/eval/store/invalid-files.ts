import type { Checked, Problem } from './parse-artifact.ts'

/** How many files of a tree are unusable, and what is wrong with the first of them. */
export type InvalidFiles = { readonly count: number; readonly problems: readonly Problem[] }

/** A report names this many at most; the count stays exact. */
const mostNamed = 20

/** Counts unusable files while a tree is scanned, however many there are. */
export function invalidFiles() {
  let count = 0
  const problems: Problem[] = []
  return {
    see: (checked: Checked<unknown>): void => {
      if (checked.ok) return
      count += 1
      if (problems.length < mostNamed) problems.push(...checked.problems)
    },
    found: (): InvalidFiles => ({ count, problems }),
  }
}
