import { MemoryError } from '../../errors.ts'
import type { Ports } from '../change/transaction.ts'
import { mirrorPlaces } from './places.ts'
import { loadState, saveProblem } from './state.ts'
import { displacedFiles } from './swap.ts'
import { type MirrorRequest, type Synced, syncMirror } from './sync.ts'

/** What came of a sync that nobody asked for: what went wrong, and whether displaced files are left to look at. */
export type QuietSync = { readonly problem: Error | null; readonly hasLeft: boolean }

/** Syncs on the side of something else: what goes wrong is returned and written down, and nothing is thrown. */
export async function syncQuietly(ports: Ports, request: MirrorRequest): Promise<QuietSync> {
  try {
    const state = await loadState(mirrorPlaces(request.dir))
    // A directory has one mirror, and it shows one user's memory.
    if (state !== null && state !== 'damaged' && state.user !== request.user) return { problem: null, hasLeft: false }
    const problem = problemIn(await syncMirror(ports, request))
    return { problem, hasLeft: displacedFiles(mirrorPlaces(request.dir)).length > 0 }
  } catch (error) {
    const problem = error instanceof Error ? error : new Error(String(error))
    await noteProblem(ports, request, problem)
    const told = new MemoryError('unavailable', `MEMORY.md could not be brought up to date: ${problem.message}`, {
      hint: 'What was remembered is safe in the store. `credence mirror sync` tries again.',
      cause: error,
    })
    return { problem: told, hasLeft: false }
  }
}

function problemIn({ held, file, conflicts }: Synced): Error | null {
  const [conflict] = conflicts
  if (held === null && conflict !== undefined)
    return new MemoryError(
      'conflict',
      `The file and the store were changed in the same place, and a decision is waited for: see ${conflict.file}.`,
      { hint: 'Both versions are kept. `credence mirror status` says what to do.' },
    )
  if (held === null) return null
  return new MemoryError(
    'conflict',
    `${file} is held: ${held.reason} (${held.file}). Nothing is written to it or taken from it.`,
    {
      hint: 'See `credence mirror status`.',
    },
  )
}

/** So that status and doctor can tell. When not even that can be written, the problem has been returned. */
async function noteProblem({ now }: Ports, { dir }: MirrorRequest, { message }: Error): Promise<void> {
  try {
    await saveProblem(mirrorPlaces(dir), { at: now().toISOString(), message })
  } catch {
    // The disk that refused the mirror refuses this too.
  }
}
