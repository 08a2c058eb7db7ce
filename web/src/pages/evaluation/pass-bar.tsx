import type { ListedRun } from '../../../../src/http/api/contract.ts'
import { count } from '../../format/numbers.ts'
import { fixed } from '../../plots/scale.ts'

/** How the cases of a run ended, as shares of one bar. What was not measured is not counted as failed. */
export function PassBar({ listed }: { readonly listed: ListedRun }) {
  const { run } = listed
  const parts = [
    { name: 'passed', cases: run.passedCases },
    { name: 'failed', cases: run.failedCases },
    { name: 'error', cases: run.errorCases ?? 0 },
    { name: 'other', cases: (run.skippedCases ?? 0) + (run.unjudgedCases ?? 0) + (run.pendingCases ?? 0) },
  ]
  const total = Math.max(1, run.totalCases)
  let at = 0
  return (
    <svg
      class="pass-bar"
      viewBox="0 0 100 8"
      preserveAspectRatio="none"
      role="img"
      aria-label={parts
        .filter(({ cases }) => cases > 0)
        .map(({ name, cases }) => `${count(cases)} ${name}`)
        .join(', ')}
    >
      <rect class="score-ground" width="100" height="8" />
      {parts.map(({ name, cases }) => {
        const x = at
        const width = (cases / total) * 100
        at += width
        return <rect key={name} class={`share-${name}`} x={fixed(x)} width={fixed(width)} height="8" />
      })}
    </svg>
  )
}
