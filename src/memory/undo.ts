import type { Belief } from '../beliefs/belief.ts'
import type { BeliefChange, BeliefRevision, JournalEvent } from '../beliefs/journal.ts'
import { MemoryError } from '../errors.ts'
import { type ChangeRequest, change, type Workshop } from './workshop.ts'

export type UndoRequest = ChangeRequest & {
  /** Number of the event to take back; without it, the latest that can be. */
  readonly event?: number
}

export type Undone = {
  readonly undone: JournalEvent
  /** What the beliefs read now; absent ones have been withdrawn again. */
  readonly restored: readonly Belief[]
  readonly withdrawn: readonly string[]
  readonly event: number
}

/** Takes back one change by putting every belief it touched back to what it was. Undoing an undo redoes. */
export async function undo(workshop: Workshop, request: UndoRequest): Promise<Undone> {
  return change(
    workshop,
    request,
    async (at) => {
      const event = await eventToUndo(workshop, request)
      const revisions = await workshop.store.revisions(request.user, event.number)
      const changes: BeliefChange[] = []
      for (const revision of revisions) changes.push(await before(workshop, revision, at))
      const restored = changes.flatMap(({ after }) => (after === null ? [] : [after]))
      const withdrawn = changes.filter(({ after }) => after === null).map(({ beliefId }) => beliefId)
      return {
        kind: 'undo',
        changes,
        undoes: event.number,
        result: (done) => ({ undone: event, restored, withdrawn, event: done.number }),
      }
    },
    async (done) => {
      const undone = (await workshop.store.event(request.user, done.undoes as number)) as JournalEvent
      const restored = await workshop.store.getMany(request.user, done.beliefIds)
      const present = new Set(restored.map(({ id }) => id))
      return { undone, restored, withdrawn: done.beliefIds.filter((id) => !present.has(id)), event: done.number }
    },
  )
}

async function eventToUndo({ store }: Workshop, { user, author, event: number }: UndoRequest): Promise<JournalEvent> {
  const event = number === undefined ? await store.lastUndoable(user) : await store.event(user, number)
  if (event === null) {
    throw new MemoryError(
      'not_found',
      number === undefined ? 'There is nothing to undo.' : `There is no change ${number}.`,
      {
        hint: 'See recent changes with `credence history`.',
      },
    )
  }
  if (event.undoneBy !== null) {
    throw new MemoryError('conflict', `Change ${event.number} was undone already, by change ${event.undoneBy}.`, {
      hint: `Undo ${event.undoneBy} to redo it.`,
    })
  }
  if (event.kind === 'forget') {
    throw new MemoryError('conflict', `Change ${event.number} was to forget; nothing is left to restore.`, {
      hint: 'What is forgotten is gone. Name an earlier change to undo that.',
    })
  }
  if (author.actor !== 'person' && (event.actor !== author.actor || event.origin !== author.origin)) {
    throw new MemoryError('forbidden', `Change ${event.number} was made by ${event.actor} "${event.origin}".`, {
      hint: 'An agent can only undo its own changes.',
    })
  }
  return event
}

/** The change that puts a belief back to what it was before a revision, if nothing has happened to it since. */
async function before({ store }: Workshop, revision: BeliefRevision, at: string): Promise<BeliefChange> {
  const { beliefId, event } = revision
  const history = await store.history(event.user, beliefId)
  const index = history.findIndex((known) => known.event.number === event.number)
  const later = history[index + 1]
  if (later !== undefined) {
    throw new MemoryError(
      'conflict',
      `The belief ${beliefId} was changed again by change ${later.event.number} (${later.event.kind}).`,
      {
        hint: `Undo ${later.event.number} first.`,
      },
    )
  }
  const earlier = history[index - 1]?.belief ?? null
  const latestVersion = revision.belief?.version ?? lastVersion(history)
  if (earlier === null) return { beliefId, expectedVersion: latestVersion, outcome: 'absent', after: null }
  const after = { ...earlier, updatedAt: at, version: latestVersion + 1 }
  return { beliefId, expectedVersion: latestVersion, outcome: 'present', after }
}

const lastVersion = (history: readonly BeliefRevision[]): number =>
  history.reduce((version, { belief }) => Math.max(version, belief?.version ?? 0), 0)
