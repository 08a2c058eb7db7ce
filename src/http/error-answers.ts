import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
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

/** The one form every refusal has. */
export function refuse(
  context: Context,
  status: ContentfulStatusCode,
  { code, message, hint = null }: { readonly code: string; readonly message: string; readonly hint?: string | null },
): Response {
  return context.json({ error: { code, message, hint } }, status)
}

/** Says what was wrong with a request; of a bug in us it says only that there is one. `onBug` gets it whole. */
export const answerError =
  (onBug: (error: unknown) => void) =>
  (error: Error, context: Context): Response => {
    if (error instanceof MemoryError) {
      const { code, message, hint = null } = error
      return refuse(context, statusOf[code], { code, message, hint })
    }
    if (error instanceof BodyTooLong) return refuse(context, 413, { code: 'invalid', message: error.message })
    onBug(error)
    return refuse(context, 500, { code: 'bug', message: 'The request met a bug.' })
  }
