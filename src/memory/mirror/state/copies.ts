import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../../files/leftovers.ts'
import { prepareOwnPath } from '../../../files/own-files.ts'
import { maskSecretsInSlices } from '../../learn/secrets.ts'
import { escapeId } from '../parse/item.ts'
import { MirrorDocument } from '../write/document.ts'
import { type MirrorPaths, mirrorFile, namesIn, readIfPresent, writeRecord } from './state.ts'

/** Max old versions of the file to keep. They show whether an editor saved an old copy or deleted lines. */
const maxBases = 20
const maxBytes = 1_000_000

const baseFile = ({ bases }: MirrorPaths, version: number): string => join(bases, mirrorFile, `${version}.md`)

/** The numbers of the versions in a directory, newest first. */
const versionsIn = (directory: string): readonly number[] =>
  namesIn(directory)
    .filter((name) => /^\d+\.md$/u.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => b - a)

const versionsOf = ({ bases }: MirrorPaths): readonly number[] => versionsIn(join(bases, mirrorFile))

/** The text of one version, by default the newest; null if it is not stored. */
export function loadBase(paths: MirrorPaths, version = versionsOf(paths)[0]): MirrorDocument | null {
  const text = version === undefined ? null : readIfPresent(baseFile(paths, version))
  return text === null ? null : new MirrorDocument(text)
}

/** The base of a changed file: the version it names, or the newest if it names none. */
export const baseOf = (paths: MirrorPaths, text: string): MirrorDocument | null =>
  loadBase(paths, new MirrorDocument(text).version() || undefined)

/** Stores the text that store and file agree on. Lines that the person removed from it are removed from older versions too. */
export async function saveBase(paths: MirrorPaths, document: MirrorDocument, text: string): Promise<void> {
  const own = new Set(document.ownLines({ withNewItems: true }))
  const before = loadBase(paths)?.ownLines({ withNewItems: true }) ?? []
  const removed = new Set(before.filter((line) => !own.has(line)))
  writeRecord(paths, baseFile(paths, document.version() ?? 0), await withoutSecrets(text, own))
  const versions = versionsOf(paths)
  const max = Math.min(maxBases, Math.max(2, Math.floor(maxBytes / (text.length + 1))))
  for (const old of versions.slice(max)) rmSync(baseFile(paths, old), { force: true })
  if (removed.size === 0) return
  for (const version of versions.slice(1, max)) {
    const lines = (readIfPresent(baseFile(paths, version)) ?? '').split('\n')
    const kept = lines.filter((line) => !removed.has(line.replace(/\r$/u, '')))
    if (kept.length < lines.length) writeRecord(paths, baseFile(paths, version), kept.join('\n'))
  }
}

/** Masks secrets in the person's own lines: they stay in the file but are not copied. Line ends do not change. */
const withoutSecrets = async (text: string, own: ReadonlySet<string>): Promise<string> => {
  const hidden = await maskSecretsInSlices(text)
  if (hidden === text) return text
  return text.replace(/[^\r\n]+/gu, (line, at: number) => (own.has(line) ? hidden.slice(at, at + line.length) : line))
}

/** Stores another program's save, which cannot be merged, in a separate file next to MEMORY.md. */
export function writeConflictFile({ dir }: MirrorPaths, at: Date, content: Buffer): void {
  const stamp = at.toISOString().replace(/[-:.]/gu, '')
  for (let attempt = 1; ; attempt += 1) {
    const file = `MEMORY.conflict-${stamp}${attempt === 1 ? '' : `-${attempt}`}.md`
    try {
      writeFileSync(prepareOwnPath(dir, join(dir, file)), content, { flag: 'wx', mode: 0o600, flush: true })
      return
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
  }
}

/** The names of the conflict files. Only a person removes them. */
export const conflictFiles = ({ dir }: MirrorPaths): readonly string[] =>
  readdirSync(dir).filter((name) => /^MEMORY\.conflict-.*\.md$/u.test(name))

/** Removes forgotten beliefs from every stored version, and deletes the conflict files that contain one. */
export function forgetInCopies(paths: MirrorPaths, ids: readonly string[]): void {
  for (const path of versionsOf(paths).map((version) => baseFile(paths, version))) {
    const document = new MirrorDocument(readIfPresent(path) ?? '')
    const forgotten = document.items().filter(({ item }) => ids.includes(item.id ?? ''))
    for (const block of forgotten) document.remove(block)
    if (forgotten.length > 0) writeRecord(paths, path, document.render())
  }
  for (const path of conflictFiles(paths).map((name) => join(paths.dir, name))) {
    const text = readIfPresent(path) ?? ''
    if (ids.some((id) => text.includes(`credence:${escapeId(id)} `))) rmSync(path, { force: true })
  }
}

/**
 * Removes the records that version 0.2 kept for files other than MEMORY.md. Also removes those files if they were not edited,
 * because the store has their beliefs; an edited one is the person's own file from now on.
 */
export function removeOldRecords({ dir, state, bases }: MirrorPaths): void {
  for (const name of namesIn(bases).filter((file) => file !== mirrorFile)) {
    const records = join(bases, name)
    const written = readIfPresent(join(records, `${versionsIn(records)[0]}.md`))
    if (written !== null && readIfPresent(join(dir, name)) === written) rmSync(join(dir, name))
    rmSync(records, { recursive: true })
  }
  for (const name of ['displaced', 'where']) rmSync(join(state, name), { recursive: true, force: true })
}
