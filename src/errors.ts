/** The kind of an error. The edges (command line, HTTP, MCP) each map these codes once. */
export type ErrorCode = 'invalid' | 'not_found' | 'conflict' | 'forbidden' | 'unavailable'

/**
 * The only error a caller is expected to handle; anything else is a bug. The message says what was wrong, the value
 * given and what is allowed; the hint says what to do next.
 */
export class MemoryError extends Error {
  override readonly name = 'MemoryError'
  readonly code: ErrorCode
  readonly hint: string | undefined

  constructor(code: ErrorCode, message: string, details: { readonly hint?: string; readonly cause?: unknown } = {}) {
    // `cause` is an own property only when there is one, so that a printed error does not end in "cause: undefined".
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.code = code
    this.hint = details.hint
  }
}

/** The store itself is damaged: the request may be right, and can be repeated after a repair. */
export class DamagedStore extends MemoryError {
  constructor(message: string, details: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super('invalid', message, details)
  }
}

const errorOf =
  (code: ErrorCode) =>
  (message: string, hint?: string, cause?: unknown): MemoryError =>
    new MemoryError(code, message, {
      ...(hint === undefined ? {} : { hint }),
      ...(cause === undefined ? {} : { cause }),
    })

export const invalid = errorOf('invalid')
export const notFound = errorOf('not_found')
export const conflict = errorOf('conflict')
export const forbidden = errorOf('forbidden')
export const unavailable = errorOf('unavailable')
