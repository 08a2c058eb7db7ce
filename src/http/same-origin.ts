import { isIP } from 'node:net'
import type { MiddlewareHandler } from 'hono'
import { memoize } from '../search/memoize.ts'
import { refuse } from './error-answers.ts'

/** The allowed names in the Host header of a request. */
export type HostNames = {
  readonly names: readonly string[]
  /** Also allows any IP address, because DNS rebinding needs a name. */
  readonly anyAddress: boolean
  /** The origin under which a reverse proxy serves this server, such as https://memory.example.org. */
  readonly publicOrigin?: string
}

export const loopbackNames: HostNames = { names: ['localhost', '127.0.0.1', '[::1]'], anyAddress: false }

type Asked = {
  readonly host: string | undefined
  readonly origin: string | undefined
  /** The value of the header Sec-Fetch-Site. */
  readonly site: string | undefined
}

/**
 * Why a request is refused; null if it is allowed. Only programs and the server's own pages are allowed. Another site can
 * reach this port under its own host name (DNS rebinding) or from its own origin, so both Host and Origin are checked.
 * A different port on this machine is a different origin too, although browsers send it the same cookies.
 */
export function explainForeignRequest(
  { host = '', origin, site }: Asked,
  { names, anyAddress, publicOrigin }: HostNames,
): { readonly message: string; readonly hint: string } | null {
  const name = hostNameOf(host)
  if (name === null || !(names.includes(name) || (anyAddress && isIP(name.replace(/^\[|\]$/gu, '')) !== 0)))
    return { message: `The host "${host.slice(0, 80)}" is not this server.`, hint: `Ask for ${names.join(', ')}.` }
  const isOwnPage =
    (origin === undefined ||
      origin.toLowerCase() === `http://${host.toLowerCase()}` ||
      origin.toLowerCase() === publicOrigin) &&
    (site === undefined || site === 'same-origin' || site === 'none')
  if (isOwnPage) return null
  return {
    message: `Pages of "${(origin ?? site ?? '').slice(0, 80)}" may not use this server.`,
    hint: 'Send the request from a page of this server, or from a program.',
  }
}

/** Refuses requests from pages of other origins. */
export const sameOriginOnly =
  (hosts: HostNames): MiddlewareHandler =>
  async (context, next) => {
    const [host, origin, site] = ['host', 'origin', 'sec-fetch-site'].map((name) => context.req.header(name))
    const refusal = explainForeignRequest({ host, origin, site }, hosts)
    return refusal === null ? next() : refuse(context, 403, { code: 'forbidden', ...refusal })
  }

/** The name in a Host header; null if it is malformed. */
const hostNameOf = memoize((host: string): string | null => {
  if (!/^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/iu.test(host)) return null
  return URL.parse(`http://${host}`)?.hostname ?? null
}, 100)
