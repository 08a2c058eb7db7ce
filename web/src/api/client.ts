import { signal } from '@preact/signals'
import type { ApiErrorBody, Body, Query, RouteAnswer, RouteName, Routes } from '../../../src/http/api/contract.ts'
import { places } from './places.ts'
import { Refusal, unreachable } from './refusal.ts'

declare global {
  interface Window {
    /** What start.js has begun while the pages were still being fetched. */
    readonly credenceStart?: { readonly token: string | null; readonly answers: Record<string, Promise<Response>> }
  }
}

/** Whether the server knows who is asking; null until it has said. */
export const isSignedIn = signal<boolean | null>(null)

/** Whether an answer is late. Shown soon enough that nobody wonders whether the press was felt. */
export const isLate = signal(false)

const lateAfterMs = 150
let waiting = 0
const onQuiet: (() => void)[] = []

/** Settles when no request is under way. */
export const whenQuiet = (): Promise<void> =>
  waiting === 0 ? Promise.resolve() : new Promise((resolve) => onQuiet.push(resolve))

/** Follows a request until it ends. */
async function followed<Result>(work: Promise<Result>): Promise<Result> {
  waiting += 1
  const timer = setTimeout(() => {
    isLate.value = true
  }, lateAfterMs)
  try {
    return await work
  } finally {
    waiting -= 1
    clearTimeout(timer)
    if (waiting === 0) {
      isLate.value = false
      for (const tell of onQuiet.splice(0)) tell()
    }
  }
}

type Parts<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Parts<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** What goes along with a request. Only what the route has can be given, and what it needs must be. */
type Given<Name extends RouteName> = {
  readonly signal?: AbortSignal
  readonly query?: Query<Name>
  /** Sent even if the page is closed meanwhile. */
  readonly keepalive?: boolean
} & ([Parts<Routes[Name]['path']>] extends [never]
  ? unknown
  : { readonly params: Readonly<Record<Parts<Routes[Name]['path']>, string | number>> }) &
  (Body<Name> extends undefined ? unknown : { readonly body: Body<Name> })

/** Asks the server. Fails with a Refusal, and with nothing else. */
export async function ask<Name extends RouteName>(
  name: Name,
  ...[given]: object extends Given<Name> ? [given?: Given<Name>] : [given: Given<Name>]
): Promise<RouteAnswer<Name>> {
  const [method, path] = places[name]
  // The type of `given` depends on the name, which the compiler cannot follow any further here.
  const { params = {}, query = {}, body, signal, keepalive = false } = (given ?? {}) as Loose
  const request = send(filled(path, params) + asked(query), {
    method,
    keepalive,
    credentials: 'same-origin',
    headers: {
      accept: 'application/json',
      ...(method === 'GET' ? {} : { 'x-credence': '1' }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  })
  const response = await followed(request)
  if (response.status === 401 && name !== 'login') isSignedIn.value = false
  if (!response.ok) throw await refusalOf(response)
  return response.json()
}

type Loose = {
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly signal?: AbortSignal
  readonly keepalive?: boolean
}

async function send(url: string, options: RequestInit): Promise<Response> {
  // What start.js has asked already is taken from there, once.
  const answers = window.credenceStart?.answers ?? {}
  const sent = answers[url]
  delete answers[url]
  try {
    return await (sent ?? fetch(`/api/v1${url}`, options))
  } catch {
    throw unreachable()
  }
}

const filled = (path: string, params: Readonly<Record<string, string | number>>): string =>
  path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])))

/** Lists are given several times; what is undefined is left out. */
function asked(query: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) search.append(name, String(one))
  }
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}

async function refusalOf(response: Response): Promise<Refusal> {
  const body: Partial<ApiErrorBody> | null = await response.json().catch(() => null)
  const error = body?.error
  return new Refusal({
    status: response.status,
    code: error?.code ?? 'unavailable',
    message: error?.message ?? `The server answered with ${response.status}.`,
    hint: error?.hint ?? null,
    current: error?.current ?? null,
  })
}
