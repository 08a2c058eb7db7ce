import type { CaseOutcome } from '../../run/run.ts'
import type { Subject } from '../../system/subject.ts'
import type { Answer } from '../../system/system.ts'
import { carryOutRecall } from './carry-out.ts'
import { answerOf, type RetrievalEntry, retrievalEntry, type SessionEntry, sessionEntry } from './entries.ts'
import type { Pack, ReadyCase, ReadyTurn } from './pack.ts'
import { askedIn } from './read-folder.ts'

export type Ingestion = { readonly beliefCount: number; readonly totalMs: number }

/** One case as it was asked, and its outcome in the forms that reports and people need. */
export type RanCase = {
  readonly id: string
  readonly asked: ReadyCase | ReadyTurn
  readonly outcome: CaseOutcome
  readonly answer: Answer | null
  readonly entry: RetrievalEntry | SessionEntry
}

/** A pack that was run in one go, without a store: what the tables and reports of `credence eval` are made of. */
export type PackRun = {
  readonly pack: Pack
  readonly subject: Pick<Subject, 'name' | 'version' | 'description' | 'notes' | 'hasSuppliedTiers'>
  readonly ingestion: Ingestion | null
  /** What the subject could not take in as given. */
  readonly notices: readonly string[]
  readonly records: readonly RanCase[]
}

export type RunOptions = {
  /** Called after every case. */
  readonly onProgress?: (done: number, total: number) => void
  /** The id of the case (`case` or `session#turn`) whose answer shall say how it was reached. */
  readonly explain?: string
  /** Which cases; without it, all. */
  readonly isWanted?: (id: string) => boolean
  readonly signal?: AbortSignal
  readonly jobs?: number
}

const never = new AbortController().signal

/** Asks a subject the cases of a pack, in order. */
export async function runPack(pack: Pack, subject: Subject, options: RunOptions = {}): Promise<PackRun> {
  const { onProgress, explain, isWanted = () => true, signal = never, jobs = 1 } = options
  const asked = new Map(
    askedIn(pack)
      .filter(({ id }) => isWanted(id))
      .map((one) => [one.id, one]),
  )
  let ingestion: Ingestion | null = null
  let notices: readonly string[] = []
  const request = { repeat: 0, seed: 0, wanted: new Set(asked.keys()), jobs, signal, folder: null }
  const records: RanCase[] = []
  for await (const outcome of carryOutRecall(pack, subject, request, {
    explains: (id) => id === explain,
    onIngested: (ms) => {
      ingestion = ms === null ? null : { beliefCount: pack.beliefs.length, totalMs: ms }
    },
    onNotices: (given) => {
      notices = given
    },
  })) {
    const one = asked.get(outcome.caseId)
    if (one === undefined) continue
    records.push({ id: one.id, asked: one.asked, outcome, answer: answerOf(outcome), entry: entryOf(one, outcome) })
    onProgress?.(records.length, asked.size)
  }
  const { name, version, description, notes, hasSuppliedTiers } = subject
  return { pack, subject: { name, version, description, notes, hasSuppliedTiers }, ingestion, notices, records }
}

const entryOf = (
  { caseId, asked }: { readonly caseId: string; readonly asked: ReadyCase | ReadyTurn },
  outcome: CaseOutcome,
): RetrievalEntry | SessionEntry =>
  'label' in asked ? sessionEntry(caseId, asked, outcome) : retrievalEntry(asked, outcome)
