import { type Belief, isCurrent } from '../../beliefs/belief.ts'
import type { BeliefChange, BeliefRevision, JournalEvent } from '../../beliefs/journal.ts'
import { conflict, forbidden, notFound } from '../../errors.ts'
import { requireFreeName } from '../find-belief.ts'
import type { Ports } from '../ports.ts'
import { type ChangeRequest, change } from './transaction.ts'

export type UndoRequest = ChangeRequest & {
  /** Number of the event to undo. Default: the latest event that can be undone. */
  readonly event?: number
  /** Called before anything is changed. If it returns false, nothing is changed. */
  readonly review?: (undoing: UndoTarget) => Promise<boolean>
}

/** A change about to be undone, and the affected beliefs in their current state. A removed belief has the state that the undo would restore. */
export type UndoTarget = { readonly change: JournalEvent; readonly beliefs: readonly Belief[] }

export type UndoResult = {
  readonly undone: JournalEvent
  /** The affected beliefs after the undo, without those in `withdrawn`. */
  readonly restored: readonly Belief[]
  readonly withdrawn: readonly string[]
  readonly event: number
}

/** Undoes one change by restoring every belief it touched. Undoing an undo redoes the change. */
export async function undo(ports: Ports, { review, ...request }: UndoRequest): Promise<UndoResult> {
  return change(
    ports,
    { ...request, operation: 'undo' },
    async (at) => {
      const event = await eventToUndo(ports, request)
      const revisions = await ports.store.revisions(request.user, event.number)
      const changes: BeliefChange[] = []
      for (const revision of revisions) changes.push(await revertChange(ports, revision, at))
      await refuseTakenNames(ports, changes)
      const restored = changes.flatMap(({ after }) => (after === null ? [] : [after]))
      const withdrawn = changes.filter(({ after }) => after === null).map(({ beliefId }) => beliefId)
      if (review !== undefined) {
        const now = await ports.store.getMany(request.user, event.beliefIds)
        const back = restored.filter(({ id }) => !now.some((belief) => belief.id === id))
        if (!(await review({ change: event, beliefs: [...now, ...back] })))
          throw conflict(`Change ${event.number} was not undone.`, 'Choose another one from `credence history`.')
      }
      return {
        kind: 'undo',
        changes,
        undoes: event.number,
        result: (done) => ({ undone: event, restored, withdrawn, event: done.number }),
      }
    },
    async (done) => {
      const undone = (await ports.store.event(request.user, done.undoes as number)) as JournalEvent
      const restored = await ports.store.getMany(request.user, done.beliefIds)
      const present = new Set(restored.map(({ id }) => id))
      return { undone, restored, withdrawn: done.beliefIds.filter((id) => !present.has(id)), event: done.number }
    },
  )
}

async function eventToUndo({ store }: Ports, { user, author, event: number }: UndoRequest): Promise<JournalEvent> {
  const event = number === undefined ? await store.lastUndoable(user) : await store.event(user, number)
  if (event === null) {
    const message = number === undefined ? 'There is nothing to undo.' : `There is no change ${number}.`
    throw notFound(message, 'See recent changes with `credence history`.')
  }
  if (event.undoneBy !== null)
    throw conflict(
      `Change ${event.number} was undone already, by change ${event.undoneBy}.`,
      `Undo ${event.undoneBy} to redo it.`,
    )
  if (event.kind === 'forget')
    throw conflict(
      `Change ${event.number} erased text and cannot be undone.`,
      'Forgotten text is erased. Give the number of another change, from `credence history`.',
    )
  if (event.beliefIds.length === 0)
    throw conflict(
      `Change ${event.number} (${event.kind}) changed no belief, so there is nothing to undo.`,
      'To remove stored turns, use `credence forget --session` or `credence forget --containing`.',
    )
  if (author.actor !== 'person' && (event.actor !== author.actor || event.origin !== author.origin))
    throw forbidden(
      `Change ${event.number} was made by ${event.actor} "${event.origin}".`,
      'An agent can only undo its own changes.',
    )
  return event
}

/** The change that restores a belief to its state before a revision. Throws if the belief has changed since. */
async function revertChange({ store }: Ports, revision: BeliefRevision, at: string): Promise<BeliefChange> {
  const { beliefId, event } = revision
  const history = await store.history(event.user, beliefId)
  const index = history.findIndex((known) => known.event.number === event.number)
  const later = findLastChange(history.slice(index))
  if (later !== null) {
    const hint =
      later.kind === 'forget' ? 'Forgotten text is erased, so it cannot be restored.' : `Undo ${later.number} first.`
    throw conflict(`The belief ${beliefId} was changed again by change ${later.number} (${later.kind}).`, hint)
  }
  const earlier = history[index - 1]?.belief ?? null
  const version = history.at(-1)?.version ?? 0
  if (earlier === null) return { beliefId, expectedVersion: version, outcome: 'absent', after: null }
  const after = { ...earlier, updatedAt: at, version: version + 1 }
  return { beliefId, expectedVersion: version, outcome: 'present', after }
}

/** The last change since the first of these revisions, apart from changes that were undone. Null if the belief is in the same state as after the first. */
function findLastChange([first, ...later]: readonly BeliefRevision[]): JournalEvent | null {
  const last = later.at(-1)
  if (first === undefined || last === undefined) return null
  const counting = later.findLast(({ event }) => event.undoes === null && event.undoneBy === null)
  if (counting !== undefined) return counting.event
  return isSameState(first.belief, last.belief) ? null : last.event
}

function isSameState(a: Belief | null, b: Belief | null): boolean {
  const lastingFields = (belief: Belief | null) => JSON.stringify({ ...belief, version: 0, updatedAt: '' })
  return lastingFields(a) === lastingFields(b)
}

/** Throws if another belief has meanwhile taken the name of a restored belief. */
async function refuseTakenNames(ports: Ports, changes: readonly BeliefChange[]): Promise<void> {
  const except = changes.map(({ beliefId }) => beliefId)
  const hint = ({ id }: Belief) => `First undo the change that made ${id}, or correct it under another name.`
  for (const { after } of changes)
    if (after !== null && isCurrent(after)) await requireFreeName(ports, after, { except, hint })
}
