import { createHmac, timingSafeEqual } from 'node:crypto'

/** Through which door a request came. It decides who is written down as the author. */
export type Channel = 'dashboard' | 'http'

const secondsPerDay = 86_400
const cookieDays = 30

/** Tells who may ask by the one token of an installation. */
export class Credentials {
  readonly #token: string
  readonly #cookieValue: string
  readonly cookieName: string

  constructor(token: string) {
    const derived = (purpose: string): string => createHmac('sha256', token).update(purpose).digest('base64url')
    this.#token = token
    // Cookies do not tell ports apart, so every installation has a name of its own.
    this.cookieName = `credence-${derived('the name of the cookie')
      .replaceAll(/[^A-Za-z0-9]/gu, '')
      .slice(0, 8)}`
    // Not the token itself: whoever sees the cookie cannot use it elsewhere.
    this.#cookieValue = derived('the cookie of the dashboard')
  }

  isToken(given: string): boolean {
    return isSame(given, this.#token)
  }

  /** The door a request came through; null with the wrong key, undefined with none. */
  channelOf(authorization: string | undefined, cookies: string | undefined): Channel | null | undefined {
    if (authorization !== undefined) {
      const [, given] = /^Bearer +([\w~+/.=-]{1,200})$/iu.exec(authorization) ?? []
      return given !== undefined && this.isToken(given) ? 'http' : null
    }
    const given = cookieIn(cookies ?? '', this.cookieName)
    if (given === undefined) return undefined
    return isSame(given, this.#cookieValue) ? 'dashboard' : null
  }

  setCookie(): string {
    return `${this.cookieName}=${this.#cookieValue}; Path=/; Max-Age=${cookieDays * secondsPerDay}; HttpOnly; SameSite=Strict`
  }

  clearCookie(): string {
    return `${this.cookieName}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`
  }
}

function cookieIn(cookies: string, name: string): string | undefined {
  const found = cookies.split(';').find((cookie) => cookie.trim().startsWith(`${name}=`))
  return found?.trim().slice(name.length + 1)
}

/** Takes as long for a near miss as for a wild guess; hashed first, so that lengths are equal too. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHmac('sha256', 'compare').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
