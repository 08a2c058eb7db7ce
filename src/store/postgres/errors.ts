import { MemoryError } from '../../errors.ts'
import { codeOf } from '../../files/leftovers.ts'
import type { PostgresAddress } from './address.ts'

const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
])

/** Errors of the driver itself, which have no code. */
const lostMessages =
  /^(?:Connection terminated|Client has encountered a connection error|timeout expired|timeout exceeded when trying to connect|Client was closed|Query read timeout)/u

/** Whether the connection is unusable. The last statement may or may not have been executed. */
export function isLostConnection(error: unknown): boolean {
  const code = codeOf(error)
  if (code !== undefined) return /^(?:08|57P0)/u.test(code) || code === '25P03' || networkCodes.has(code)
  return error instanceof Error && lostMessages.test(error.message)
}

/**
 * Whether a retry may succeed a moment later, because the server is starting, restarting or being replaced, or because
 * two transactions conflicted. A refused connection counts as temporary only if an earlier connection succeeded.
 */
export function mayPass(error: unknown, hasConnected: boolean): boolean {
  const code = codeOf(error)
  if (code === '40001' || code === '40P01' || code === '57P03' || code === '53300' || code === '25006') return true
  return hasConnected && isLostConnection(error)
}

/** Whether the certificate is untrusted or for a different host, or the server has no TLS. */
const isTlsProblem = (error: Error, code: string | undefined): boolean =>
  /CERT|^ERR_(?:TLS|SSL)|^UNABLE_TO_/u.test(code ?? '') || error.message.startsWith('The server does not support SSL')

/** The error that a user sees. It never contains the password. */
export function translateError(error: unknown, { label, user, database }: PostgresAddress): unknown {
  const code = codeOf(error)
  if (error instanceof Error && isTlsProblem(error, code))
    return new MemoryError('unavailable', `No TLS connection to PostgreSQL at ${label}: ${error.message}.`, {
      hint: 'See sslmode and sslrootcert in docs/postgres.md. The certificate has to name the host of the address.',
      cause: error,
    })
  // The driver's own error about a missing password has no code.
  const isWithoutPassword = error instanceof Error && error.message.startsWith('SASL')
  if (error instanceof MemoryError || (code === undefined && !isLostConnection(error) && !isWithoutPassword))
    return error
  const unavailable = (message: string, hint: string): MemoryError =>
    new MemoryError('unavailable', message, { hint, cause: error })
  const said = (error as Error).message.split('\n')[0] ?? ''
  if (code === '28P01' || code === '28000' || isWithoutPassword)
    return unavailable(
      `PostgreSQL at ${label} does not let the user "${user}" in.`,
      'Check the user and the password in the address of the store, and pg_hba.conf.',
    )
  if (said.includes('statement pooling mode'))
    return unavailable(
      `The connection pooler at ${label} allows no transactions.`,
      'Set pool_mode = transaction in the settings of PgBouncer.',
    )
  if (code === '3D000')
    return unavailable(`There is no database "${database}" at ${label}.`, `Make it: createdb ${database}`)
  if (code === '42501')
    return unavailable(
      `The user "${user}" lacks a permission at ${label}: ${said}`,
      'Credence makes a schema named credence: GRANT CREATE ON DATABASE, or make the user its owner.',
    )
  if (code === '53100' || code === 'ENOSPC')
    return unavailable(`The disk of ${label} is full. The change was not made.`, 'Free some space, then try again.')
  if (code === '25006')
    return unavailable(
      `${label} is a read-only standby.`,
      'Name the primary, or all hosts with a comma between them; the one that accepts writes is used.',
    )
  if (isLostConnection(error) || code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === '53300')
    return unavailable(
      `Cannot connect to PostgreSQL at ${label} (${reasonOf(error, code)}).`,
      'Check that the server runs and that the address of the store is right. Every change needs this connection.',
    )
  return unavailable(`PostgreSQL at ${label} failed: ${said} (${code}).`, 'Nothing of the change was kept.')
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'unknown host',
  ETIMEDOUT: 'no answer in time',
  '53300': 'too many connections',
}

const reasonOf = (error: unknown, code: string | undefined): string => reasons[code ?? ''] ?? (error as Error).message
