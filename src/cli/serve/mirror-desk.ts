import type { Answer } from '../../http/api/contract.ts'
import type { MirrorControl } from '../../http/api/server-deps.ts'
import type { Ports } from '../../memory/change/transaction.ts'
import { type MirrorStatus, mirrorStatus } from '../../memory/mirror/status.ts'
import { syncMirror } from '../../memory/mirror/sync.ts'

/** The mirror of a directory as a page shows it. */
export function mirrorDesk(
  ports: Ports,
  { dir, user }: { readonly dir: string; readonly user: string },
): MirrorControl {
  const status = async () => described(await mirrorStatus(ports, dir))
  return {
    status,
    sync: async () => {
      await syncMirror(ports, { dir, user })
      return status()
    },
  }
}

function described(status: MirrorStatus): Answer<'mirror'> {
  if (!status.exists) {
    return { exists: false, file: status.file, isInSync: null, items: null, lastSyncAt: null, problems: [] }
  }
  const { file, isInStep, items, syncedAt, problem, held, conflicts, refused, editedFiles, pendingEvents } = status
  const counted = (count: number, one: string, many: string): readonly string[] =>
    count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]
  return {
    exists: true,
    file,
    isInSync: isInStep,
    items,
    lastSyncAt: syncedAt,
    problems: [
      ...(problem === null ? [] : [problem.message]),
      ...(held === null ? [] : [`Held for review: ${held.reason} (${held.file}).`]),
      ...conflicts.map((conflict) => `Changed on both sides; see ${conflict.file}.`),
      ...counted(refused.length, 'line could not be taken in.', 'lines could not be taken in.'),
      ...editedFiles.map((name) => `${name} was changed since the last sync.`),
      ...counted(pendingEvents, 'change is not in the file yet.', 'changes are not in the file yet.'),
    ],
  }
}
