import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { ifPresent, leftoverName } from '../../../files/leftovers.ts'
import { ownPath } from '../../../files/own-files.ts'
import { parseJson } from '../../../json.ts'
import { parseBlocks } from '../parse/blocks.ts'
import { readLiveFile } from '../parse/read-file.ts'

/** The file that people and agents read first. */
export const mirrorFile = 'MEMORY.md'

/** Where a mirror keeps its records. */
export type MirrorPaths = ReturnType<typeof mirrorPaths>

export function mirrorPaths(dir: string) {
  const state = join(dir, 'state', 'mirror')
  return {
    dir,
    state,
    lock: join(state, 'lock'),
    /** The texts last written, by file and version: the bases of the merge. */
    bases: join(state, 'bases'),
    /** Files that a new version replaced, until no other program can be writing to them. */
    displaced: join(state, 'displaced'),
    /** Which topic file holds which belief. */
    where: join(state, 'where'),
  } as const
}

const mirrorState = z.object({
  format: z.literal(2),
  user: z.string(),
  /** The version that was written last. Each file says which version it is. */
  version: z.number(),
  /** Number of the last journal event that the files show. */
  watermark: z.number(),
  syncedAt: z.string().nullable(),
  files: z.record(
    z.string(),
    z.object({
      /** The scope of a topic file, null for MEMORY.md. */
      scope: z.string().nullable(),
      signature: z.string(),
      hash: z.string(),
      items: z.number(),
    }),
  ),
  /** Scopes that have files of their own, with the name of the first and how many there are. */
  topics: z.record(z.string(), z.object({ slug: z.string(), parts: z.number() })),
  held: z
    .object({
      kind: z.enum(['removal', 'unreadable']),
      file: z.string(),
      reason: z.string(),
      since: z.string(),
      /** The signature of MEMORY.md when it was held. */
      signature: z.string(),
    })
    .nullable(),
  /** Conflict files that were written, with the ids of the proposals in them. */
  conflicts: z.array(z.object({ at: z.string(), file: z.string(), beliefs: z.array(z.string()) })),
  /** Lines that could not become beliefs, with the reason. */
  refused: z.array(z.object({ file: z.string(), line: z.number(), reason: z.string() })),
  /** Edits of the files that a person has to decide on. */
  waiting: z
    .array(
      z.object({
        /** The proposal or candidate that the edit became. */
        id: z.string(),
        /** The belief that it would change or retire; null for a new line. */
        target: z.string().nullable(),
        /** Whether the line, or its absence, takes the place of the target's own line. */
        inPlace: z.boolean(),
        file: z.string(),
        /** The version of the file that has the edit. */
        version: z.number(),
        /** A hash of the edited line; null for a line that was removed. */
        line: z.string().nullable(),
      }),
    )
    .default([]),
})
export type MirrorState = z.infer<typeof mirrorState>
/** Why the mirror stands still until a person puts a file right. */
export type Held = NonNullable<MirrorState['held']>

const stateFile = ({ state }: MirrorPaths): string => join(state, 'mirror.json')

/** Null when there is no mirror; `damaged` when its records cannot be read. */
export function loadState(paths: MirrorPaths): MirrorState | 'damaged' | null {
  const text = readIfPresent(stateFile(paths))
  if (text === null) return null
  const parsed = mirrorState.safeParse(parseJson(text))
  return parsed.success ? parsed.data : 'damaged'
}

/** Need not survive a power cut: without it the state is rebuilt from the files, and nothing counts as removed. */
export const saveState = (paths: MirrorPaths, state: MirrorState): void =>
  writeRecord(paths, stateFile(paths), JSON.stringify(state))

/** Makes the next sync compare the files with the whole store, as after the store was replaced. */
export function showAllAgain(dir: string): void {
  const paths = mirrorPaths(dir)
  const state = loadState(paths)
  if (state !== null && state !== 'damaged') saveState(paths, { ...state, watermark: 0 })
}

/** The state of a new mirror, or of one whose records are lost: then its files say which of them are ours. */
export function rebuildState({ dir }: MirrorPaths, user: string): MirrorState {
  const state: MirrorState = {
    format: 2,
    user,
    version: 0,
    watermark: 0,
    syncedAt: null,
    files: {},
    topics: {},
    held: null,
    conflicts: [],
    refused: [],
    waiting: [],
  }
  for (const name of readdirSync(dir).filter((one) => /^(?!MEMORY\.conflict-).*\.md$/u.test(one))) {
    const live = readLiveFile(join(dir, name))
    const blocks = live.kind === 'read' ? parseBlocks(live.text) : []
    const mark = blocks.find((block) => block.kind === 'mark')
    const scope = name === mirrorFile ? null : blocks.find((block) => block.kind === 'scope')?.scope
    if (mark === undefined || scope === undefined) continue
    state.version = Math.max(state.version, mark.version)
    const items = blocks.filter(({ kind }) => kind === 'item').length
    state.files[name] = { scope, signature: '', hash: '', items }
    if (scope !== null) addTopicFile(state, scope, name)
  }
  return state
}

/** Topic files of a scope are named `slug.md`, `slug-2.md`, `slug-3.md`. */
function addTopicFile({ topics }: MirrorState, scope: string, name: string): void {
  const [, slug = '', part] = /^(.*?)(?:-(\d+))?\.md$/u.exec(name) ?? []
  const known = topics[scope]
  if (known !== undefined && part !== undefined && slug === known.slug)
    known.parts = Math.max(known.parts, Number(part))
  else if (known === undefined || name.length < `${known.slug}.md`.length)
    topics[scope] = { slug: name.slice(0, -'.md'.length), parts: known?.parts ?? 1 }
}

const problemSchema = z.object({ at: z.string(), message: z.string() })
type MirrorProblem = z.infer<typeof problemSchema>

const problemFile = ({ state }: MirrorPaths): string => join(state, 'problem.json')

/** Why the last sync failed. In a file of its own, since a failed sync may not have had the lock. */
export function loadProblem(paths: MirrorPaths): MirrorProblem | null {
  const parsed = problemSchema.safeParse(parseJson(readIfPresent(problemFile(paths)) ?? ''))
  return parsed.success ? parsed.data : null
}

export function saveProblem(paths: MirrorPaths, problem: MirrorProblem | null): void {
  if (problem === null) rmSync(problemFile(paths), { force: true })
  else writeRecord(paths, problemFile(paths), JSON.stringify(problem))
}

/** Writes a record whole or not at all; it need not survive a power cut. */
export function writeRecord({ dir }: Pick<MirrorPaths, 'dir'>, path: string, content: string): void {
  const temporary = join(dirname(ownPath(dir, path)), leftoverName('tmp', basename(path)))
  try {
    writeFileSync(temporary, content, { flag: 'wx', mode: 0o600 })
    renameSync(temporary, path)
  } catch (error) {
    // On a full disk a part of it may be there, with text that is being forgotten.
    rmSync(temporary, { force: true })
    throw error
  }
}

export const bytesIfPresent = (path: string): Buffer | null => ifPresent(() => readFileSync(path))

export const readIfPresent = (path: string): string | null => ifPresent(() => readFileSync(path, 'utf8'))

/** Empty when there is no such directory. */
export const namesIn = (directory: string): readonly string[] => ifPresent(() => readdirSync(directory)) ?? []
