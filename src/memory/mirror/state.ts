import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { writeAtomically } from '../../files/atomic-write.ts'
import { codeOf, leftoverName } from '../../files/leftovers.ts'
import type { MirrorPlaces } from './places.ts'
import { jsonIn, readIfThere } from './record-text.ts'

const fileState = z.object({
  /** The scope of a topic file, null for MEMORY.md. */
  scope: z.string().nullable(),
  signature: z.string(),
  hash: z.string(),
  items: z.number(),
  bytes: z.number(),
  /** Stands for the lines that are not ours. */
  outside: z.string(),
})
export type FileState = z.infer<typeof fileState>

const conflict = z.object({
  at: z.string(),
  /** The conflict file, in the memory directory. */
  file: z.string(),
  /** What the store says, and what was kept of the file's version. */
  beliefs: z.array(z.string()),
})

const mirrorState = z.object({
  format: z.literal(1),
  user: z.string(),
  /** Makes the hashes below say nothing to whoever does not have it. */
  key: z.string(),
  /** Counts our writings. Each file says which one it comes from. */
  generation: z.number(),
  /** Number of the last event of the journal that the files show. */
  watermark: z.number(),
  syncedAt: z.string().nullable(),
  files: z.record(z.string(), fileState),
  topics: z.record(z.string(), z.object({ slug: z.string(), parts: z.number() })),
  held: z
    .object({
      kind: z.enum(['removal', 'unreadable']),
      file: z.string(),
      reason: z.string(),
      since: z.string(),
      /** What MEMORY.md looked like when it was held. */
      signature: z.string(),
    })
    .nullable(),
  conflicts: z.array(conflict),
  /** Lines that could not be taken in, with the reason. */
  refused: z.array(z.object({ file: z.string(), line: z.number(), reason: z.string() })),
})
export type MirrorState = z.infer<typeof mirrorState>
/** Why nothing is done until somebody puts a file right. */
export type Held = NonNullable<MirrorState['held']>

export const newState = (user: string, key: string): MirrorState => ({
  format: 1,
  user,
  key,
  generation: 0,
  watermark: 0,
  syncedAt: null,
  files: {},
  topics: {},
  held: null,
  conflicts: [],
  refused: [],
})

/** The key of a mirror, kept beside its records so that it outlives them. Without it what else is kept says nothing. */
export function keyOf({ state, imprints, displaced }: MirrorPlaces): string {
  const file = join(state, 'key')
  const known = readIfThere(file)?.trim() ?? ''
  if (/^[0-9a-f]{32}$/u.test(known)) return known
  for (const useless of [imprints, displaced]) rmSync(useless, { recursive: true, force: true })
  const key = randomBytes(16).toString('hex')
  mkdirSync(displaced, { recursive: true, mode: 0o700 })
  writeFileSync(file, `${key}\n`, { mode: 0o600, flush: true })
  return key
}

/** Null when there is no mirror; `damaged` when its records cannot be read, which are then made anew. */
export async function loadState({ stateFile }: MirrorPlaces): Promise<MirrorState | 'damaged' | null> {
  const text = readIfThere(stateFile)
  if (text === null) return null
  const parsed = mirrorState.safeParse(jsonIn(text))
  return parsed.success ? parsed.data : 'damaged'
}

/** Need not survive a power cut: without it everything is looked at anew, and nothing counts as deleted. */
export function saveState({ state, stateFile }: MirrorPlaces, mirror: MirrorState): void {
  const temporary = join(state, leftoverName('tmp', 'mirror.json'))
  writeFileSync(temporary, JSON.stringify(mirror), { flag: 'wx', mode: 0o600 })
  renameSync(temporary, stateFile)
}

const problemSchema = z.object({ at: z.string(), message: z.string() })
export type MirrorProblem = z.infer<typeof problemSchema>

/** Why the last sync failed. In a file of its own, since whoever writes it may not have the lock. */
export async function loadProblem({ state }: MirrorPlaces): Promise<MirrorProblem | null> {
  const parsed = problemSchema.safeParse(jsonIn(readIfThere(join(state, 'problem.json')) ?? ''))
  return parsed.success ? parsed.data : null
}

export async function saveProblem({ state }: MirrorPlaces, problem: MirrorProblem | null): Promise<void> {
  const file = join(state, 'problem.json')
  if (problem === null) rmSync(file, { force: true })
  else await writeAtomically(file, JSON.stringify(problem), { existing: 'replace', durable: false })
}

/** What a file was after one of our writings: ids and hashes of what its items said, and hashes of its other lines. */
export type Imprint = {
  readonly generation: number
  readonly items: ReadonlyMap<string, string>
  readonly lines: readonly string[]
}

export const mostImprints = 20

const imprintSchema = z.object({ items: z.record(z.string(), z.string()), lines: z.array(z.string()) })

export function saveImprint({ imprints }: MirrorPlaces, file: string, imprint: Imprint): void {
  const directory = join(imprints, file)
  const content = JSON.stringify({ items: Object.fromEntries(imprint.items), lines: imprint.lines })
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  // Half of one that a crash left is as good as none.
  writeFileSync(join(directory, `${imprint.generation}.json`), content, { mode: 0o600 })
  for (const old of generationsIn(directory).slice(mostImprints))
    rmSync(join(directory, `${old}.json`), { force: true })
}

/** Newest first. One that cannot be read is as good as none. */
export async function loadImprints({ imprints }: MirrorPlaces, file: string): Promise<readonly Imprint[]> {
  const directory = join(imprints, file)
  const found: Imprint[] = []
  for (const generation of generationsIn(directory)) {
    const parsed = imprintSchema.safeParse(jsonIn(readIfThere(join(directory, `${generation}.json`)) ?? ''))
    if (!parsed.success) continue
    found.push({ generation, items: new Map(Object.entries(parsed.data.items)), lines: parsed.data.lines })
  }
  return found
}

function generationsIn(directory: string): readonly number[] {
  try {
    return readdirSync(directory)
      .filter((name) => /^\d+\.json$/u.test(name))
      .map((name) => Number.parseInt(name, 10))
      .sort((one, other) => other - one)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

/** The lines of a file that are not ours, as they last were. An editor that saves an old copy would lose the newest. */
export async function saveOutside({ outside }: MirrorPlaces, file: string, lines: readonly string[]): Promise<void> {
  const content = JSON.stringify(lines)
  await writeAtomically(join(outside, `${file}.json`), content, { existing: 'replace', durable: false })
}

export async function loadOutside({ outside }: MirrorPlaces, file: string): Promise<readonly string[]> {
  const parsed = z.array(z.string()).safeParse(jsonIn(readIfThere(join(outside, `${file}.json`)) ?? '[]'))
  return parsed.success ? parsed.data : []
}

export function makePlaces({ displaced }: MirrorPlaces): void {
  mkdirSync(displaced, { recursive: true, mode: 0o700 })
}
