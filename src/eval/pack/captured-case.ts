import { createHash } from 'node:crypto'
import { type Belief, isCurrent } from '../../beliefs/belief.ts'
import { visibleScopes } from '../../beliefs/scope.ts'
import { MemoryError } from '../../errors.ts'
import type { BeliefRecord } from '../../memory/transfer/belief-record.ts'
import { omitUndefined } from '../../omit-undefined.ts'

/** A person's judgement of an answer. */
export type Judgement = {
  readonly message: string
  readonly scopes: readonly string[]
  /** Beliefs that must come back. */
  readonly expected: readonly Belief[]
  /** Beliefs that must not come back. */
  readonly rejected: readonly Belief[]
  /** Nothing but what is expected may be found for the message. */
  readonly exactly: boolean
  readonly note: string | null
}

/** A case in the format of the retrieval packs. */
export type CapturedCase = ReturnType<typeof capturedCase>

export function capturedCase(judgement: Judgement) {
  const { message, scopes, expected, rejected, exactly, note } = judgement
  for (const belief of expected) refuseImpossible(belief, scopes)
  const both = expected.find(({ id }) => rejected.some((other) => other.id === id))
  if (both !== undefined) throw new MemoryError('invalid', `"${both.name}" is both expected and rejected.`)

  const caseId = idOf(judgement)
  const idsOf = (beliefs?: readonly Belief[]) => beliefs?.map(({ id }) => copiedId(caseId, id))
  const wanted = Object.groupBy(expected, tierOf)
  const unwanted = Object.groupBy(rejected, (belief) => (tierOf(belief) === 'question' ? 'question' : 'relevant'))
  const relevant = idsOf(exactly ? (wanted.relevant ?? []) : wanted.relevant)
  const tiers = {
    relevantBeliefs: omitUndefined({
      [exactly ? 'shouldOnlyInclude' : 'mustInclude']: relevant,
      mustExclude: idsOf(unwanted.relevant),
    }),
    pinnedFacts: omitUndefined({ mustInclude: idsOf(wanted.pinned) }),
    openQuestions: omitUndefined({ mustInclude: idsOf(wanted.question), mustExclude: idsOf(unwanted.question) }),
  }
  const checks = Object.entries(tiers).filter(([, tier]) => Object.keys(tier).length > 0)
  return {
    caseId,
    category: 'Captured',
    description: descriptionOf(judgement),
    userId: caseId,
    scope: scopes,
    query: message,
    ...(note === null ? {} : { notes: note }),
    expect: Object.fromEntries<Readonly<Record<string, readonly string[] | undefined>>>(checks),
  }
}

const tierOf = ({ type, pinned }: Belief): 'question' | 'pinned' | 'relevant' =>
  type === 'open_question' ? 'question' : pinned ? 'pinned' : 'relevant'

/** Refuses a belief that no answer could ever hold: the case could only fail. */
function refuseImpossible(belief: Belief, scopes: readonly string[]): void {
  if (!isCurrent(belief)) {
    throw new MemoryError('invalid', `"${belief.name}" cannot be expected: it is replaced, settled or only proposed.`, {
      hint: 'Expect the belief that replaced it.',
    })
  }
  const visible = visibleScopes(scopes)
  if (belief.scopes.some((scope) => visible.includes(scope))) return
  const where = `it belongs to ${belief.scopes.join(' ')}, and ${scopes.join(' ')} is in view`
  throw new MemoryError('invalid', `"${belief.name}" cannot be expected here: ${where}.`, {
    hint: 'Give the scope it should be recalled in.',
  })
}

function descriptionOf({ expected, rejected, exactly }: Judgement): string {
  const names = (beliefs: readonly Belief[]): string => beliefs.map(({ name }) => name).join(', ')
  const wanted = expected.length === 0 ? 'nothing' : names(expected)
  const parts = [
    ...(exactly ? [`Recalls ${wanted} and nothing else`] : expected.length === 0 ? [] : [`Recalls ${wanted}`]),
    ...(rejected.length === 0 ? [] : [`does not recall ${names(rejected)}`]),
  ]
  const text = parts.join('; ')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

/** A readable id that is the same for the same judgement. */
function idOf({ message, scopes, expected, rejected, exactly }: Judgement): string {
  const ids = (beliefs: readonly Belief[]): readonly string[] => beliefs.map(({ id }) => id).sort()
  const digest = digestOf(JSON.stringify([message, [...scopes].sort(), ids(expected), ids(rejected), exactly]), 8)
  const words = message
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/gu, '-')
    .replace(/^-|-$/gu, '')
    .slice(0, 40)
    .replace(/-$/u, '')
  return words === '' ? digest : `${words}-${digest}`
}

const digestOf = (text: string, length: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, length)

/**
 * Copies beliefs into a case as they are now, under ids and a user of this case alone: a later case about the same
 * belief, by then corrected, changes nothing here.
 */
export function copiedBeliefs(beliefs: readonly Belief[], caseId: string): readonly BeliefRecord[] {
  const ids = new Set(beliefs.map(({ id }) => id))
  const copied = (id: string): string => (ids.has(id) ? copiedId(caseId, id) : id)
  const orNull = (id: string | null): string | null => (id === null ? null : copied(id))
  return beliefs.map(({ version: _, ...belief }) => ({
    ...belief,
    id: copied(belief.id),
    user: caseId,
    // The person who captured the case could see it, and the cases of a pack are asked by no agent.
    agent: null,
    supersededBy: orNull(belief.supersededBy),
    resolvedBy: orNull(belief.resolvedBy),
    proposedFor: orNull(belief.proposedFor),
    participants: belief.participants.map(copied),
  }))
}

const longestBeliefId = 128

/** The id of a copy: readable where it fits, and always unique. */
export function copiedId(caseId: string, beliefId: string): string {
  const id = `${caseId}.${beliefId}`
  return id.length <= longestBeliefId ? id : `${caseId}.${digestOf(beliefId, 16)}`
}
