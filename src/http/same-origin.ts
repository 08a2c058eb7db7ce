import { isIP } from 'node:net'
import type { MiddlewareHandler } from 'hono'
import { refuse } from './error-answers.ts'

/** The names that a request may have in its Host header. */
export type HostNames = {
  readonly names: readonly string[]
  /** Also any IP address: DNS rebinding needs a name. */
  readonly anyAddress: boolean
}

export const loopbackNames: HostNames = { names: ['localhost', '127.0.0.1', '[::1]'], anyAddress: false }

/**
 * Answers programs and the server's own pages, and no other page. Another site can reach this port under a name of its own
 * (DNS rebinding) or from its own origin, so Host and Origin are both checked. Another port of this machine is another
 * origin too, although it gets the same cookies.
 */
export const sameOriginOnly =
  ({ names, anyAddress }: HostNames): MiddlewareHandler =>
  async (context, next) => {
    const host = context.req.header('host') ?? ''
    const name = hostNameOf(host)
    if (name === null || !(names.includes(name) || (anyAddress && isIP(name.replace(/^\[|\]$/gu, '')) !== 0)))
      return refuse(context, 403, {
        code: 'forbidden',
        message: `The host "${host.slice(0, 80)}" is not this server.`,
        hint: `Ask for ${names.join(', ')}.`,
      })
    const origin = context.req.header('origin')
    const site = context.req.header('sec-fetch-site')
    const isOwnPage =
      (origin === undefined || origin.toLowerCase() === `http://${host.toLowerCase()}`) &&
      (site === undefined || site === 'same-origin' || site === 'none')
    if (!isOwnPage)
      return refuse(context, 403, {
        code: 'forbidden',
        message: `Pages of "${(origin ?? site ?? '').slice(0, 80)}" may not use this server.`,
        hint: 'Send the request from a page of this server, or from a program.',
      })
    return next()
  }

/** The name in a Host header; null if it is malformed. */
function hostNameOf(host: string): string | null {
  if (!/^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/iu.test(host) || !URL.canParse(`http://${host}`)) return null
  return new URL(`http://${host}`).hostname
}
