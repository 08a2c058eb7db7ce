import { MemoryError, unavailable } from '../../../errors.ts'
import { parseObject } from '../../../json.ts'
import { defaultBudget } from '../../../memory/recall/context.ts'
import { readBoundedText } from '../../../models/endpoint.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { type AnswerHit, emptyAnswer, type HearingSystem } from '../system.ts'
import {
  aboutAnswer,
  describeBelief,
  describeTurn,
  messageFor,
  routes,
  type SearchMessage,
  searchAnswer,
  type ToldRecord,
} from './http-contract.ts'

export type HttpSystemOptions = {
  readonly url: string
  /** Whether to send all fields of a belief, or only its text, aliases, id and first scope. Default true. */
  readonly fullMetadata?: boolean
  readonly timeoutMs?: number
  readonly fetch?: typeof fetch
}

/** Any memory that implements the HTTP contract of docs/systems.md. */
export function httpSystem({ url, fullMetadata = true, ...options }: HttpSystemOptions): HearingSystem {
  const base = baseOf(url)
  const request = requestTo(base, options)
  const sent = fullMetadata ? 'every field of each belief' : 'the text, aliases and first scope of each belief'

  const add = (told: ToldRecord) => request(routes.add, messageFor(told, { full: fullMetadata }))
  const replace = async (told: ToldRecord): Promise<void> => {
    const message = { beliefId: told.id, ...messageFor(told, { full: fullMetadata }) }
    const { status } = await request(routes.update, message, missingRoute)
    // A system without this route replaces a belief if the same id is added again, as published suites expect.
    if (missingRoute.includes(status)) await add(told)
  }

  return {
    name: systemNameOf(base, fullMetadata),
    version: 'unknown',
    description: `the memory at ${base}, which gets ${sent}`,
    tiers: 'relevant',
    reset: async () => {
      await request(routes.reset)
    },
    ingest: async (beliefs) => {
      // Sequential, because the order of beliefs is part of the corpus, and a system may merge beliefs.
      for (const belief of beliefs) await add(describeBelief(belief))
      return []
    },
    hear: async (turns) => {
      for (const turn of turns) await add(describeTurn(turn))
    },
    update: async ({ kind, belief }) => {
      await (kind === 'create' ? add : replace)(describeBelief(belief))
    },
    recall: async ({ user, scopes, message, budget, at }) => {
      const question: SearchMessage = {
        query: message,
        user_id: user,
        limit: budget.maxBeliefs ?? defaultBudget.maxBeliefs,
        scope: scopes[0] ?? null,
        ...(fullMetadata ? { scopes: [...scopes], ...omitUndefined({ at }) } : {}),
      }
      const answer = await request(routes.search, question)
      return { ...emptyAnswer, relevant: hitsIn(answer) }
    },
    close: async () => {},
  }
}

/** The memory at an address, with its own name, version and capabilities. */
export async function openHttpSystem(options: HttpSystemOptions): Promise<HearingSystem> {
  const system = httpSystem(options)
  const reply = await requestTo(baseOf(options.url), options)(routes.about, undefined, missingRoute).catch(() => null)
  const value = reply === null || missingRoute.includes(reply.status) ? null : parseObject(reply.body)
  if (reply === null || value === null) return system
  const { data: about } = aboutAnswer.safeParse(value)
  if (about === undefined)
    throw unavailable(`${reply.what} answered with another shape: ${excerptOf(reply.body)}`, seeAbout)
  const { name, ...claims } = about
  const kind = options.fullMetadata === false ? 'http-lean' : 'http'
  return { ...system, ...omitUndefined({ ...claims, name: name && `${kind}-${name}` }) }
}

const seeAbout = 'Answer {"name"?, "version"?, "offers"?}, as docs/systems.md describes, or 404.'

type Route = (typeof routes)[keyof typeof routes]
type Reply = { readonly what: string; readonly status: number; readonly body: string }

const missingRoute: readonly number[] = [404, 405, 501]
const defaultTimeoutMs = 30_000
/** Far larger than any valid response, and small enough for memory. */
const maxBodyLength = 8_000_000

/** Sends one request, and turns every failure into a specific error. */
function requestTo(
  base: string,
  { timeoutMs = defaultTimeoutMs, fetch: send = fetch }: Pick<HttpSystemOptions, 'timeoutMs' | 'fetch'>,
) {
  return async ({ method, path }: Route, body?: unknown, tolerated: readonly number[] = []): Promise<Reply> => {
    const what = `${method} ${base}${path}`
    const signal = AbortSignal.timeout(timeoutMs)
    let status: number
    let text: string
    try {
      const response = await send(`${base}${path}`, {
        method,
        signal,
        // A redirect is not followed, because it leads away from the system to be measured.
        redirect: 'manual',
        headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      status = response.status
      text = await readBoundedText(response, maxBodyLength, () =>
        unavailable(`${what} answered with more than ${maxBodyLength} bytes.`),
      )
    } catch (cause) {
      if (cause instanceof MemoryError) throw cause
      if (signal.aborted) throw unavailable(`${what} did not answer within ${timeoutMs} ms.`, undefined, cause)
      const hint = 'Check that the system is running at this address.'
      throw unavailable(`${what} failed: ${reasonIn(cause)}.`, hint, cause)
    }
    const isFine = (status >= 200 && status < 300) || tolerated.includes(status)
    if (isFine) return { what, status, body: text }
    const redirected = status >= 300 && status < 400 ? ' Redirects are not followed.' : ''
    throw unavailable(`${what} answered ${status}: ${excerptOf(text)}${redirected}`)
  }
}

function hitsIn({ what, status, body }: Reply): readonly AnswerHit[] {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch (cause) {
    throw unavailable(`${what} answered ${status} with something other than JSON: ${excerptOf(body)}`, undefined, cause)
  }
  const parsed = searchAnswer.safeParse(value)
  if (!parsed.success) throw wrongShape(what, status, body)
  return parsed.data.map((hit): AnswerHit => {
    // A system with its own ids returns ours in the metadata.
    const id = hit.metadata?.beliefId ?? hit.id
    if (id === undefined) throw wrongShape(what, status, body)
    return { id, score: hit.score ?? null, ...(hit.clauses && { clauses: hit.clauses }) }
  })
}

const wrongShape = (what: string, status: number, body: string): MemoryError =>
  unavailable(
    `${what} answered ${status} with another shape: ${excerptOf(body)}`,
    'Answer {"results": [{"id": "<beliefId>"}]}, or the list alone.',
  )

const excerptOf = (body: string): string => (body === '' ? '(nothing)' : body.slice(0, 200))

/** The reason for a network error: `fetch` wraps it as the `cause` of its own error. */
function reasonIn(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  return inner instanceof Error ? inner.message || String('code' in inner ? inner.code : inner.name) : String(inner)
}

function baseOf(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null
  const isUsable =
    url !== null &&
    ['http:', 'https:'].includes(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.search === '' &&
    url.hash === ''
  if (!isUsable)
    throw new MemoryError('invalid', `"${given.slice(0, 200)}" is not the URL of a system.`, {
      hint: 'Write http:// or https:// with a host, without name, password, ? or #, for example http://127.0.0.1:8080.',
    })
  return url.href.replace(/\/+$/u, '')
}

/** A name that is unique for an address and valid in a file name. */
const systemNameOf = (base: string, fullMetadata: boolean): string => {
  const address = base.replace(/^https?:/u, '').toLowerCase()
  return `${fullMetadata ? 'http' : 'http-lean'}-${address.match(/[a-z0-9]+/gu)?.join('-')}`
}
