import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import type { FoundToken } from '../beliefs/access-store.ts'
import { principalOf } from '../memory/people/access.ts'
import type { Access, Caller } from '../operations/operation.ts'
import type { Channel } from '../operations/served-memory.ts'
import { RecentMap } from '../recent-map.ts'
import { csrfHeader } from './api/contract.ts'
import { refuse } from './error-answers.ts'

/** The secrets of an installation. Agents have a separate token with fewer rights. */
export type Tokens = { readonly person: string; readonly agent: string }

/** The ids of dashboard sessions that were logged out before they expired; kept across restarts. */
export type EndedSessions = { has(id: string): boolean; add(id: string): Promise<void> }

/** Looks up the current tokens of the store. */
export type FindToken = {
  bySecret(secret: string): Promise<FoundToken | null>
  byId(id: string): Promise<FoundToken | null>
}

export type Authenticated = { Variables: { channel: Channel; caller: Caller } }

type AuthenticationOptions = {
  readonly tokens: Tokens
  readonly ended: EndedSessions
  readonly clock: () => number
  readonly now: () => Date
  readonly find: FindToken
  /** Maximum requests per minute for each token of the store; 0 for no limit. */
  readonly perMinute: number
  /** Whether browsers reach the server over HTTPS; the cookie is then sent only over HTTPS. */
  readonly isSecure: boolean
}

type Identified = { readonly caller: Caller; readonly channel: Channel; readonly tokenId: string | null }

const cookieMaxAgeSeconds = 30 * 86_400
const maxFailures = 10
const failureWindowMs = 60_000

/** Authenticates requests by the tokens of an installation and of the store, or by a person's session cookie. */
export class Authentication {
  readonly #given: AuthenticationOptions
  readonly #cookieName: string
  readonly #limit: ReturnType<typeof rateLimit>
  readonly #cookieAttributes: string
  /** The times of the latest wrong tokens, in milliseconds. */
  #failures: number[] = []

  constructor(given: AuthenticationOptions) {
    this.#given = given
    this.#limit = rateLimit(given.perMinute, given.clock)
    this.#cookieAttributes = `HttpOnly; SameSite=Strict${given.isSecure ? '; Secure' : ''}`
    // Browsers send cookies to every port of a host, so each installation needs its own cookie name.
    const suffix = this.#deriveSecret('the name of the cookie').replaceAll(/[^A-Za-z0-9]/gu, '')
    this.#cookieName = `credence-${suffix.slice(0, 8)}`
  }

  /** The cookie of a new session for a person's token; null for a wrong token or one without access to the dashboard. */
  async logIn(secret: string): Promise<string | null> {
    if (isSame(secret, this.#given.tokens.person)) return this.#newCookie('')
    const token = await this.#given.find.bySecret(secret)
    return token?.kind === 'person' ? this.#newCookie(`~${token.id}`) : null
  }

  /** A new session cookie: start time, random number, token id, and the server's signature. */
  #newCookie(tokenId: string): string {
    const session = `${this.#given.now().getTime().toString(36)}-${randomBytes(12).toString('base64url')}${tokenId}`
    const value = `${session}.${this.#deriveSecret(`session ${session}`)}`
    return `${this.#cookieName}=${value}; Path=/; Max-Age=${cookieMaxAgeSeconds}; ${this.#cookieAttributes}`
  }

  /** Ends the session of the request's cookie, so that copies of the cookie become invalid. Returns a cookie that deletes it. */
  async endSession(cookies = ''): Promise<string> {
    const session = this.#sessionOf(cookies)
    if (typeof session === 'string') await this.#given.ended.add(session)
    return `${this.#cookieName}=; Path=/; Max-Age=0; ${this.#cookieAttributes}`
  }

  /**
   * Admits only callers with this access. Another site can make a browser send the cookie, but cannot add a header, so
   * writes with the cookie also need the CSRF header.
   */
  readonly admit =
    (access: Access | 'authenticated'): MiddlewareHandler<Authenticated> =>
    async (context, next) => {
      const identified = await this.#identify(context.req.header('authorization'), context.req.header('cookie'))
      if (identified === null) return this.refuseWrongToken(context)
      if (identified === undefined) return refuseUnauthorized(context, 'There is no token.')
      const { caller, channel, tokenId } = identified
      const seconds = tokenId === null ? 0 : this.#limit.wait(tokenId)
      if (seconds > 0) return refuseTooMany(context, seconds, 'There were too many requests with this token.')
      const reason = reasonAgainst(access, caller, channel)
      if (reason !== null) return refuse(context, 403, { code: 'forbidden', ...reason })
      const isReading = context.req.method === 'GET' || context.req.method === 'HEAD'
      if (channel === 'dashboard' && !isReading && context.req.header(csrfHeader.name) !== csrfHeader.value) {
        return refuse(context, 403, {
          code: 'forbidden',
          message: `The header ${csrfHeader.name} is missing.`,
          hint: `Send ${csrfHeader.name}: ${csrfHeader.value}, which only a page of this server can.`,
        })
      }
      context.set('channel', channel)
      context.set('caller', caller)
      await next()
      return undefined
    }

  /** Refuses and counts a wrong token. Only wrong tokens are limited, so that nobody can lock out the owner. */
  refuseWrongToken(context: Context): Response {
    const seconds = this.#waitSeconds()
    this.#failures = [...this.#failures, this.#given.clock()].slice(-maxFailures)
    if (seconds === 0) return refuseUnauthorized(context, 'The token is wrong.')
    return refuseTooMany(context, seconds, 'There were too many wrong tokens.')
  }

  /** The caller; null for a wrong token or cookie, undefined if there is none. */
  async #identify(authorization: string | undefined, cookies = ''): Promise<Identified | null | undefined> {
    if (authorization !== undefined) {
      const [, secret] = /^Bearer +([\w~+/.=-]{1,200})$/iu.exec(authorization) ?? []
      if (secret === undefined) return null
      if (isSame(secret, this.#given.tokens.person)) return identifyOwner('http')
      if (isSame(secret, this.#given.tokens.agent)) return identifyOwner('agent')
      const token = await this.#given.find.bySecret(secret)
      return token === null ? null : identifyByToken(token)
    }
    const session = this.#sessionOf(cookies)
    if (session === undefined || session === null) return session
    const [begun = ''] = session.split('-')
    const ageMs = this.#given.now().getTime() - Number.parseInt(begun, 36)
    if (this.#given.ended.has(session) || ageMs > cookieMaxAgeSeconds * 1_000) return null
    const [, tokenId] = session.split('~')
    if (tokenId === undefined) return identifyOwner('dashboard')
    const token = await this.#given.find.byId(tokenId)
    return token === null ? null : { ...identifyByToken(token), channel: 'dashboard' }
  }

  /** The session of a valid cookie; null for an invalid cookie, undefined if there is none. */
  #sessionOf(cookies: string): string | null | undefined {
    const prefix = `${this.#cookieName}=`
    const cookie = cookies.split(';').find((part) => part.trim().startsWith(prefix))
    if (cookie === undefined) return undefined
    const [session = '', proof = ''] = cookie.trim().slice(prefix.length).split('.')
    return isSame(proof, this.#deriveSecret(`session ${session}`)) ? session : null
  }

  /** Derives a value from the person's token without revealing the token. */
  #deriveSecret(purpose: string): string {
    return createHmac('sha256', this.#given.tokens.person).update(purpose).digest('base64url')
  }

  /** Seconds until the oldest of `maxFailures` wrong tokens leaves the time window; 0 if there were fewer. */
  #waitSeconds(): number {
    const since = this.#given.clock() - failureWindowMs
    this.#failures = this.#failures.filter((at) => at > since)
    const [oldest] = this.#failures
    if (oldest === undefined || this.#failures.length < maxFailures) return 0
    return Math.max(1, Math.ceil((oldest - since) / 1_000))
  }
}

const identifyOwner = (channel: Channel): Identified => ({ caller: { kind: 'installation' }, channel, tokenId: null })

function identifyByToken(token: FoundToken): Identified {
  const principal = principalOf(token)
  if (principal !== null) {
    const channel = principal.isAgent ? 'agent' : 'http'
    return { caller: { kind: 'member', principal }, channel, tokenId: token.id }
  }
  return { caller: { kind: 'admin' }, channel: 'http', tokenId: token.id }
}

type Reason = { readonly message: string; readonly hint: string }

/** Why a caller may not use a route with this access; null if they may. */
function reasonAgainst(access: Access | 'authenticated', { kind }: Caller, channel: Channel): Reason | null {
  if (access === 'authenticated') return null
  // The owner of the installation is an administrator, and could also run `credence people`.
  const isAdmin = kind === 'admin' || (kind === 'installation' && channel !== 'agent')
  if (access === 'tokens') return channel === 'agent' ? tokensOnly : null
  if (access === 'admin') return isAdmin ? null : adminsOnly
  if (kind === 'admin') return noMemoryForAdmins
  if (channel === 'agent' && access !== 'agents') return noAgents
  return access === 'installation' && kind !== 'installation' ? installationOnly : null
}

const noAgents: Reason = {
  message: 'The token of agents may not do this.',
  hint: 'A person does it in the dashboard or on the command line, or with the token of the person.',
}
const adminsOnly: Reason = {
  message: 'Only an administrator may do this.',
  hint: '`credence token create --admin` makes the token of an administrator.',
}
const noMemoryForAdmins: Reason = {
  message: 'The token of an administrator opens no memory.',
  hint: 'Administrators use people, tokens and teams. Use the token of a person.',
}
const installationOnly: Reason = {
  message: "This belongs to the server's own memory directory.",
  hint: 'The token in the memory directory is needed.',
}
const tokensOnly: Reason = {
  message: 'This needs the token of a person or an administrator that is kept in the store.',
  hint: '`credence token create` makes one.',
}

function refuseTooMany(context: Context, seconds: number, message: string): Response {
  context.header('retry-after', String(seconds))
  return refuse(context, 429, { code: 'too_many', message, hint: `Try again in ${seconds} seconds.` })
}

function refuseUnauthorized(context: Context, message: string): Response {
  context.header('www-authenticate', 'Bearer realm="credence"')
  return refuse(context, 401, {
    code: 'unauthorized',
    message,
    hint: 'Open the login link that `credence serve` prints, or send Authorization: Bearer with the token.',
  })
}

/** Compares two texts of equal length in constant time. The length of a token or a proof is not secret. */
function isSame(a: string, b: string): boolean {
  const given = Buffer.from(a)
  const secret = Buffer.from(b)
  return given.length === secret.length && timingSafeEqual(given, secret)
}

/** Above this number, the least recently used bucket is dropped. It starts full if it is used again. */
const maxBuckets = 10_000

/**
 * A token bucket per key: at most `perMinute` requests at once, refilled evenly. `wait` takes a token and returns 0, or
 * returns the seconds until the next token. If `perMinute` is 0, there is no limit.
 */
export function rateLimit(perMinute: number, clock: () => number): { wait(key: string): number } {
  const buckets = new RecentMap<{ readonly left: number; readonly at: number }>(maxBuckets)
  const perMs = perMinute / 60_000
  return {
    wait: (key) => {
      if (perMinute === 0) return 0
      const now = clock()
      const last = buckets.get(key)
      const left = last === undefined ? perMinute : Math.min(perMinute, last.left + (now - last.at) * perMs)
      buckets.set(key, { left: left < 1 ? left : left - 1, at: now })
      return left < 1 ? Math.max(1, Math.ceil((1 - left) / perMs / 1_000)) : 0
    },
  }
}
