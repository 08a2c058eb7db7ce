import { join } from 'node:path'
import { createSnapshot } from '../../eval/gate/baselines.ts'
import { openBenchmark } from '../../eval/kinds/kind.ts'
import { recallKinds } from '../../eval/kinds/retrieval/carry-out.ts'
import { newRunId, runBenchmark } from '../../eval/run/run.ts'
import { machine } from '../commands/evaluate/benchmark-store.ts'
import type { Session } from '../session.ts'

const pack = 'retrieval-precision'
const name = 'example-memory'
const accepted = '1.0'
const versions = [
  { version: '0.8', daysAgo: 12, backend: 'exact', notes: 'Demo: an example memory that matches letter by letter.' },
  { version: '0.9', daysAgo: 9, backend: 'exact', notes: 'Demo: the example memory, unchanged.' },
  { version: accepted, daysAgo: 6, backend: 'bm25', notes: 'Demo: the example memory forgives typos.' },
  { version: '1.0.1', daysAgo: 3, backend: 'bm25', notes: 'Demo: the example memory, unchanged.' },
  { version: '1.1', daysAgo: 0, backend: 'exact', notes: 'Demo: after a change it matches letter by letter again.' },
] as const

const dayMs = 86_400_000

/**
 * Evaluates the versions of an example memory, dated over two weeks, and accepts one as the baseline, so that the pages
 * of the demo show a regression: the last version compares strings, and fails where a message has a typo.
 */
export async function evaluateExample(session: Session, root: string, signal: AbortSignal): Promise<void> {
  const { backends, packsDirectory } = await session.evaluation()
  for (const { version, daysAgo, backend, notes } of versions) {
    if (signal.aborted) return
    const now = () => new Date(Date.now() - daysAgo * dayMs)
    const subject = { ...(await backends({ packsDirectory, embedder: 'none' }).open(backend)), name, version }
    try {
      const kinds = recallKinds(async () => subject)
      const benchmark = await openBenchmark(join(packsDirectory, pack), kinds, { explain: true })
      const environment = { given: { system: name }, settings: {}, ...machine(session.workingDirectory()) }
      const runId = newRunId(pack, name, now())
      await runBenchmark(benchmark, runId, { repeats: 1, seed: 1, notes }, { root, now, signal, environment })
    } finally {
      await subject.close()
    }
    if (version !== accepted) continue
    const snapshot = { snapshotId: 'main', createdAt: now().toISOString(), sourceRootDir: 'evals' }
    await createSnapshot(root, { ...snapshot, notes: `Demo: version ${version} of the example memory.`, system: name })
  }
}
