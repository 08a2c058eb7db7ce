import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { conflict, forbidden, invalid } from '../../errors.ts'
import { formatJson, writeAtomically } from '../../files/atomic-write.ts'
import { takeLock } from '../../files/lock.ts'
import { canonicalJson } from '../../json.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { ContentHash, Count, SafeId, Timestamp, Words } from '../store/schemas/primitives.ts'
import type { RunSummary } from '../store/schemas/run.ts'
import { fileHashOf } from './file-hash.ts'
import { parseJsonAs, sha256 } from './manifest.ts'

/** A run on a sealed set. `counts` is false for a baseline, control or ablation, because it does not measure the memory under test. */
const Look = z.strictObject({ at: Timestamp, runId: SafeId, system: Words, counts: z.boolean() })
type Look = z.infer<typeof Look>

/** The seal of a file or folder, stored next to it as `<name>.seal.json`. */
const SealedSet = z.strictObject({
  schemaVersion: z.literal(1),
  sealed: Words,
  hash: ContentHash,
  sealedAt: Timestamp,
  maxRuns: Count,
  notes: z.string().optional(),
  looks: z.array(Look),
  /** The hash of all fields above, to detect edits. */
  digest: ContentHash,
})
type SealedSet = z.infer<typeof SealedSet>

const ending = '.seal.json'
const sealPath = (path: string): string => `${path}${ending}`

/** Seals a file or folder: records its hash, the time, and the number of permitted runs. */
export async function sealSet(
  given: string,
  { maxRuns, notes, now }: { readonly maxRuns: number; readonly notes: string | undefined; readonly now: Date },
): Promise<Omit<SealedSet, 'digest'> & { readonly file: string }> {
  if (!existsSync(given))
    throw invalid(`${given}: no such file or directory.`, 'Give the data or the folder of a pack.')
  const path = realpathSync(given)
  if (path.endsWith(ending)) throw invalid(`${given} is a seal.`, 'Give the data or the folder of a pack.')
  const file = sealPath(path)
  const seal = {
    schemaVersion: 1 as const,
    sealed: basename(path),
    hash: fileHashOf(path),
    sealedAt: now.toISOString(),
    maxRuns,
    ...omitUndefined({ notes }),
    looks: [],
  }
  if (!(await writeAtomically(file, formatJson(withDigest(seal)), { existing: 'keep' })))
    throw conflict(
      `${path} is sealed already, in ${file}.`,
      'A seal is never replaced: its runs are recorded for ever.',
    )
  return { file, ...seal }
}

/**
 * Records a run on every sealed set in these files and folders. Must be called before the run, because a run that fails or is
 * interrupted counts too. Returns the seal to store with the run; null if nothing is sealed.
 */
export async function recordLook(places: readonly string[], look: Look) {
  let stated: { hash: string; sealedAt: string; look: number; maxRuns: number } | null = null
  for (const path of new Set(places.flatMap(listSealed))) {
    const file = sealPath(path)
    const release = await takeLock(lockPath(file), `The seal of ${path}`, 10_000)
    try {
      const seal = readSeal(path, file)
      const counted = seal.looks.filter(({ counts }) => counts).length
      if (look.counts && counted >= seal.maxRuns)
        throw forbidden(
          `${path} is sealed for ${seal.maxRuns} ${seal.maxRuns === 1 ? 'run' : 'runs'}, and ${counted} were made.`,
          'A set that was looked at again is no longer unseen. Measure on a new one, or on a copy without the seal.',
        )
      const looks = [...seal.looks, look]
      await writeAtomically(file, formatJson(withDigest({ ...seal, looks })), { existing: 'replace' })
      const { hash, sealedAt, maxRuns } = seal
      stated = { hash, sealedAt, look: counted + Number(look.counts), maxRuns }
    } finally {
      release()
    }
  }
  return stated
}

/** The date of the seal that a run was made under, and the number of runs by then; empty if nothing was sealed. */
export const sealText = ({ sealed }: Pick<RunSummary, 'sealed'>): string =>
  sealed === undefined ? '' : `sealed ${sealed.sealedAt.slice(0, 10)}, look ${sealed.look} of ${sealed.maxRuns}`

/** A seal's lock, in the temporary directory: a lock file is never removed, and the seal's folder is under version control. */
const lockPath = (file: string): string =>
  join(tmpdir(), `credence-${userInfo().username}-seal-${sha256(realpathSync(file)).slice(-32)}.lock`)

function readSeal(path: string, file: string): Omit<SealedSet, 'digest'> {
  const hint = 'Restore the file from version control.'
  const { digest, ...seal } = parseJsonAs(file, readFileSync(file, 'utf8'), SealedSet, hint)
  if (digest !== withDigest(seal).digest) throw invalid(`${file} was edited: its digest does not fit.`, hint)
  if (seal.hash !== fileHashOf(path))
    throw invalid(
      `${path} was changed after it was sealed at ${seal.sealedAt}.`,
      'Restore it; its figures would be of other data.',
    )
  return seal
}

const withDigest = (seal: Omit<SealedSet, 'digest'>): SealedSet => ({ ...seal, digest: sha256(canonicalJson(seal)) })

/** The path itself, its parent folder and the contents of a folder, if they are sealed. A link counts as its target. */
function listSealed(given: string): readonly string[] {
  const path = realpathSync(given)
  const inside = statSync(path).isDirectory() ? readdirSync(path).map((name) => join(path, name)) : []
  return [path, dirname(path), ...inside].filter((sealed) => existsSync(sealPath(sealed)))
}
