import type { Pack } from '../kinds/retrieval/pack.ts'
import { runPack } from '../kinds/retrieval/run-pack.ts'
import { summarise } from '../score/summary.ts'
import type { Backends } from '../system/backends.ts'

/** A pack that silence passes to a larger part says little about finding. */
export const mostPassedByNone = 0.6

export type PackCheck = {
  readonly pack: string
  readonly cases: number
  readonly passedByNone: number
  readonly passedByOracle: number
  /** Why the pack is not fit to judge anything by; empty when it is. */
  readonly problems: readonly string[]
}

/**
 * Whether a pack, which has been read strictly, tells good from bad: returning nothing must not be enough, and what it
 * expects must be possible.
 */
export async function checkPack(pack: Pack, backends: Backends): Promise<PackCheck> {
  const none = await passesOf(pack, backends, 'none')
  const oracle = await passesOf(pack, backends, 'oracle')
  const problems: string[] = []
  if (none.passed > none.total * mostPassedByNone) {
    problems.push(
      `Finding nothing passes ${none.passed} of ${none.total} cases; at most ${mostPassedByNone * 100} % are allowed.`,
    )
  }
  for (const { id, reasons } of oracle.failed) problems.push(`No memory can pass "${id}": ${reasons.join(' ')}`)
  return { pack: pack.id, cases: none.total, passedByNone: none.passed, passedByOracle: oracle.passed, problems }
}

async function passesOf(pack: Pack, backends: Backends, control: 'none' | 'oracle') {
  const subject = await backends.open(control)
  try {
    const { records } = await runPack(pack, subject)
    const { totalPassed, totalCases } = summarise(records.map(({ entry }) => entry))
    const failed = records.flatMap(({ id, entry }) =>
      entry.passed ? [] : [{ id, reasons: entry.error === null ? entry.failures : [entry.error] }],
    )
    return { passed: totalPassed, total: totalCases, failed }
  } finally {
    await subject.close()
  }
}
