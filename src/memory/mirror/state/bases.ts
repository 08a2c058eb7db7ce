import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { masked } from '../../learn/secrets.ts'
import { escapeId } from '../parse/item.ts'
import { MirrorDocument } from '../write/document.ts'
import { type MirrorPaths, namesIn, readIfPresent, writeRecord } from './state.ts'

/** Older versions are kept so that an editor that saves an old copy can be told from one that deletes lines. */
const mostBases = 20
const mostBytes = 1_000_000

const baseFile = ({ bases }: MirrorPaths, file: string, version: number): string => join(bases, file, `${version}.md`)

/** Versions of a file whose text is known, newest first. */
const versionsOf = ({ bases }: MirrorPaths, file: string): readonly number[] =>
  namesIn(join(bases, file))
    .filter((name) => /^\d+\.md$/u.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((one, other) => other - one)

/** The text of one version, or of the newest; null when it is not known. */
export function loadBase(
  paths: MirrorPaths,
  file: string,
  version = versionsOf(paths, file)[0],
): MirrorDocument | null {
  const text = version === undefined ? null : readIfPresent(baseFile(paths, file, version))
  return text === null ? null : new MirrorDocument(text)
}

/** The text that a changed file was made from: the version it names, or the newest when it names none. */
export const baseOf = (paths: MirrorPaths, file: string, text: string): MirrorDocument | null =>
  loadBase(paths, file, new MirrorDocument(text).version() || undefined)

/** Keeps the text that store and file agree on. Own lines that are gone from it leave the older versions too. */
export function saveBase(paths: MirrorPaths, file: string, document: MirrorDocument, text: string): void {
  const own = new Set(document.ownLines({ withNewItems: true }))
  const removed = new Set(
    loadBase(paths, file)
      ?.ownLines({ withNewItems: true })
      .filter((line) => !own.has(line)),
  )
  writeRecord(paths, baseFile(paths, file, document.version() ?? 0), withoutSecrets(text, own))
  const versions = versionsOf(paths, file)
  const most = Math.min(mostBases, Math.max(2, Math.floor(mostBytes / (text.length + 1))))
  for (const old of versions.slice(most)) rmSync(baseFile(paths, file, old), { force: true })
  if (removed.size === 0) return
  for (const version of versions.slice(1, most)) {
    const lines = (readIfPresent(baseFile(paths, file, version)) ?? '').split('\n')
    const kept = lines.filter((line) => !removed.has(line.replace(/\r$/u, '')))
    if (kept.length < lines.length) writeRecord(paths, baseFile(paths, file, version), kept.join('\n'))
  }
}

/** Secrets in lines that are no beliefs stay in the person's file and are not copied. Lines stay lines. */
const withoutSecrets = (text: string, own: ReadonlySet<string>): string => {
  const hidden = masked(text)
  if (hidden === text) return text
  return text.replace(/[^\r\n]+/gu, (line, at: number) => (own.has(line) ? hidden.slice(at, at + line.length) : line))
}

/** Removes forgotten beliefs from every kept text of the files that they stand or stood in; null for all files. */
export function forgetInBases(paths: MirrorPaths, ids: readonly string[], files: ReadonlySet<string> | null): void {
  for (const file of files ?? namesIn(paths.bases))
    for (const version of versionsOf(paths, file)) {
      const text = readIfPresent(baseFile(paths, file, version)) ?? ''
      if (!ids.some((id) => text.includes(`credence:${escapeId(id)}`))) continue
      const document = new MirrorDocument(text)
      for (const block of document.items()) if (ids.includes(block.item.id ?? '')) document.remove(block)
      writeRecord(paths, baseFile(paths, file, version), document.render())
    }
}
