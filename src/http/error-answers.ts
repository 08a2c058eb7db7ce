import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Belief } from '../beliefs/belief.ts'
import { DamagedStore, type ErrorCode, expectedError } from '../errors.ts'
import { BodyTooLong, NotJson } from './read-request.ts'

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
  /** For a conflict over a belief: its current state. */
  readonly current?: Belief | null
}

/** Responds with an error, in the format of all refusals. */
export function refuse(context: Context, status: ContentfulStatusCode, { hint = null, ...refusal }: Refusal): Response {
  const { code, message, ...more } = refusal
  return context.json({ error: { code, message, hint, ...more } }, status)
}

/** Responds to an error. For a bug, the client gets only an internal error, and `onBug` gets the details. */
export const answerError =
  (onBug: (error: unknown) => void, tooLong: { readonly code: string } = { code: 'invalid' }) =>
  (error: Error, context: Context): Response => {
    const expected = expectedError(error)
    if (expected !== null) {
      const { code, message, hint = null } = expected
      // A damaged store is not the client's fault.
      const status = error instanceof DamagedStore ? 503 : statusOf[code]
      return refuse(context, status, { code, message, hint })
    }
    if (error instanceof BodyTooLong) return refuse(context, 413, { ...tooLong, message: error.message })
    if (error instanceof NotJson) {
      const hint = 'Send Content-Type: application/json.'
      return refuse(context, 415, { code: 'unsupported', message: error.message, hint })
    }
    onBug(error)
    return refuse(context, 500, { code: 'bug', message: 'The request met a bug.' })
  }
