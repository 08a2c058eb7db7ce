import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Belief } from '../beliefs/belief.ts'
import { type ErrorCode, MemoryError } from '../errors.ts'
import { BodyTooLong } from './request-body.ts'

/** An error a caller is expected to handle, as a status. */
const statusOf: Readonly<Record<ErrorCode, ContentfulStatusCode>> = {
  invalid: 400,
  not_found: 404,
  conflict: 409,
  forbidden: 403,
  unavailable: 503,
}

type Refusal = {
  readonly code: string
  readonly message: string
  readonly hint?: string | null
  /** The belief that a conflict is about, as it is now. */
  readonly current?: Belief | null
}

/** The one form every refusal has. */
export function refuse(context: Context, status: ContentfulStatusCode, { hint = null, ...refusal }: Refusal): Response {
  const { code, message, ...more } = refusal
  return context.json({ error: { code, message, hint, ...more } }, status)
}

/** Says what was wrong with a request; of a bug in us it says only that there is one. `onBug` gets it whole. */
export const answerError =
  (onBug: (error: unknown) => void, tooLong: { readonly code: string } = { code: 'invalid' }) =>
  (error: Error, context: Context): Response => {
    if (error instanceof MemoryError) {
      const { code, message, hint = null } = error
      return refuse(context, statusOf[code], { code, message, hint })
    }
    if (error instanceof BodyTooLong) return refuse(context, 413, { ...tooLong, message: error.message })
    onBug(error)
    return refuse(context, 500, { code: 'bug', message: 'The request met a bug.' })
  }
