import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { csrfHeader } from './api/contract.ts'
import { refuse } from './error-answers.ts'

/** How a request was authenticated: by the cookie or by the token. It decides who is recorded as the author. */
export type Channel = 'dashboard' | 'http'

/** The context variables of an authenticated request. */
export type Authenticated = { Variables: { channel: Channel } }

const cookieMaxAgeSeconds = 30 * 86_400
const mostFailures = 10
const failureWindowMs = 60_000

/** Authenticates requests by the one token of an installation, or by the cookie that login gives for it. */
export class Authentication {
  readonly #token: string
  readonly #cookieName: string
  readonly #cookieValue: string
  readonly #clock: () => number
  /** When wrong tokens came in, in milliseconds; only the latest ones. */
  #failures: number[] = []

  constructor(token: string, clock: () => number) {
    const derived = (purpose: string): string => createHmac('sha256', token).update(purpose).digest('base64url')
    this.#token = token
    this.#clock = clock
    // Browsers send cookies to every port of a host, so each installation needs a name of its own.
    const suffix = derived('the name of the cookie').replaceAll(/[^A-Za-z0-9]/gu, '')
    this.#cookieName = `credence-${suffix.slice(0, 8)}`
    // Derived from the token, so that a stolen cookie does not reveal it.
    this.#cookieValue = derived('the cookie of the dashboard')
  }

  isToken(text: string): boolean {
    return isSame(text, this.#token)
  }

  setCookie(): string {
    return `${this.#cookieName}=${this.#cookieValue}; Path=/; Max-Age=${cookieMaxAgeSeconds}; HttpOnly; SameSite=Strict`
  }

  clearCookie(): string {
    return `${this.#cookieName}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`
  }

  /**
   * Requires the token or the cookie. Another site can make a browser send the cookie, but cannot add a header, so
   * writes with the cookie also need the CSRF header.
   */
  readonly required: MiddlewareHandler<Authenticated> = async (context, next) => {
    const channel = this.#channelOf(context.req.header('authorization'), context.req.header('cookie'))
    if (channel === null) return this.refuseWrongToken(context)
    if (channel === undefined) return unauthorized(context, 'There is no token.')
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

  /** Counts a wrong token. Only wrong tokens are rate limited, so nobody can lock out the owner. */
  refuseWrongToken(context: Context): Response {
    const seconds = this.#waitSeconds()
    this.#failures = [...this.#failures, this.#clock()].slice(-mostFailures)
    if (seconds === 0) return unauthorized(context, 'The token is wrong.')
    context.header('retry-after', String(seconds))
    return refuse(context, 429, {
      code: 'too_many',
      message: 'There were too many wrong tokens.',
      hint: `Try again in ${seconds} seconds.`,
    })
  }

  /** Null for a wrong token or cookie, undefined when there is none. */
  #channelOf(authorization: string | undefined, cookies = ''): Channel | null | undefined {
    if (authorization !== undefined) {
      const [, token] = /^Bearer +([\w~+/.=-]{1,200})$/iu.exec(authorization) ?? []
      return token !== undefined && this.isToken(token) ? 'http' : null
    }
    const prefix = `${this.#cookieName}=`
    const cookie = cookies.split(';').find((one) => one.trim().startsWith(prefix))
    if (cookie === undefined) return undefined
    return isSame(cookie.trim().slice(prefix.length), this.#cookieValue) ? 'dashboard' : null
  }

  /** Seconds until the oldest of `mostFailures` wrong tokens is out of the window; 0 when there are fewer. */
  #waitSeconds(): number {
    const since = this.#clock() - failureWindowMs
    this.#failures = this.#failures.filter((at) => at > since)
    const [oldest] = this.#failures
    if (oldest === undefined || this.#failures.length < mostFailures) return 0
    return Math.max(1, Math.ceil((oldest - since) / 1_000))
  }
}

function unauthorized(context: Context, message: string): Response {
  context.header('www-authenticate', 'Bearer realm="credence"')
  return refuse(context, 401, {
    code: 'unauthorized',
    message,
    hint: 'Open the login link that `credence serve` prints, or send Authorization: Bearer with the token.',
  })
}

/** Compares in constant time. Both are hashed first, because `timingSafeEqual` needs equal lengths. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHmac('sha256', 'compare').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
