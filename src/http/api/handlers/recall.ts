import { MemoryError } from '../../../errors.ts'
import { type Captured, captureCase, keptCases } from '../../../eval/pack/capture.ts'
import { type Context, isShown, type NamedAnyway } from '../../../memory/recall/context.ts'
import { renderContext } from '../../../memory/recall/render.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { Slices } from '../../../search/slices.ts'
import type { RouteAnswer } from '../contract.ts'
import type { recallRoutes } from '../routes/recall-routes.ts'
import { type ApiRequest, beliefById, type Handlers, type ServerDeps } from '../server-deps.ts'

export function recallHandlers(deps: ServerDeps): Handlers<keyof typeof recallRoutes> {
  const { clock } = deps
  const existing = async (id: string): Promise<string> => (await beliefById(deps, id)).id
  const options = ({ scopes = deps.scopes, budget }: Pick<ApiRequest<'recall'>['body'], 'scopes' | 'budget'>) => ({
    scopes,
    ...omitUndefined({ budget }),
  })
  return {
    recall: async ({ memory, body }) => {
      const started = clock()
      const { message, leftOut, asOf } = body
      const request = { ...options(body), nearMisses: leftOut, ...omitUndefined({ asOf }) }
      const recalled = await memory.recall(message, request)
      const { nearMisses: misses = [], namedAnyway = [], quoteDecision = null, ...context } = recalled
      const durationMs = clock() - started
      const [rendered, highlights] = [renderContext(context), await highlightsOf(context, namedAnyway)]
      return { context, rendered, highlights, namedAnyway, leftOut: misses, quoteDecision, durationMs }
    },
    why: async ({ memory, body }) => memory.why(body.message, await existing(body.beliefId), options(body)),
    remedies: async ({ memory, body }) => {
      const { wish, aliases = [] } = body
      const cases = deps.isInstallation ? keptCases(deps.evalRoot) : []
      return memory.remedies(body.message, await existing(body.beliefId), { ...options(body), wish, aliases, cases })
    },
    applyRemedy: async ({ memory, body, idempotency }) => {
      const { message, wish, change, expectedVersion } = body
      const id = await existing(body.beliefId)
      const edited = await memory.edit(id, change, { ...idempotency, ...omitUndefined({ expectedVersion }) })
      const context = await deps.memories.dashboard.recall(message, options(body))
      const isFulfilled = isShown(context, id) === (wish === 'present')
      if (!body.capture) return { edited, isFulfilled, captured: null, captureProblem: null }
      const judged = wish === 'present' ? { expect: [id], reject: [] } : { expect: [], reject: [id] }
      const { scopes } = options(body)
      try {
        const captured = await capture(deps, { message, scopes, ...judged, exactly: false, asIs: false })
        return { edited, isFulfilled, captured, captureProblem: null }
      } catch (error) {
        // The edit is made by now; a case that could not be captured must not look like a failed edit.
        if (!(error instanceof MemoryError)) throw error
        return { edited, isFulfilled, captured: null, captureProblem: error.message }
      }
    },
    capture: async ({ body: { scopes = deps.scopes, ...body } }) => {
      if (body.expect.length + body.reject.length === 0 && !body.asIs && !body.exactly) {
        throw new MemoryError('invalid', 'The request has no expectation.', {
          hint: 'Give ids in expect or reject, or set asIs to accept the present answer.',
        })
      }
      for (const id of [...body.expect, ...body.reject]) await existing(id)
      return capture(deps, { ...body, scopes })
    },
  }
}

type CaptureBody = Omit<ApiRequest<'capture'>['body'], 'scopes'> & { readonly scopes: readonly string[] }

async function capture(deps: ServerDeps, body: CaptureBody): Promise<RouteAnswer<'capture'>> {
  const { memories, evalRoot: root } = deps
  if (!deps.isInstallation)
    throw new MemoryError('forbidden', "Cases are kept for the server's own memory directory only.")
  const subject = await deps.openSubject()
  let captured: Captured
  try {
    // Recalls through the dashboard's memory leave no shadow record: repeating a recall is not another live recall.
    captured = await captureCase(
      memories.dashboard,
      { ...body, replace: false, note: body.note ?? null },
      { root, subject },
    )
  } finally {
    await subject.close()
  }
  const { caseId, beliefsCopied, passesNow, failures, isFaithful } = captured
  return { caseId, description: captured.case.description, beliefsCopied, passesNow, failures, isFaithful }
}

type Span = RouteAnswer<'recall'>['highlights'][number]

/** The spans of the message that named something, in order. Of two that overlap, the longer one stays. */
async function highlightsOf({ relevant }: Context, namedAnyway: readonly NamedAnyway[]): Promise<readonly Span[]> {
  const slices = new Slices()
  const byPlace = new Map<string, Omit<Span, 'beliefIds'> & { readonly beliefIds: Set<string> }>()
  const named = relevant.map(({ belief, matches }) => ({ beliefId: belief.id, matches }))
  for (const { beliefId, matches } of [...named, ...namedAnyway]) {
    for (const { start, end, text, typo } of matches.flatMap(({ words }) => words)) {
      const place = `${start}-${end}`
      const known = byPlace.get(place)
      if (known === undefined) byPlace.set(place, { start, end, text, typo, beliefIds: new Set([beliefId]) })
      else byPlace.set(place, { ...known, typo: known.typo ?? typo, beliefIds: known.beliefIds.add(beliefId) })
      if (slices.areOver) await slices.pause()
    }
  }
  const longestFirst = [...byPlace.values()].sort(
    (one, other) => other.end - other.start - (one.end - one.start) || one.start - other.start,
  )
  const spans: typeof longestFirst = []
  /** Which of the spans each character belongs to, one more. */
  const spanAt = new Uint32Array(longestFirst.reduce((last, { end }) => Math.max(last, end), 0))
  for (const one of longestFirst) {
    const over = spanAt
      .subarray(one.start, one.end)
      .reduce((least, at) => (at > 0 && (least === 0 || at < least) ? at : least), 0)
    if (over === 0) spanAt.fill(spans.push(one), one.start, one.end)
    else for (const id of one.beliefIds) spans[over - 1]?.beliefIds.add(id)
    if (slices.areOver) await slices.pause()
  }
  return spans
    .sort((one, other) => one.start - other.start)
    .map(({ beliefIds, ...span }) => ({ ...span, beliefIds: [...beliefIds] }))
}
