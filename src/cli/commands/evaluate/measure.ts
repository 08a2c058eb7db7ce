import { type PackRunResult, type RunRequest, runPacks } from '../../../eval/run/run-packs.ts'
import type { About, RunnablePack } from '../../../eval/runners/runner.ts'
import type { Evaluation } from '../../evaluation.ts'
import type { Session } from '../../session.ts'
import { machineOf } from './benchmark-store.ts'

/** The dependencies of a command that measures. */
export type Measuring = {
  readonly root: string
  readonly session: Session
  readonly evaluation: Evaluation
  readonly signal: AbortSignal
  readonly here: ReturnType<typeof machineOf>
}

/** Runs the work of a command that measures. Ctrl-C stops it after the cases in progress. */
export async function measureWith<Result>(
  session: Session,
  root: string,
  work: (setup: Measuring) => Promise<Result>,
): Promise<Result> {
  // As in packs, because a result must not depend on the time zone of the machine.
  process.env.TZ = 'UTC'
  const evaluation = await session.evaluation()
  const { signal, release } = session.program.interruption()
  try {
    return await work({ root, session, evaluation, signal, here: machineOf(session.places.workingDirectory()) })
  } finally {
    evaluation.progress.clear()
    release()
  }
}

type MeasureRequest = Omit<RunRequest, 'root' | 'now' | 'signal' | 'environment' | 'onProgress'> & {
  /** The options as given; `settings` returns the effective ones. */
  readonly given: Readonly<Record<string, unknown>>
  readonly settings: (of: { readonly ablation: string | undefined; readonly about: About }) => Record<string, unknown>
}

/** Runs packs on a system, or on each pack's default system if undefined, and stores every run. */
export const measure = (
  { root, evaluation, signal, here }: Measuring,
  packs: readonly RunnablePack[],
  system: string | undefined,
  { given, settings, ...request }: MeasureRequest,
): Promise<readonly PackRunResult[]> =>
  runPacks(packs, [system], {
    ...request,
    root,
    now: () => new Date(),
    signal,
    environment: (of) => ({ given: { ...given }, settings: settings(of), ...here }),
    onProgress: (label, done, total) => evaluation.progress.show(label, done, total),
  })
