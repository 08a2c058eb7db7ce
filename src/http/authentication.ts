import type { Context, MiddlewareHandler } from 'hono'
import { csrfHeader } from './api/contract.ts'
import type { Channel, Credentials } from './credentials.ts'
import { refuse } from './error-answers.ts'
import type { FailedAttempts } from './failed-attempts.ts'

export type Doorkeeper = { readonly credentials: Credentials; readonly failures: FailedAttempts }

/** What a request carries once it was let in. */
export type LetIn = { Variables: { channel: Channel } }

/**
 * Lets in whoever has the token, or the cookie that was given for it. A page elsewhere can make a browser send the
 * cookie, but not a header of its own, so writing with the cookie needs one.
 */
export const tokenOnly =
  ({ credentials, failures }: Doorkeeper): MiddlewareHandler<LetIn> =>
  async (context, next) => {
    const channel = credentials.channelOf(context.req.header('authorization'), context.req.header('cookie'))
    if (channel === null) return refuseWrong(context, failures)
    if (channel === undefined) return refuseStranger(context, 'There is no token.')
    const isReading = context.req.method === 'GET' || context.req.method === 'HEAD'
    if (channel === 'dashboard' && !isReading && context.req.header(csrfHeader.name) !== csrfHeader.value) {
      return refuse(context, 403, {
        code: 'forbidden',
        message: `The header ${csrfHeader.name} is missing.`,
        hint: `Send ${csrfHeader.name}: ${csrfHeader.value}, which only a page of this server can.`,
      })
    }
    context.set('channel', channel)
    return next()
  }

/** A wrong key is counted. Only wrong ones are ever refused for being too many, so that nobody locks the owner out. */
export function refuseWrong(context: Context, failures: FailedAttempts): Response {
  const seconds = failures.waitSeconds()
  failures.add()
  return seconds > 0 ? refuseMore(context, seconds) : refuseStranger(context, 'The token is wrong.')
}

function refuseStranger(context: Context, message: string): Response {
  context.header('www-authenticate', 'Bearer realm="credence"')
  return refuse(context, 401, {
    code: 'unauthorized',
    message,
    hint: 'Open the login link that `credence serve` prints, or send Authorization: Bearer with the token.',
  })
}

function refuseMore(context: Context, seconds: number): Response {
  context.header('retry-after', String(seconds))
  return refuse(context, 429, {
    code: 'too_many',
    message: 'There were too many wrong tokens.',
    hint: `Try again in ${seconds} seconds.`,
  })
}
