import { createHash } from 'node:crypto'
import { type Belief, isCurrent } from '../../../beliefs/belief.ts'
import { visibleScopes } from '../../../beliefs/scope.ts'
import { MemoryError } from '../../../errors.ts'
import type { Context } from '../../../memory/recall/context.ts'
import { copiedId } from './needed-beliefs.ts'

/** What a person says about an answer. */
export type Judgement = {
  readonly message: string
  readonly scopes: readonly string[]
  /** Must come back. */
  readonly expected: readonly Belief[]
  /** Must not come back. */
  readonly rejected: readonly Belief[]
  /** Nothing but what is expected may be found for the message. */
  readonly exactly: boolean
  readonly note: string | null
}

/** A case in the format of the retrieval packs. */
export type CapturedCase = {
  readonly caseId: string
  readonly category: string
  readonly description: string
  readonly userId: string
  readonly scope: readonly string[]
  readonly query: string
  readonly notes?: string
  readonly expect: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>
}

/** Takes an answer as it is for the right one. */
export const asIs = (context: Context): Pick<Judgement, 'expected' | 'rejected' | 'exactly'> => ({
  expected: [...context.pinned, ...context.relevant.map(({ belief }) => belief), ...context.questions],
  rejected: [],
  exactly: true,
})

export function capturedCase(judgement: Judgement): CapturedCase {
  const { message, scopes, expected, rejected, exactly, note } = judgement
  for (const belief of expected) refuseImpossible(belief, scopes)
  const both = expected.find(({ id }) => rejected.some((other) => other.id === id))
  if (both !== undefined) throw invalid(`"${both.name}" is both expected and rejected.`)

  const caseId = idOf(judgement)
  const idsOf = (beliefs: readonly Belief[]): readonly string[] => beliefs.map(({ id }) => copiedId(caseId, id))
  const tiers = Object.groupBy(expected, tierOf)
  const unwanted = Object.groupBy(rejected, (belief) => (tierOf(belief) === 'question' ? 'question' : 'relevant'))
  const expect = {
    relevantBeliefs: some({
      [exactly ? 'shouldOnlyInclude' : 'mustInclude']:
        exactly || tiers.relevant !== undefined ? idsOf(tiers.relevant ?? []) : undefined,
      mustExclude: unwanted.relevant === undefined ? undefined : idsOf(unwanted.relevant),
    }),
    pinnedFacts: some({ mustInclude: tiers.pinned === undefined ? undefined : idsOf(tiers.pinned) }),
    openQuestions: some({
      mustInclude: tiers.question === undefined ? undefined : idsOf(tiers.question),
      mustExclude: unwanted.question === undefined ? undefined : idsOf(unwanted.question),
    }),
  }
  return {
    caseId,
    category: 'Captured',
    description: descriptionOf(judgement),
    userId: caseId,
    scope: scopes,
    query: message,
    ...(note === null ? {} : { notes: note }),
    expect: Object.fromEntries(
      Object.entries(expect).flatMap(([tier, checks]) => (checks === null ? [] : [[tier, checks]])),
    ),
  }
}

const tierOf = ({ type, pinned }: Belief): 'question' | 'pinned' | 'relevant' =>
  type === 'open_question' ? 'question' : pinned ? 'pinned' : 'relevant'

/** What no answer could ever hold makes a case that can only fail. */
function refuseImpossible(belief: Belief, scopes: readonly string[]): void {
  if (!isCurrent(belief)) {
    throw invalid(
      `"${belief.name}" cannot be expected: it is replaced, settled or only proposed.`,
      'Expect what took its place.',
    )
  }
  const visible = visibleScopes(scopes)
  if (belief.scopes.some((scope) => visible.includes(scope))) return
  throw invalid(
    `"${belief.name}" cannot be expected here: it belongs to ${belief.scopes.join(' ')}, and ${scopes.join(' ')} is in view.`,
    'Give the scope it should be recalled in.',
  )
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

/** Readable, and the same for the same judgement. */
function idOf({ message, scopes, expected, rejected, exactly }: Judgement): string {
  const ids = (beliefs: readonly Belief[]): readonly string[] => beliefs.map(({ id }) => id).sort()
  const content = JSON.stringify([message, [...scopes].sort(), ids(expected), ids(rejected), exactly])
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 8)
  const words = message
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/gu, '-')
    .replace(/^-|-$/gu, '')
    .slice(0, 40)
    .replace(/-$/u, '')
  return words === '' ? digest : `${words}-${digest}`
}

type Checks = Readonly<Record<string, readonly string[] | undefined>>

function some(checks: Checks): Readonly<Record<string, readonly string[]>> | null {
  const given = Object.entries(checks).flatMap(([name, ids]) => (ids === undefined ? [] : [[name, ids] as const]))
  return given.length === 0 ? null : Object.fromEntries(given)
}

const invalid = (message: string, hint?: string): MemoryError =>
  new MemoryError('invalid', message, hint === undefined ? {} : { hint })
