import { isIP } from 'node:net'
import type { MiddlewareHandler } from 'hono'
import { refuse } from './error-answers.ts'

/** Under which names the server may be asked for. */
export type HostNames = {
  readonly names: readonly string[]
  /** Also by any address in digits: a page that was led here by a name of its own cannot send one. */
  readonly anyAddress: boolean
}

export const loopbackNames: HostNames = { names: ['localhost', '127.0.0.1', '[::1]'], anyAddress: false }

/**
 * Answers pages of its own and programs, and no other page. A page elsewhere can reach a port of this machine under a
 * name of its own (DNS rebinding) or with its origin in the request, so both are checked. Another port of this machine is
 * another origin too, which a cookie does not tell apart.
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
        message: `Pages of "${(origin ?? site ?? '').slice(0, 80)}" may not ask.`,
        hint: 'Ask from a page of this server, or from a program.',
      })
    return next()
  }

/** The name in a Host header, or null for what is none. */
function hostNameOf(host: string): string | null {
  if (!/^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/iu.test(host) || !URL.canParse(`http://${host}`)) return null
  return new URL(`http://${host}`).hostname
}
