import Database from 'better-sqlite3'
import { MemoryError } from '../../errors.ts'

/** The result code of an error SQLite reported, such as `SQLITE_BUSY`, else null. */
export const sqliteCode = (error: unknown): string | null => (error instanceof Database.SqliteError ? error.code : null)

/** Whether the file itself is beyond reading, rather than out of reach. */
export const isDamage = (error: unknown): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(sqliteCode(error) ?? '')

/** What the outside world did to the store, in its user's words. Every other error is a bug and stays as it is. */
export function translateSqliteError(error: unknown, file: string): unknown {
  const code = sqliteCode(error)
  const known = code === null ? undefined : explanations.find(([pattern]) => pattern.test(code))
  if (known === undefined) return error
  const [, message, hint] = known
  return new MemoryError('unavailable', `${message} (${file}, ${code}).`, { hint, cause: error })
}

const explanations: readonly (readonly [RegExp, string, string])[] = [
  [/^SQLITE_FULL/, 'The disk is full; nothing was written', 'Free some space and try again. Reading still works.'],
  [/^SQLITE_BUSY|^SQLITE_LOCKED/, 'The store is in use by another process', 'Try again when it has finished.'],
  [/^SQLITE_NOTADB/, 'The file is not a Credence store', damageHint()],
  [/^SQLITE_CORRUPT/, 'The store is damaged', damageHint()],
  // Whatever a commit could do wrong was checked before, so only the derived tables can contradict it.
  [
    /^SQLITE_CONSTRAINT/,
    'The index of the store contradicts its beliefs',
    'Nothing was written. Run `credence doctor`.',
  ],
  [/^SQLITE_READONLY/, 'The store cannot be written to', 'Check the permissions of the file and its directory.'],
  [
    /^SQLITE_IOERR/,
    'The disk failed to read or write the store',
    'Check the disk. What was acknowledged before is kept.',
  ],
  [/^SQLITE_CANTOPEN/, 'The store cannot be opened', 'Check that the directory exists and may be read and written.'],
  [/^SQLITE_(PERM|AUTH|NOLFS)/, 'The store cannot be used', 'Check the permissions of the file and its directory.'],
]

function damageHint(): string {
  return 'Nothing was changed. Look at it with `credence doctor`; `credence doctor --set-aside` renames it and starts anew.'
}
