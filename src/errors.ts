/** The kind of an error. The edges (command line, HTTP, MCP) each map these codes once. */
export type ErrorCode = 'invalid' | 'not_found' | 'conflict' | 'forbidden' | 'unavailable'

/**
 * The only error a caller is expected to handle; anything else is a bug. The message has the problem, the given
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

const checkPlace = 'Check the disk and the permissions of the directory, or use another memory directory.'
const freeSpace = 'Free some space and try again.'
const closeFiles = 'End programs that are not needed, or raise the limit of open files (`ulimit -n`).'

/** The reason why the system refused a file, and the next step. */
const fileProblems: Readonly<Record<string, readonly [problem: string, hint: string]>> = {
  EROFS: ['its disk is read-only', checkPlace],
  EACCES: ['you have no permission', checkPlace],
  EPERM: ['you have no permission', checkPlace],
  ENOTDIR: ['a file is in the place of its directory', checkPlace],
  EISDIR: ['a directory is in its place', checkPlace],
  ENOSPC: ['the disk is full', freeSpace],
  EDQUOT: ['your share of the disk is full', freeSpace],
  EIO: ['the disk failed', checkPlace],
  EMFILE: ['this program has too many files open', closeFiles],
  ENFILE: ['the system has too many files open', closeFiles],
}

/** The result of a look-up; null if it reports that there is no such thing. */
export async function nullIfNotFound<Result>(find: () => Promise<Result>): Promise<Result | null> {
  try {
    return await find()
  } catch (error) {
    if (error instanceof MemoryError && error.code === 'not_found') return null
    throw error
  }
}

/** Calls that report no path, because they work on a file that is open. */
const callsWithoutPath = ['write', 'fsync', 'fdatasync', 'ftruncate']

/**
 * The error as a caller is expected to handle it: a MemoryError as it is, or a new one for a file that the system refused.
 * Null for every other error, which is a bug.
 */
export function expectedError(error: unknown): MemoryError | null {
  if (error instanceof MemoryError) return error
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return null
  const path = 'path' in error ? error.path : null
  if (path === null && !callsWithoutPath.includes(String(error.syscall))) return null
  // To make a directory on a read-only disk fails with ENOENT where several are missing.
  const known = fileProblems[String(error.code)]
  const [problem, hint] = known ?? (error.syscall === 'mkdir' ? ['it cannot be created', checkPlace] : [])
  if (problem === undefined) return null
  return unavailable(`${path ?? 'A file'} cannot be used: ${problem} (${error.code}).`, hint, error)
}
