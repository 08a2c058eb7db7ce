import type { MiddlewareHandler } from 'hono'
import { refuse } from './error-answers.ts'

/** Refuses requests beyond a number under way at once, so that a flood costs little and ends in a clear answer. */
export function atMostInFlight(most: number): MiddlewareHandler {
  let inFlight = 0
  return async (context, next) => {
    if (inFlight >= most) {
      context.header('retry-after', '1')
      return refuse(context, 429, {
        code: 'too_many',
        message: `${most} requests are under way already.`,
        hint: 'Try again in a second.',
      })
    }
    inFlight += 1
    try {
      return await next()
    } finally {
      inFlight -= 1
    }
  }
}
