import type { UndecidedEdit } from '../memory/mirror/merge/waiting.ts'
import type { HeldMirror, MirrorState } from '../memory/mirror/state/state.ts'
import type { MirrorStatus } from '../memory/mirror/status.ts'
import type { MirrorReport } from './served-memory.ts'

/** The state of MEMORY.md for people who may not see the file, or if there is no file. */
export const noMirror: MirrorReport = {
  exists: false,
  file: null,
  isInSync: null,
  items: null,
  lastSyncAt: null,
  conflicts: 0,
  isHeld: false,
  problems: [],
}

/** The state of MEMORY.md, as the dashboard shows it. */
export function mirrorReport(status: MirrorStatus): MirrorReport {
  if (!status.exists) return { ...noMirror, file: status.file }
  const { file, isInSync, items, syncedAt, held, conflicts } = status
  const report = { file, isInSync, items, conflicts: conflicts.length, isHeld: held !== null }
  return {
    exists: true,
    lastSyncAt: syncedAt,
    ...report,
    problems: [...listMirrorProblems(status), ...listWaitingWork(status)],
  }
}

type Synced = {
  readonly held: HeldMirror | null
  readonly conflicts: readonly string[]
  readonly refused: MirrorState['refused']
  readonly problem?: string | null
}

/** The reasons why a sync of MEMORY.md is incomplete, each with the next step. */
export const listMirrorProblems = ({ held, conflicts, refused, problem = null }: Synced): readonly string[] => [
  ...(problem === null ? [] : [problem]),
  ...(held === null ? [] : [`${held.file} is held, because ${held.reason}. ${remedyOf(held)}`]),
  ...conflicts.map(
    (file) => `A save of another program could not be merged. Copy from ${file} what you want to keep, and delete it.`,
  ),
  ...refused.map(({ file, line, reason }) => `${file}, line ${line}, was not imported: ${reason}`),
]

const remedyOf = ({ kind }: HeldMirror): string =>
  kind === 'removal'
    ? 'Put the lines back, or accept the removal: `credence mirror sync --accept`'
    : 'Repair the file, or delete it to have it written again.'

type Waiting = {
  readonly undecided: readonly UndecidedEdit[]
  readonly editedFiles?: readonly string[]
  readonly pendingEvents?: number
}

/** What remains to be done by the next sync and by the person. */
export const listWaitingWork = ({ undecided, editedFiles = [], pendingEvents = 0 }: Waiting): readonly string[] => [
  ...editedFiles.map((name) => `${name} was changed since the last sync.`),
  ...countText(pendingEvents, 'change is not in the file yet.', 'changes are not in the file yet.'),
  ...countText(undecided.length, 'edit waits for your decision.', 'edits wait for your decision.'),
]

const countText = (count: number, one: string, many: string): readonly string[] =>
  count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]
