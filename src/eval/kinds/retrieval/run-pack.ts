import { isCurrent } from '../../../beliefs/belief.ts'
import type { BeliefRecord } from '../../../memory/belief-record.ts'
import type { Subject } from '../../system/subject.ts'
import type { Answer } from '../../system/system.ts'
import { type Reply, type RetrievalEntry, retrievalEntry, type SessionEntry, sessionEntry } from './entries.ts'
import type { Expectations } from './expectations.ts'
import type { Pack, ReadyCase, ReadyTurn, RetrievalPack, SessionPack } from './pack.ts'

export type Ingestion = { readonly beliefCount: number; readonly totalMs: number }

/** One case as it was asked, answered and judged. Reports keep the entry; the rest is for explaining it. */
export type CaseRecord<Asked, Entry> = {
  readonly id: string
  readonly asked: Asked
  readonly answer: Answer | null
  readonly entry: Entry
}

type RunBase = {
  readonly subject: Pick<Subject, 'name' | 'version' | 'description' | 'notes' | 'hasSuppliedTiers'>
  readonly ingestion: Ingestion | null
  /** What the subject could not take in as given. */
  readonly notices: readonly string[]
}
export type RetrievalRun = RunBase & {
  readonly pack: RetrievalPack
  readonly records: readonly CaseRecord<ReadyCase, RetrievalEntry>[]
}
export type SessionRun = RunBase & {
  readonly pack: SessionPack
  readonly records: readonly CaseRecord<ReadyTurn, SessionEntry>[]
}
export type PackRun = RetrievalRun | SessionRun

export type RunOptions = {
  /** Called after every case. */
  readonly onProgress?: (done: number, total: number) => void
  /** The id of the case (`case` or `session#turn`) whose answer shall say how it was reached. */
  readonly explain?: string
}

export const isSessionRun = (run: PackRun): run is SessionRun => run.pack.kind === 'session'

/** Asks a subject every case of a pack, in order. A case that goes wrong becomes an `error` entry; the rest goes on. */
export const runPack = (pack: Pack, subject: Subject, options: RunOptions = {}): Promise<PackRun> =>
  pack.kind === 'retrieval' ? runRetrieval(pack, subject, options) : runSessions(pack, subject, options)

async function runRetrieval(
  pack: RetrievalPack,
  subject: Subject,
  { onProgress, explain }: RunOptions,
): Promise<RetrievalRun> {
  const { broken, ...base } = await begin(pack, subject, [])
  const pinned = pinnedIn(pack.beliefs)
  const records: CaseRecord<ReadyCase, RetrievalEntry>[] = []
  for (const asked of pack.cases) {
    const reply = broken === null ? await ask(subject, pack, asked, explain === asked.caseId) : { error: broken }
    records.push({ id: asked.caseId, asked, answer: answerIn(reply), entry: retrievalEntry(asked, reply, pinned) })
    onProgress?.(records.length, pack.cases.length)
  }
  return { ...base, pack, records }
}

/** The store lives through all sessions of a pack: what one teaches, the next may use. */
async function runSessions(
  pack: SessionPack,
  subject: Subject,
  { onProgress, explain }: RunOptions,
): Promise<SessionRun> {
  const turns = pack.sessions.flatMap(({ caseId, turns: own }) => own.map((turn) => ({ caseId, turn })))
  const created = turns.flatMap(({ turn }) =>
    turn.updates.flatMap((update) => (update.kind === 'create' ? [update.belief] : [])),
  )
  let { broken, ...base } = await begin(
    pack,
    subject,
    created.map(({ id }) => id),
  )
  const pinned = pinnedIn([...pack.beliefs, ...created])
  const records: CaseRecord<ReadyTurn, SessionEntry>[] = []
  for (const { caseId, turn } of turns) {
    const id = `${caseId}#${turn.turnIndex}`
    const reply = broken === null ? await ask(subject, pack, turn, explain === id) : { error: broken }
    records.push({ id, asked: turn, answer: answerIn(reply), entry: sessionEntry(caseId, turn, reply, pinned) })
    // After a change that failed, the store is not the one the later turns are about.
    for (const update of turn.updates)
      broken ??= await failureOf(`The store could not be changed after ${id}`, () => subject.change(update))
    onProgress?.(records.length, turns.length)
  }
  return { ...base, pack, records }
}

async function begin(
  pack: Pack,
  subject: Subject,
  idsToCome: readonly string[],
): Promise<RunBase & { broken: string | null }> {
  const { name, version, description, notes, hasSuppliedTiers } = subject
  const about = { name, version, description, notes, hasSuppliedTiers }
  let ingestion: Ingestion | null = null
  let notices: readonly string[] = []
  // The salt is known to whoever has the case file, and to no system.
  const corpus = { beliefs: pack.beliefs, idsToCome, salt: pack.hash }
  const broken = await failureOf('The corpus could not be taken in', async () => {
    const { value, ms } = await subject.begin(corpus)
    ingestion = { beliefCount: pack.beliefs.length, totalMs: ms }
    notices = value
  })
  return { subject: about, ingestion, notices, broken }
}

type Question = Pick<ReadyCase, 'user' | 'scopes' | 'message' | 'budget'> & { readonly expect: Expectations }

async function ask(subject: Subject, { recall }: Pack, asked: Question, explain: boolean): Promise<Reply> {
  const { user, scopes, message, budget, expect } = asked
  const query = { user, scopes, message, budget, recall, ...(explain ? { explain } : {}) }
  try {
    const { value, ms } = await subject.answer(query, expect)
    return { answer: value, ms }
  } catch (error) {
    return { error: messageOf(error) }
  }
}

const answerIn = (reply: Reply): Answer | null => ('error' in reply ? null : reply.answer)

async function failureOf(what: string, run: () => Promise<void>): Promise<string | null> {
  try {
    await run()
    return null
  } catch (error) {
    return `${what}: ${messageOf(error)}`
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const pinnedIn = (beliefs: readonly BeliefRecord[]): ReadonlySet<string> =>
  new Set(beliefs.filter((belief) => belief.pinned && isCurrent({ ...belief, version: 1 })).map(({ id }) => id))
