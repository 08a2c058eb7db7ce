import { signal } from '@preact/signals'
import type { Answer, ApiErrorBody, Body, Query, RouteName, Routes } from '../../../src/http/api/contract.ts'
import { places } from './places.ts'
import { Refusal, unreachable } from './refusal.ts'

/** Whether the server knows who is asking; null until it has said. */
export const isSignedIn = signal<boolean | null>(null)

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
): Promise<Answer<Name>> {
  const [method, path] = places[name]
  // The type of `given` depends on the name, which the compiler cannot follow any further here.
  const { params = {}, query = {}, body, signal, keepalive = false } = (given ?? {}) as Loose
  const response = await send(`/api/v1${filled(path, params)}${asked(query)}`, {
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
  try {
    return await fetch(url, options)
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
