import { effect, signal } from '@preact/signals'
import type {
  ApiBelief,
  ApiErrorBody,
  Body,
  NamesInPath,
  Query,
  RouteAnswer,
  RouteName,
  Routes,
} from '../../../src/http/api/contract.ts'

/** Method and path of each operation, such as `GET /beliefs`. Defined by vite.config.ts. */
declare const routesOfServer: Readonly<Record<RouteName, string>>

/** Why a request failed. Every failure in the dashboard is shown as a refusal. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number
  readonly code: string
  readonly hint: string
  /** After a conflict: the current state of the belief. */
  readonly current: ApiBelief | null

  constructor(given: {
    status: number
    code: string
    message: string
    hint?: string | null
    current?: ApiBelief | null
  }) {
    super(given.message)
    this.status = given.status
    this.code = given.code
    this.hint = given.hint ?? ''
    this.current = given.current ?? null
  }
}

export const unreachable = (): Refusal =>
  new Refusal({
    status: 0,
    code: 'unreachable',
    message: 'The server does not answer.',
    hint: 'Is the server still running in its terminal?',
  })

export const toRefusal = (error: unknown): Refusal =>
  error instanceof Refusal
    ? error
    : new Refusal({
        status: 0,
        code: 'bug',
        message: 'Something went wrong on this page.',
        hint: error instanceof Error ? error.message : String(error),
      })

declare global {
  interface Window {
    /** The requests that start.js sent before the pages were loaded. */
    readonly credenceStart?: { readonly token: string | null; readonly answers: Record<string, Promise<Response>> }
  }
}

/** Whether the session is signed in; null until the server has answered. */
export const isSignedIn = signal<boolean | null>(null)

/** Whether an answer is late. Set after a short delay, so that every click soon has a visible effect. */
export const isLate = signal(false)

const lateAfterMs = 150
let waiting = 0

/** Sets `isLate` while a request is slow. */
async function trackLateness<Result>(work: Promise<Result>): Promise<Result> {
  waiting += 1
  const timer = setTimeout(() => {
    isLate.value = true
  }, lateAfterMs)
  try {
    return await work
  } finally {
    waiting -= 1
    clearTimeout(timer)
    if (waiting === 0) isLate.value = false
  }
}

/** The parameters and body of a request, typed by its route. */
type Given<Name extends RouteName> = {
  readonly signal?: AbortSignal
  readonly query?: Query<Name>
  /** Sent even if the page is closed. */
  readonly keepalive?: boolean
} & ([NamesInPath<Routes[Name]['path']>] extends [never]
  ? unknown
  : { readonly params: Readonly<Record<NamesInPath<Routes[Name]['path']>, string | number>> }) &
  (Body<Name> extends undefined ? unknown : { readonly body: Body<Name> })

/** Calls an operation of the server. Throws only a Refusal. */
export async function ask<Name extends RouteName>(
  name: Name,
  ...[given]: object extends Given<Name> ? [given?: Given<Name>] : [given: Given<Name>]
): Promise<RouteAnswer<Name>> {
  const [method = '', path = ''] = routesOfServer[name].split(' ')
  // The compiler cannot narrow the type of `given`, which depends on the name.
  const { params = {}, query = {}, body, signal, keepalive = false } = (given ?? {}) as Loose
  const request = send(fillPath(path, params) + queryString(query), {
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
  const response = await trackLateness(request)
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
  // If start.js has sent this request already, its answer is used, but only once.
  const answers = window.credenceStart?.answers ?? {}
  const sent = answers[url]
  delete answers[url]
  try {
    return await (sent ?? fetch(`/api/v1${url}`, options))
  } catch {
    throw unreachable()
  }
}

const fillPath = (path: string, params: Readonly<Record<string, string | number>>): string =>
  path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])))

/** Lists become repeated parameters; undefined values are left out. */
function queryString(query: Readonly<Record<string, unknown>>): string {
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

/** The number of the newest event in the journal. Pages that show beliefs reload when it increases. */
export const journalHead = signal(0)

/** Increases when a run, a pack or a baseline changes. */
export const evalsChange = signal(0)

/** Whether the event stream is connected; null until its first message. */
export const isLive = signal<boolean | null>(null)

/** Increases each time the connection is restored. Failed requests are then repeated. */
export const reconnects = signal(0)

/** Updates `journalHead` to an event, unless a newer one is known. */
export const acknowledgeEvent = (event: number | null): void => {
  if (event !== null && event > journalHead.peek()) journalHead.value = event
}

const reopenAfterMs = 2_000

let lastStamp: string | null = null

function handleNews(data: string): void {
  const news: RouteAnswer<'events'> = JSON.parse(data)
  acknowledgeEvent(news.journalHead)
  if (lastStamp !== null && lastStamp !== news.evalsStamp) evalsChange.value += 1
  lastStamp = news.evalsStamp
}

/**
 * Opens the event stream. The browser reconnects automatically, except after an error status; then this function opens it again. Hidden
 * tabs close it, because browsers allow few connections per server, and each stream needs one.
 */
function listen(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let source: EventSource | null = null
  const open = () => {
    if (document.hidden) return
    source = new EventSource('/api/v1/events')
    for (const name of ['hello', 'journal', 'evals'] as const) source.addEventListener(name, onNews)
    source.addEventListener('error', onError)
  }
  const onNews = (event: MessageEvent<string>) => {
    if (isLive.peek() === false) reconnects.value += 1
    isLive.value = true
    handleNews(event.data)
  }
  const onError = () => {
    isLive.value = false
    if (source?.readyState === EventSource.CLOSED) timer = setTimeout(retry, reopenAfterMs)
  }
  // If the session has ended, this request fails, and no stream is opened.
  const retry = () => {
    ask('health').then(open, () => {
      if (isSignedIn.peek() === true) timer = setTimeout(retry, reopenAfterMs)
    })
  }
  const close = () => {
    clearTimeout(timer)
    source?.close()
    isLive.value = null
  }
  const onVisibility = () => {
    close()
    open()
  }
  document.addEventListener('visibilitychange', onVisibility)
  open()
  return () => {
    document.removeEventListener('visibilitychange', onVisibility)
    close()
  }
}

effect(() => (isSignedIn.value === true ? listen() : undefined))
