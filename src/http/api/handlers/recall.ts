import { MemoryError } from '../../../errors.ts'
import { type Captured, captureCase } from '../../../eval/pack/capture.ts'
import { type Context, isShown } from '../../../memory/recall/context.ts'
import { renderContext } from '../../../memory/recall/render.ts'
import type { Answer } from '../contract.ts'
import type { Asked, Desk, Handlers } from '../handlers.ts'

type RecallRoutes = 'recall' | 'why' | 'remedies' | 'applyRemedy' | 'capture'

export function recallHandlers(desk: Desk): Handlers<RecallRoutes> {
  const { store, user, clock } = desk
  const existing = async (id: string): Promise<string> => {
    if ((await store.get(user, id)) !== null) return id
    throw new MemoryError('not_found', `There is no belief with the id "${id}".`)
  }
  /** How a recall is asked for; scopes that are not given are those of the server. */
  const options = ({ scopes, budget }: Pick<Asked<'recall'>['body'], 'scopes' | 'budget'>) => ({
    scopes: scopes ?? desk.scopes,
    ...(budget === undefined ? {} : { budget }),
  })

  return {
    recall: async ({ memory, body }) => {
      const started = clock()
      const { leftOut, asOf } = body
      const asked = { ...options(body), nearMisses: leftOut, ...(asOf === undefined ? {} : { asOf }) }
      const { nearMisses = [], quoteDecision = null, ...context } = await memory.recall(body.message, asked)
      const durationMs = clock() - started
      return {
        context,
        rendered: renderContext(context),
        highlights: highlightsOf(context),
        leftOut: nearMisses,
        quoteDecision,
        durationMs,
      }
    },
    why: async ({ memory, body }) => memory.why(body.message, await existing(body.beliefId), options(body)),
    remedies: async ({ memory, body }) => {
      const { wish, aliases = [] } = body
      return memory.remedies(body.message, await existing(body.beliefId), { ...options(body), wish, aliases })
    },
    applyRemedy: async ({ memory, body, keyed }) => {
      const { message, wish, change, expectedVersion, capture } = body
      const id = await existing(body.beliefId)
      const versioned = expectedVersion === undefined ? {} : { expectedVersion }
      const edited = await memory.edit(id, change, { ...keyed, ...versioned })
      const context = await desk.memories.dashboard.recall(message, options(body))
      const isFulfilled = isShown(context, id) === (wish === 'present')
      const judged = wish === 'present' ? { expect: [id], reject: [] } : { expect: [], reject: [id] }
      const asked = { message, scopes: options(body).scopes, ...judged, exactly: false, asIs: false }
      return { edited, isFulfilled, ...(capture ? await captureIfPossible(desk, asked) : none) }
    },
    capture: async ({ body: { scopes = desk.scopes, ...body } }) => {
      if (body.expect.length + body.reject.length === 0 && !body.asIs && !body.exactly) {
        throw new MemoryError('invalid', 'Nothing says what is right.', {
          hint: 'Give ids in expect or reject, or take the answer asIs.',
        })
      }
      for (const id of [...body.expect, ...body.reject]) await existing(id)
      return captured(await capture(desk, { ...body, scopes }))
    },
  }
}

const none = { captured: null, captureProblem: null }

type CaptureBody = Omit<Asked<'capture'>['body'], 'scopes'> & { readonly scopes: readonly string[] }

async function capture({ memories, evalRoot: root, openSubject }: Desk, body: CaptureBody): Promise<Captured> {
  const subject = await openSubject()
  try {
    // The dashboard's memory is not watched: looking again at a recall is not one more.
    return await captureCase(memories.dashboard, { ...body, note: body.note ?? null }, { root, subject })
  } finally {
    await subject.close()
  }
}

/** The change is made by then; that it could not be captured must not look as if it had failed. */
async function captureIfPossible(desk: Desk, body: CaptureBody) {
  try {
    return { captured: captured(await capture(desk, body)), captureProblem: null }
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
    return { captured: null, captureProblem: error.message }
  }
}

const captured = ({ caseId, case: { description }, ...rest }: Captured): Answer<'capture'> => {
  const { beliefsCopied, passesNow, failures, isFaithful } = rest
  return { caseId, description, beliefsCopied, passesNow, failures, isFaithful }
}

/** Every stretch of the message that named something, once, in order. Where two overlap, the longer one stays. */
function highlightsOf({ relevant }: Context): Answer<'recall'>['highlights'] {
  const byPlace = new Map<string, Answer<'recall'>['highlights'][number]>()
  for (const { belief, matches } of relevant) {
    for (const { start, end, text, typo } of matches.flatMap(({ words }) => words)) {
      const known = byPlace.get(`${start}-${end}`)
      const beliefIds = [...new Set([...(known?.beliefIds ?? []), belief.id])]
      byPlace.set(`${start}-${end}`, { start, end, text, typo: known?.typo ?? typo, beliefIds })
    }
  }
  const longestFirst = [...byPlace.values()].sort(
    (one, other) => other.end - other.start - (one.end - one.start) || one.start - other.start,
  )
  const kept: (typeof longestFirst)[number][] = []
  for (const one of longestFirst) {
    const over = kept.findIndex((other) => one.start < other.end && other.start < one.end)
    const wider = kept[over]
    if (wider === undefined) kept.push(one)
    else kept[over] = { ...wider, beliefIds: [...new Set([...wider.beliefIds, ...one.beliefIds])] }
  }
  return kept.sort((one, other) => one.start - other.start)
}
