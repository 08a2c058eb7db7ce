/** The kind of an error. The command line, HTTP and MCP each map these codes in one place. */
export type ErrorCode = 'invalid' | 'not_found' | 'conflict' | 'forbidden' | 'unavailable'

/**
 * The only error that a caller is expected to handle; any other error is a bug. The message has the problem, the given
 * value and the allowed values; the hint has the next step.
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

/** The store is damaged. The request itself may be valid, so it can be repeated after a repair. */
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

const checkPlace = 'Check the disk and the permissions of the directory, or use another memory directory.'
const freeSpace = 'Free some space and try again.'
const closeFiles = 'End programs that are not needed, or raise the limit of open files (`ulimit -n`).'

/** The problem and the next step for each error code of the file system. */
const fileProblems: Readonly<Record<string, readonly [problem: string, hint: string]>> = {
  EROFS: ['its disk is read-only', checkPlace],
  EACCES: ['you have no permission', checkPlace],
  EPERM: ['you have no permission', checkPlace],
  ENOTDIR: ['a file is in the place of its directory', checkPlace],
  EISDIR: ['it is a directory, not a file', checkPlace],
  ENOSPC: ['the disk is full', freeSpace],
  EDQUOT: ['your share of the disk is full', freeSpace],
  EIO: ['the disk failed', checkPlace],
  EMFILE: ['this program has too many files open', closeFiles],
  ENFILE: ['the system has too many files open', closeFiles],
}

/** The result of a lookup; null if it throws `not_found`. */
export async function nullIfNotFound<Result>(find: () => Promise<Result>): Promise<Result | null> {
  try {
    return await find()
  } catch (error) {
    if (error instanceof MemoryError && error.code === 'not_found') return null
    throw error
  }
}

/** System calls on open files. Their errors have no path. */
const callsWithoutPath = ['write', 'fsync', 'fdatasync', 'ftruncate']

/**
 * The error as a MemoryError: unchanged if it is one, or a new one for an error of the file system. Null for any other
 * error, which is a bug.
 */
export function expectedError(error: unknown): MemoryError | null {
  if (error instanceof MemoryError) return error
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return null
  const path = 'path' in error ? error.path : null
  if (path === null && !callsWithoutPath.includes(String(error.syscall))) return null
  // On a read-only disk, a recursive mkdir fails with ENOENT if several directories are missing.
  const known = fileProblems[String(error.code)]
  const [problem, hint] = known ?? (error.syscall === 'mkdir' ? ['it cannot be created', checkPlace] : [])
  if (problem === undefined) return null
  return unavailable(`${path ?? 'A file'} cannot be used: ${problem} (${error.code}).`, hint, error)
}
