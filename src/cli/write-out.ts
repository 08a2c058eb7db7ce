import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { notFound, unavailable } from '../errors.ts'
import { writeAtomically } from '../files/atomic-write.ts'

/** Writes the file that `--out` names: all of it or nothing. Its directory must exist, because a new one is probably mistyped. */
export async function writeOut(file: string, content: AsyncIterable<string>): Promise<void> {
  if (!existsSync(dirname(file)))
    throw notFound(`There is no directory ${dirname(file)}.`, 'Create it, or write to another one.')
  await writeAtomically(file, content, { existing: 'replace' }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.syscall === undefined) throw cause
    throw unavailable(
      `${file} cannot be written (${cause.code}).`,
      'Choose a directory that exists, that you may write to, and that has room.',
      cause,
    )
  })
}
