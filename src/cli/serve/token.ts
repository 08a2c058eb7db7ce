import { randomBytes } from 'node:crypto'
import { chmodSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError } from '../../errors.ts'
import { writeAtomically } from '../../files/atomic-write.ts'

const wellFormed = /^[A-Za-z0-9_-]{43}$/u

/** Where the token of a memory directory is kept. */
export const tokenFile = (dir: string): string => join(dir, 'state', 'token')

/** The one secret of an installation: made when there is none, and readable by its owner alone. */
export async function installationToken(dir: string): Promise<{ readonly token: string; readonly isNew: boolean }> {
  const file = tokenFile(dir)
  const isNew = await writeAtomically(file, `${randomBytes(32).toString('base64url')}\n`, { existing: 'keep' })
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
  const token = readFileSync(file, 'utf8').trim()
  if (wellFormed.test(token)) return { token, isNew }
  throw new MemoryError('unavailable', `${file} does not hold a token.`, {
    hint: 'Remove it; the next start makes a new one, and everybody has to log in again.',
  })
}
