import type { Evidence } from '../evidence.ts'
import type { Task } from '../task.ts'

/** The grade for the facts that a task expects to be true after its sessions. */
export type StateGrade = Readonly<ReturnType<typeof gradeFacts>>

/** Grades the facts recorded after each session. */
export const gradeState = (task: Task, evidence: Evidence): StateGrade | null =>
  task.stateChecks.length === 0 ? null : gradeFacts(task, evidence)

function gradeFacts({ stateChecks }: Task, { events, sessions }: Evidence) {
  const read = events.flatMap((event) =>
    event.kind === 'state_read'
      ? event.facts.map((fact) => ({ ...fact, session: event.session, when: event.when }))
      : [],
  )
  const facts = stateChecks.map(({ id, session }) => {
    const findFact = (when: 'before' | 'after') =>
      read.find((fact) => fact.when === when && fact.id === id && fact.session === session)
    const after = findFact('after')
    return {
      id,
      session,
      holds: after?.holds ?? null,
      heldBefore: findFact('before')?.holds === true,
      observed: after?.observed ?? 'The session was not reached.',
    }
  })
  const needed = facts.filter(({ heldBefore }) => !heldBefore)
  const covered = new Set(facts.filter(({ holds }) => holds !== null).map(({ session }) => session))
  return {
    facts,
    /** The share of sessions after which at least one fact was read. */
    objectiveStateCoverage: covered.size / sessions.length,
    /** Among the facts that were not true before the first session, the share that is true after their session. */
    actionOutcomeScore: shareOf(needed),
    /** The share of all facts that are true after their session, including facts that should not have changed. */
    stateScore: shareOf(facts),
  }
}

const shareOf = (facts: readonly { readonly holds: boolean | null }[]): number | null =>
  facts.length === 0 ? null : facts.filter(({ holds }) => holds === true).length / facts.length
