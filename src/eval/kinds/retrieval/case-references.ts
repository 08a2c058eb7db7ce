import type { Expectations } from './expectations.ts'
import type { Pack } from './pack.ts'
import { invalid } from './parse-cases.ts'

/**
 * Refuses an expectation about a belief that does not exist: it would fail, or worse hold, for no reason. What must be
 * there must exist by then; what must not be there may be created later in the file.
 */
export function refuseUnknownBeliefs(pack: Pack, file: string): void {
  const known = new Set(pack.beliefs.map(({ id }) => id))
  switch (pack.kind) {
    case 'retrieval':
      for (const { caseId, expect } of pack.cases)
        checkIds(expect, { place: `${file}: case "${caseId}"`, known, ever: known })
      return
    case 'session':
      checkSessions(pack.sessions, file, known)
  }
}

function checkSessions(
  sessions: Extract<Pack, { kind: 'session' }>['sessions'],
  file: string,
  inCorpus: ReadonlySet<string>,
): void {
  const updates = sessions.flatMap(({ turns }) => turns.flatMap((turn) => turn.updates))
  const ever = new Set([
    ...inCorpus,
    ...updates.flatMap((update) => (update.kind === 'create' ? [update.belief.id] : [])),
  ])
  const known = new Set(inCorpus)
  for (const { caseId, turns } of sessions) {
    for (const turn of turns) {
      const place = `${file}: case "${caseId}", turn ${turn.turnIndex}`
      checkIds(turn.expect, { place, known, ever })
      for (const update of turn.updates) {
        if (update.kind === 'create') {
          const { id } = update.belief
          if (known.has(id))
            throw invalid(
              `${place}: createBeliefAtTurn makes "${id}", which exists already.`,
              'Every belief needs an id of its own.',
            )
          known.add(id)
        } else if (!known.has(update.beliefId))
          throw unknownBelief(`${place}, updateBeliefAtTurn`, update.beliefId, ever.has(update.beliefId))
      }
    }
  }
}

function checkIds(
  expect: Expectations,
  { place, known, ever }: { place: string; known: ReadonlySet<string>; ever: ReadonlySet<string> },
): void {
  for (const [tier, lists] of Object.entries(expect)) {
    for (const [name, value] of Object.entries(lists ?? {})) {
      if (tier === 'personaPrelude' || !Array.isArray(value)) continue
      const mayComeLater = name === 'mustExclude' || name === 'mustNotSurface'
      const missing = value.flat().find((id: string) => !(mayComeLater ? ever : known).has(id))
      if (missing !== undefined) throw unknownBelief(`${place}, expect.${tier}.${name}`, missing, ever.has(missing))
    }
  }
}

const unknownBelief = (place: string, id: string, isCreatedLater: boolean): Error =>
  isCreatedLater
    ? invalid(
        `${place}: the belief "${id}" is created only later.`,
        'A belief can be expected from the turn after its creation on.',
      )
    : invalid(`${place}: there is no belief "${id}".`, 'Name a belief of the corpus, or one that a turn creates.')
