import type { Belief } from '../../beliefs/belief.ts'
import type { Page } from '../../beliefs/belief-store.ts'
import { compareStrings } from '../../beliefs/identity.ts'
import { parseScopes } from '../../beliefs/scope.ts'
import type { Turn } from '../../beliefs/turn.ts'
import type { SessionSummary, TurnFilter } from '../../beliefs/turn-store.ts'
import { conflict, forbidden, invalid, notFound } from '../../errors.ts'
import { parseTime } from '../../local-time.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { keyUsedBefore } from '../change/forget.ts'
import { type ChangeRequest, change, eraseChange } from '../change/transaction.ts'
import { minPrefixLength } from '../find-belief.ts'
import type { Ports } from '../ports.ts'
import { requirePage } from '../recall/search.ts'
import { exportBeliefs } from '../transfer/export.ts'

type TurnList = TurnFilter & { readonly limit?: number; readonly offset?: number }

export async function listTurns(
  { store }: Ports,
  { limit = 50, offset = 0, ...filter }: TurnList,
): Promise<Page<Turn>> {
  requirePage({ limit, offset })
  return store.listTurns(parseFilter(filter), { limit, offset })
}

export async function listConversations(
  { store }: Ports,
  { limit = 50, offset = 0, ...filter }: TurnList,
): Promise<Page<SessionSummary>> {
  requirePage({ limit, offset })
  return store.listSessions(parseFilter(filter), { limit, offset })
}

export async function getTurn({ store }: Ports, user: string, id: string): Promise<Turn> {
  const turn = await store.getTurn(user, id)
  if (turn !== null) return turn
  throw notFound(`There is no turn ${id.slice(0, 80)}.`, 'List conversations with `credence conversations`.')
}

/** A turn by its id, or by the beginning of its id if no other id begins with it. */
export async function findTurn(ports: Ports, user: string, reference: string): Promise<Turn> {
  const wanted = reference.trim()
  const ids = wanted.length < minPrefixLength ? [] : await ports.store.turnIdsStartingWith(user, wanted, 2)
  // Ids are sorted, so an id that is equal to `wanted` comes first.
  if (ids.length > 1 && ids[0] !== wanted)
    throw conflict(`Several turns have an id that begins with "${wanted}": ${ids.join(', ')}.`, 'Give more of the id.')
  return getTurn(ports, user, ids[0] ?? wanted)
}

/** Converts the scopes and times of a filter to the form that the store compares. */
const parseFilter = ({ scopes, since, until, ...filter }: TurnFilter): TurnFilter => ({
  ...filter,
  ...omitUndefined({
    scopes: scopes === undefined ? scopes : parseScopes(scopes),
    since: since === undefined ? since : new Date(parseTime('since', since)).toISOString(),
    until: until === undefined ? until : new Date(parseTime('until', until)).toISOString(),
  }),
})

/** Which turns to forget: those that match every field. At least one field must be given. */
export type TurnSelection = {
  /** Id of one turn. */
  readonly turn?: string
  readonly session?: string
  readonly since?: string
  readonly until?: string
  /**
   * Only turns that contain these words. Also forgets beliefs of any status that contain them; if another field is given, only
   * beliefs that were learned from the turns.
   */
  readonly containing?: string
}

type ForgetTurnsRequest = ChangeRequest & TurnSelection & { readonly dryRun?: boolean }

export type ForgottenTurns = {
  readonly turns: number
  /** The number of beliefs that were forgotten with the turns. */
  readonly beliefs: number
  /** Ids of beliefs that were learned from the turns and are not forgotten. */
  readonly beliefsFromThem: readonly string[]
  /** Some of the turns; only with `dryRun`, or if there was nothing to forget. */
  readonly examples?: readonly Turn[]
  /** Some of the beliefs that are forgotten with the turns; only together with `examples`. */
  readonly beliefExamples?: readonly Belief[]
  /** The number, time and hash of the journal event; null if nothing was forgotten. */
  readonly event: number | null
  readonly at: string | null
  readonly hash: string | null
}

const everything = { limit: Number.MAX_SAFE_INTEGER, offset: 0 }
const maxExamples = 10

/** Erases the texts of turns. With `containing`, also erases the beliefs that contain the words. This cannot be undone. */
export async function forgetTurns(ports: Ports, request: ForgetTurnsRequest): Promise<ForgottenTurns> {
  const { author, dryRun = false, turn, session, since, until, containing } = request
  if (author.actor !== 'person')
    throw forbidden(`"${author.origin}" may not forget turns.`, 'Only a person can. Ask them to run `credence forget`.')
  const fields = Object.values(omitUndefined({ turn, session, since, until, containing }))
  if (fields.length === 0 || fields.some((field) => field.trim() === ''))
    throw invalid('No turns were selected.', 'Give a turn, a session, a time or words that the turns contain.')
  // Not even the fingerprint of the request may contain the words.
  const { containing: _words, ...withoutText } = request
  return change<ForgottenTurns>(
    ports,
    { ...withoutText, operation: containing === undefined ? 'forget turns' : 'forget turns by words' },
    async () => {
      const turns = await selectedTurns(ports, request)
      const ids = new Set(turns.map(({ id }) => id))
      const { forgotten, kept } = await beliefsConcerned(ports, request, ids)
      const counts = { turns: turns.length, beliefs: forgotten.length, beliefsFromThem: kept.map(({ id }) => id) }
      if (dryRun || turns.length + forgotten.length === 0) {
        const examples = turns.slice(0, maxExamples)
        const beliefExamples = forgotten.slice(0, maxExamples)
        const result = { ...counts, examples, beliefExamples, event: null, at: null, hash: null }
        return { kind: 'nothing', result }
      }
      return {
        kind: 'forget',
        changes: forgotten.map(eraseChange),
        forgottenTurns: [...ids],
        result: ({ number, at, hash }) => ({ ...counts, event: number, at, hash }),
      }
    },
    async ({ number, at, hash, turnCount, beliefIds, kind }) => {
      if (
        kind !== 'forget' ||
        (containing !== undefined && (await selectedTurns(ports, request)).some((turn) => turn.at < at))
      )
        throw keyUsedBefore(request)
      const counts = { turns: turnCount, beliefs: beliefIds.length, beliefsFromThem: [] }
      return { ...counts, event: number, at, hash }
    },
  )
}

async function selectedTurns(
  ports: Ports,
  { user, turn: id, session, since, until, containing }: ForgetTurnsRequest,
): Promise<readonly Turn[]> {
  const one = id === undefined ? null : await getTurn(ports, user, id)
  const filter = { user, ...omitUndefined({ session: session ?? one?.session, since, until, containing }) }
  const { items } = await ports.store.listTurns(parseFilter(filter), everything)
  return one === null ? items : items.filter((turn) => turn.id === one.id)
}

async function beliefsConcerned(
  { store }: Ports,
  { user, turn, session, since, until, containing }: ForgetTurnsRequest,
  turnIds: ReadonlySet<string>,
): Promise<{ readonly forgotten: readonly Belief[]; readonly kept: readonly Belief[] }> {
  const items: Belief[] = []
  for await (const belief of exportBeliefs({ store }, { user })) items.push(belief)
  items.sort((a, b) => compareStrings(b.updatedAt, a.updatedAt))
  const wanted = containing?.toLowerCase()
  const isEverywhere = [turn, session, since, until].every((field) => field === undefined)
  const isFromThem = ({ provenance: { sourceId } }: Belief): boolean => sourceId !== null && turnIds.has(sourceId)
  const isForgotten = (belief: Belief): boolean =>
    wanted !== undefined &&
    (isEverywhere || isFromThem(belief)) &&
    [belief.name, ...belief.aliases, belief.content, belief.why].some((text) => text.toLowerCase().includes(wanted))
  return {
    forgotten: items.filter(isForgotten),
    kept: items.filter((belief) => !isForgotten(belief) && isFromThem(belief)),
  }
}
