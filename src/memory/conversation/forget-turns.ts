import type { Belief } from '../../beliefs/belief.ts'
import type { Turn } from '../../beliefs/turn.ts'
import { MemoryError } from '../../errors.ts'
import { type ChangeRequest, change, erased, type Ports } from '../change/transaction.ts'
import { getTurn, parseTurnFilter } from './list-turns.ts'

/** Which turns to forget: those that everything given holds for. At least one part must be given. */
export type TurnSelection = {
  /** Id of one turn. */
  readonly turn?: string
  readonly session?: string
  readonly since?: string
  readonly until?: string
  /** Also forgets beliefs whose text holds the words, whatever their status; beside other parts only those that come from the turns. */
  readonly containing?: string
}

export type ForgetTurnsRequest = ChangeRequest & TurnSelection & { readonly dryRun?: boolean }

export type ForgottenTurns = {
  readonly turns: number
  /** Beliefs that were forgotten with them. */
  readonly beliefs: number
  /** Ids of beliefs that were learned from the turns and stay. */
  readonly beliefsFromThem: readonly string[]
  /** A few of the turns, before they are gone; only with `dryRun`. */
  readonly examples?: readonly Turn[]
  /** The journal's receipt; null when there was nothing to forget. */
  readonly event: number | null
  readonly at: string | null
  readonly hash: string | null
}

const everything = { limit: Number.MAX_SAFE_INTEGER, offset: 0 }
const mostExamples = 10

/** Removes every text of turns for good, and with `containing` also that of the beliefs that hold the words. */
export async function forgetTurns(ports: Ports, request: ForgetTurnsRequest): Promise<ForgottenTurns> {
  const { author, dryRun = false } = request
  if (author.actor !== 'person')
    throw new MemoryError('forbidden', `"${author.origin}" may not forget what was said.`, {
      hint: 'Only a person can. Ask them to run `credence forget`.',
    })
  requireSelection(request)
  return change<ForgottenTurns>(
    ports,
    { ...request, operation: 'forget turns' },
    async () => {
      const turns = await selected(ports, request)
      const ids = new Set(turns.map(({ id }) => id))
      const { doomed, from } = await beliefsConcerned(ports, request, ids)
      const counts = { turns: turns.length, beliefs: doomed.length, beliefsFromThem: from.map(({ id }) => id) }
      if (dryRun || turns.length + doomed.length === 0) {
        const result = { ...counts, examples: turns.slice(0, mostExamples), event: null, at: null, hash: null }
        return { kind: 'nothing', result }
      }
      return {
        kind: 'forget',
        changes: doomed.map(erased),
        forgottenTurns: [...ids],
        result: ({ number, at, hash }) => ({ ...counts, event: number, at, hash }),
      }
    },
    async ({ number, at, hash, turnCount, beliefIds }) => ({
      turns: turnCount,
      beliefs: beliefIds.length,
      beliefsFromThem: [],
      event: number,
      at,
      hash,
    }),
  )
}

async function selected({ store }: Ports, { user, ...selection }: ForgetTurnsRequest): Promise<readonly Turn[]> {
  const { turn: id, session, since, until, containing } = selection
  const one = id === undefined ? null : await getTurn({ store }, user, id)
  const filter = {
    user,
    ...(session === undefined ? {} : { session }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(containing === undefined ? {} : { containing }),
  }
  // A turn is looked for in its own conversation alone, unless another one is named, where it is not.
  const within = one === null ? filter : { session: one.session, ...filter }
  const { items } = await store.listTurns(parseTurnFilter(within), everything)
  return one === null ? items : items.filter((turn) => turn.id === one.id)
}

function requireSelection({ turn, session, since, until, containing }: TurnSelection): void {
  const given = [turn, session, since, until, containing].filter((one) => one !== undefined)
  if (given.length === 0 || given.some((one) => one.trim() === ''))
    throw new MemoryError('invalid', 'Nothing says which turns to forget.', {
      hint: 'Give a turn, a session, a time or words that they contain.',
    })
}

async function beliefsConcerned(
  { store }: Ports,
  { user, turn, session, since, until, containing }: ForgetTurnsRequest,
  turnIds: ReadonlySet<string>,
): Promise<{ readonly doomed: readonly Belief[]; readonly from: readonly Belief[] }> {
  const { items } = await store.list({ user }, everything)
  const wanted = containing?.toLowerCase()
  const isEverywhere = [turn, session, since, until].every((part) => part === undefined)
  const isFromThem = ({ provenance: { sourceId } }: Belief): boolean => sourceId !== null && turnIds.has(sourceId)
  const isDoomed = (belief: Belief): boolean =>
    wanted !== undefined &&
    (isEverywhere || isFromThem(belief)) &&
    [belief.name, ...belief.aliases, belief.content, belief.why].some((text) => text.toLowerCase().includes(wanted))
  return {
    doomed: items.filter(isDoomed),
    from: items.filter((belief) => !isDoomed(belief) && isFromThem(belief)),
  }
}
