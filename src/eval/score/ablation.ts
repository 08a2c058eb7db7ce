import type { PackCase } from '../kinds/kind.ts'
import type { CaseRecord } from '../store/schemas/run.ts'
import { summariseCases } from './figures.ts'

/** A system without a part must score at least this much less than the whole, or the pack measures something else. */
export const leastLoss = 0.2

/** Passes of something. */
export type Share = { readonly passed: number; readonly total: number }

export type AblationResult = {
  readonly ablation: string
  /** Over the cases that expect something. */
  readonly whole: Share
  readonly without: Share
  /** Over the cases in which silence is right, which a system that is switched off passes too. */
  readonly silent: Share
  /** Why the pack does not measure the part; null when it does. */
  readonly problem: string | null
}

/** Whether switching a part off is seen in the cases that expect something to come back. */
export function judgeAblation(
  ablation: string,
  cases: readonly PackCase[],
  runs: { readonly whole: readonly CaseRecord[]; readonly without: readonly CaseRecord[] },
): AblationResult {
  const expecting = new Set(cases.filter(({ expectsSomething }) => expectsSomething).map(({ id }) => id))
  const whole = shareOf(runs.whole, (id) => expecting.has(id))
  const without = shareOf(runs.without, (id) => expecting.has(id))
  const silent = shareOf(runs.without, (id) => !expecting.has(id))
  return { ablation, whole, without, silent, problem: problemOf(ablation, whole, without) }
}

function problemOf(ablation: string, whole: Share, without: Share): string | null {
  if (whole.total === 0) return `No case expects anything to come back, so ${ablation} cannot be told from the whole.`
  const [all, part] = [whole.passed / whole.total, without.passed / without.total]
  // Written as "not more than" so that a share that is no number is a problem.
  if (all - part > leastLoss + 1e-9) return null
  return `With ${ablation}, ${without.passed}/${without.total} of the cases that expect something pass, against ${whole.passed}/${whole.total} with everything on. The pack measures something else.`
}

function shareOf(records: readonly CaseRecord[], isCounted: (id: string) => boolean): Share {
  const own = summariseCases(records.filter(({ caseId }) => isCounted(caseId)))
  return { passed: own.counts.passedCases, total: own.results.length }
}
