import { effect, signal } from '@preact/signals'
import type {
  ApiBelief,
  ApiErrorBody,
  Body,
  Query,
  RouteAnswer,
  RouteName,
  Routes,
} from '../../../src/http/api/contract.ts'

/** `GET /beliefs` by the name of the operation; written by vite.config.ts. */
declare const routesOfServer: Readonly<Record<RouteName, string>>

/** Why a request was not carried out. Everything that fails is shown as one of these. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  /** 0 when no answer came. */
  readonly status: number
  readonly code: string
  readonly hint: string
  /** With a conflict over a belief: its current state. */
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

export const asRefusal = (error: unknown): Refusal =>
  error instanceof Refusal
    ? error
    : new Refusal({
        status: 0,
        code: 'bug',
        message: 'Something in this page went wrong.',
        hint: error instanceof Error ? error.message : String(error),
      })

declare global {
  interface Window {
    /** What start.js has begun while the pages were still being fetched. */
    readonly credenceStart?: { readonly token: string | null; readonly answers: Record<string, Promise<Response>> }
  }
}

/** Whether the session is signed in; null until the server has answered. */
export const isSignedIn = signal<boolean | null>(null)

/** Whether an answer is late. Shown early, so that a press always has a visible effect. */
export const isLate = signal(false)

const lateAfterMs = 150
let waiting = 0
const onQuiet: (() => void)[] = []

/** Settles when no request is under way. */
export const whenQuiet = (): Promise<void> =>
  waiting === 0 ? Promise.resolve() : new Promise((resolve) => onQuiet.push(resolve))

/** Follows a request until it ends. */
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

/** The parameters and body of a request, typed by its route. */
type Given<Name extends RouteName> = {
  readonly signal?: AbortSignal
  readonly query?: Query<Name>
  /** Sent even if the page is closed. */
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
  const [method = '', path = ''] = routesOfServer[name].split(' ')
  // The type of `given` depends on the name, which the compiler cannot follow any further here.
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

/** The number of the newest change anybody made. Pages that show beliefs ask again when it grows. */
export const journalHead = signal(0)

/** Grows when a run, a pack or a baseline changes. */
export const evalsChange = signal(0)

/** Whether changes of others arrive by themselves at the moment; null until the first word. */
export const isLive = signal<boolean | null>(null)

/** Increases each time the connection is restored. Failed requests are then repeated. */
export const reconnects = signal(0)

/** Marks an event as this page's own change, so that it triggers no refresh. */
export const acknowledgeEvent = (event: number | null): void => {
  if (event !== null && event > journalHead.peek()) journalHead.value = event
}

const reopenAfterMs = 2_000

let lastStamp: string | null = null

function hear(data: string): void {
  const news: RouteAnswer<'events'> = JSON.parse(data)
  acknowledgeEvent(news.journalHead)
  if (lastStamp !== null && lastStamp !== news.evalsStamp) evalsChange.value += 1
  lastStamp = news.evalsStamp
}

/**
 * Listens to changes. The browser reconnects by itself, except after a refusal: then the stream is opened again. Hidden
 * tabs do not listen: browsers allow few connections to one server, and each tab would occupy one.
 */
function listen(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let source: EventSource | null = null
  const open = () => {
    if (document.hidden) return
    source = new EventSource('/api/v1/events')
    for (const name of ['hello', 'journal', 'evals'] as const) source.addEventListener(name, heard)
    source.addEventListener('error', lost)
  }
  const heard = (event: MessageEvent<string>) => {
    if (isLive.peek() === false) reconnects.value += 1
    isLive.value = true
    hear(event.data)
  }
  const lost = () => {
    isLive.value = false
    if (source?.readyState === EventSource.CLOSED) timer = setTimeout(again, reopenAfterMs)
  }
  // Detects a session that has ended; then no stream is opened.
  const again = () => {
    ask('health').then(open, () => {
      if (isSignedIn.peek() === true) timer = setTimeout(again, reopenAfterMs)
    })
  }
  const close = () => {
    clearTimeout(timer)
    source?.close()
    isLive.value = null
  }
  const look = () => {
    close()
    open()
  }
  document.addEventListener('visibilitychange', look)
  open()
  return () => {
    document.removeEventListener('visibilitychange', look)
    close()
  }
}

effect(() => (isSignedIn.value === true ? listen() : undefined))
