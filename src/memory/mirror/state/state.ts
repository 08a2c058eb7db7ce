import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { leftoverName, nullIfMissing } from '../../../files/leftovers.ts'
import { prepareOwnPath } from '../../../files/own-files.ts'
import { parseJson } from '../../../json.ts'
import { readLiveFile } from '../parse/read-file.ts'
import { MirrorDocument } from '../write/document.ts'

export const mirrorFile = 'MEMORY.md'

/** The paths of a mirror's records. */
export type MirrorPaths = ReturnType<typeof mirrorPaths>

export function mirrorPaths(dir: string) {
  const state = join(dir, 'state', 'mirror')
  return {
    dir,
    file: join(dir, mirrorFile),
    state,
    lock: join(state, 'lock'),
    /** The directory of the texts that were last written, the bases of merges. */
    bases: join(state, 'bases'),
    /** The path of the previous MEMORY.md while the new one is put in place. */
    replaced: join(state, 'replaced.md'),
  } as const
}

const mirrorState = z.object({
  format: z.literal(2),
  user: z.string(),
  /** The number of the version that was last written. MEMORY.md contains the number of its version too. */
  version: z.number(),
  /** Number of the last journal event that the file shows. */
  watermark: z.number(),
  syncedAt: z.string().nullable(),
  files: z.object({
    [mirrorFile]: z.object({ signature: z.string(), hash: z.string(), items: z.number() }).optional(),
  }),
  held: z
    .object({
      kind: z.enum(['removal', 'unreadable']),
      file: z.string(),
      reason: z.string(),
      since: z.string(),
      /** The signature that MEMORY.md had when it made the sync stop. */
      signature: z.string(),
    })
    .nullable(),
  /** Lines that could not become beliefs, with the reason. */
  refused: z.array(z.object({ file: z.string(), line: z.number(), reason: z.string() })),
})
export type MirrorState = z.infer<typeof mirrorState>
/** The reason why the mirror stops until a person repairs the file. */
export type HeldMirror = NonNullable<MirrorState['held']>

const stateFile = ({ state }: MirrorPaths): string => join(state, 'mirror.json')

/** Null if there is no mirror; `damaged` if its records cannot be read. */
export function loadState(paths: MirrorPaths): MirrorState | 'damaged' | null {
  const text = readIfPresent(stateFile(paths))
  if (text === null) return null
  const parsed = mirrorState.safeParse(parseJson(text))
  return parsed.success ? parsed.data : 'damaged'
}

/** May be lost in a power cut: the state is then rebuilt from the file, and nothing counts as removed. */
export const saveState = (paths: MirrorPaths, state: MirrorState): void =>
  writeRecord(paths, stateFile(paths), JSON.stringify(state))

/** Makes the next sync compare the file with the whole store, for use after the store was replaced. */
export function showAllAgain(dir: string): void {
  const paths = mirrorPaths(dir)
  const state = loadState(paths)
  if (state !== null && state !== 'damaged') saveState(paths, { ...state, watermark: 0 })
}

/** The state of a new mirror, or of one whose records are lost. The file is ours if it has a version. */
export function rebuildState({ file }: MirrorPaths, user: string): MirrorState {
  const live = readLiveFile(file)
  const document = live.kind === 'read' ? new MirrorDocument(live.text) : null
  const version = document?.version() ?? null
  const files =
    document === null || version === null
      ? {}
      : { [mirrorFile]: { signature: '', hash: '', items: document.items().length } }
  const nothing = { held: null, refused: [] }
  return { format: 2, user, version: version ?? 0, watermark: 0, syncedAt: null, files, ...nothing }
}

/** Writes a record completely or not at all. It may be lost in a power cut. */
export function writeRecord({ dir }: Pick<MirrorPaths, 'dir'>, path: string, content: string, mode = 0o600): void {
  const temporary = join(dirname(prepareOwnPath(dir, path)), leftoverName('tmp', basename(path)))
  try {
    writeFileSync(temporary, content, { flag: 'wx', mode })
    renameSync(temporary, path)
  } catch (error) {
    // Removes the unfinished file that a full disk leaves, because it may contain text that is being forgotten.
    rmSync(temporary, { force: true })
    throw error
  }
}

export const readIfPresent = (path: string): string | null => nullIfMissing(() => readFileSync(path, 'utf8'))

/** The names in a directory; empty if there is no such directory. */
export const namesIn = (directory: string): readonly string[] => nullIfMissing(() => readdirSync(directory)) ?? []
