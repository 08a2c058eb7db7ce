import type { Belief } from '../../beliefs/belief.ts'
import { MemoryError } from '../../errors.ts'
import { type Edits, editedFields } from '../change/edit.ts'
import type { Ports } from '../change/transaction.ts'
import { findBelief } from '../find-belief.ts'
import type { Context } from '../recall/context.ts'
import { assemble } from '../recall/recall.ts'
import { remediesForAbsence } from './remedies-for-absence.ts'
import { remediesForPresence } from './remedies-for-presence.ts'
import { type Candidate, isShown, type RemedyRequest, type Situation } from './remedy-candidate.ts'
import { supposing } from './supposing.ts'

export type Remedy = {
  readonly kind: Candidate['kind']
  readonly summary: string
  readonly change: Edits | null
  readonly ask: NonNullable<Candidate['ask']> | null
  readonly see: string | null
  /** Whether a dry run fulfils the wish. */
  readonly achieves: boolean
  /** Other beliefs that would come into the context, or leave it. */
  readonly appearing: readonly string[]
  readonly disappearing: readonly string[]
  readonly caution: string | null
}

export type Remedies = {
  readonly belief: Belief
  readonly isFulfilled: boolean
  readonly remedies: readonly Remedy[]
}

/**
 * What would make a belief appear for a message, or stay away. Each change is tried out on the store as it would be, and
 * one that does not fulfil the wish is not offered.
 */
export async function remedies(ports: Ports, request: RemedyRequest): Promise<Remedies> {
  const belief = await findBelief(ports, request)
  const { context } = await assemble(ports, request)
  if (isShown(context, belief.id) === (request.wish === 'present')) return { belief, isFulfilled: true, remedies: [] }
  const after = async (change: Edits): Promise<Context> =>
    (await assemble(asIf(ports, supposed(belief, change)), request)).context
  const situation = { ports, request, belief, context, after }
  const candidates =
    request.wish === 'present' ? await remediesForPresence(situation) : await remediesForAbsence(situation)
  const tried: Remedy[] = []
  for (const candidate of candidates) {
    const remedy = await attempt(situation, candidate)
    if (remedy !== null) tried.push(remedy)
  }
  return {
    belief,
    isFulfilled: false,
    remedies: tried.sort((one, other) => Number(other.achieves) - Number(one.achieves)),
  }
}

/** A person makes the change, so the belief is theirs afterwards. */
const supposed = (belief: Belief, change: Edits): Belief => ({
  ...belief,
  ...editedFields(belief, change),
  editedByPerson: true,
})

const asIf = (ports: Ports, belief: Belief): Ports => ({
  ...ports,
  store: supposing(ports.store, belief),
})

async function attempt(situation: Situation, candidate: Candidate): Promise<Remedy | null> {
  const { belief, context, request, ports } = situation
  const { kind, summary, change, ask, see, supposed: instead, caution } = candidate
  const fulfils = (tried: Context): boolean => isShown(tried, belief.id) === (request.wish === 'present')
  const remedy = {
    kind,
    summary,
    change: change ?? null,
    ask: ask ?? null,
    see: see ?? null,
    achieves: kind === 'correct',
    appearing: [],
    disappearing: [],
    caution: caution ?? null,
  }
  if (change === undefined && ask === undefined && instead === undefined) return remedy
  try {
    const tried =
      change !== undefined
        ? await situation.after(change)
        : (
            await assemble(instead === undefined ? ports : asIf(ports, instead), {
              ...request,
              ...ask,
              ...(ask?.budget === undefined ? {} : { budget: { ...request.budget, ...ask.budget } }),
            })
          ).context
    if (!fulfils(tried)) return null
    const [before, now] = [idsIn(context), idsIn(tried)]
    const others = (ids: ReadonlySet<string>, without: ReadonlySet<string>): readonly string[] =>
      [...ids].filter((id) => id !== belief.id && !without.has(id))
    return { ...remedy, achieves: true, appearing: others(now, before), disappearing: others(before, now) }
  } catch (error) {
    // What cannot be changed like that, such as an alias of nothing but a comma, is no remedy.
    if (error instanceof MemoryError && error.code === 'invalid') return null
    throw error
  }
}

const idsIn = ({ pinned, relevant, questions }: Context): ReadonlySet<string> =>
  new Set([...pinned, ...questions, ...relevant.map(({ belief }) => belief)].map(({ id }) => id))
