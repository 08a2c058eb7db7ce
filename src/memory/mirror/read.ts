import { diffArrays } from 'diff'
import { splitLines, versionMark } from './parse/blocks.ts'
import { decode, type LiveFile, readLiveFile } from './parse/read-file.ts'
import { baseOf, loadBase } from './state/copies.ts'
import { type HeldMirror, type MirrorPaths, type MirrorState, mirrorFile } from './state/state.ts'
import { MirrorDocument } from './write/document.ts'
import { beginning } from './write/shown.ts'

/** MEMORY.md, open for changes. */
export type OpenFile = {
  /** The file on disk; null when it does not exist. */
  readonly live: LiveFile | null
  readonly document: MirrorDocument
  /** Whether its lines are to be compared with the store: another program changed it, or edits in it are refused. */
  readonly isChanged: boolean
  /** For a changed file the version it was made from; null when that is not known. */
  readonly base: MirrorDocument | null
}

/** Why a file cannot be relied on. */
export type HeldFile = Pick<HeldMirror, 'kind' | 'file' | 'reason'> & { readonly live: LiveFile | null }

/** The bytes of a replaced file that differ from `seen`, the text that has been merged; null if that is unknown. */
export type LateSave = { readonly seen: string | null; readonly bytes: Buffer }

type Reading = {
  readonly late: readonly LateSave[]
  /** Whether an emptied file is meant to be empty. */
  readonly acceptsEmpty: boolean
  /** Called with a late save that could not be merged. */
  readonly onTorn: (late: Buffer) => void
}

/** Reads MEMORY.md, and merges late saves and unseen lines into it. */
export function readMirror(paths: MirrorPaths, state: MirrorState, reading: Reading): OpenFile | HeldFile {
  const known = state.files[mirrorFile]
  const found = readLiveFile(paths.file)
  if (found.kind === 'unreadable') return { kind: 'unreadable', file: mirrorFile, reason: found.reason, live: null }
  const live = found.kind === 'read' ? found : null
  const isEmpty = live !== null && live.text.trim() === ''
  if (isEmpty && (known?.items ?? 0) > 0 && !reading.acceptsEmpty)
    return { kind: 'removal', file: mirrorFile, reason: 'it is empty', live }
  const isOurs = live !== null && live.hash === known?.hash
  const given = live === null || (known === undefined && isEmpty) ? beginning : live.text
  let text = known === undefined ? adoptText(given) : given
  for (const save of reading.late) {
    const base = baseOf(paths, save.bytes.toString('utf8'))
    const merged = mergeLate({ text, isOurs: isOurs && text === given }, save, base?.render() ?? null)
    text = merged.text
    if (merged.isTorn) reading.onTorn(save.bytes)
  }
  const isUnchanged = isOurs && text === given
  // The file was copied, restored or touched: with its new signature the next sync need not read it again.
  if (isUnchanged && known !== undefined) known.signature = live.signature
  if (!isUnchanged) text = withUnseenLines(paths, text)
  // Lines that are refused are compared again with every change.
  const isChanged = !isUnchanged || state.refused.length > 0
  // A file that is missing was not edited: none of its items count as removed.
  const base = isChanged && live !== null ? baseOf(paths, text) : null
  return { live, document: new MirrorDocument(text), isChanged, base }
}

/** A person's own file stays as it is, and ours begins below it. */
function adoptText(text: string): string {
  if (new MirrorDocument(text).version() !== null || text.trim() === '') return text
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const gap = /[\r\n]$/u.test(text) ? eol : eol + eol
  return `${text}${gap}${versionMark(0)}${eol}`
}

/** An editor that saves an old copy has not deleted the lines that others wrote since: they are appended. */
function withUnseenLines(paths: MirrorPaths, text: string): string {
  const version = new MirrorDocument(text).version()
  const newest = loadBase(paths)
  const base = version === null ? null : loadBase(paths, version)
  if (version === null || newest === null || base === null || version >= (newest.version() ?? 0)) return text
  const linesOf = (document: MirrorDocument): string => document.ownLines({ withNewItems: true }).join('\n')
  return appendText(text, linesAdded(linesOf(base), linesOf(newest), text))
}

/**
 * The text of the file with a late change merged in. Appended text is appended. A whole save of a file that only we have
 * written since is an old copy that was saved: it takes the place of our text. Otherwise the lines are appended that it
 * adds to `base`, the version it was made from. If it removes or changes lines as well, or its version is not known,
 * `isTorn` asks the caller to keep the save as a whole too. If it is unknown which part is merged already, none is merged.
 */
function mergeLate(
  live: { readonly text: string; readonly isOurs: boolean },
  { seen, bytes }: LateSave,
  base: string | null,
): { readonly text: string; readonly isTorn: boolean } {
  const text = decode(bytes)
  if (text === null) return { text: live.text, isTorn: true }
  // A file that was created while ours was not in place has either appended lines only, or a whole save.
  const isWhole = seen === '' && new MirrorDocument(text).version() !== null
  if (seen !== null && text.startsWith(seen) && !isWhole)
    return { text: appendText(live.text, text.slice(seen.length)), isTorn: false }
  if (live.isOurs && seen !== null) return { text, isTorn: false }
  const isTorn = base === null || linesAdded(text, base, '') !== ''
  return { text: appendText(live.text, linesAdded(base ?? seen ?? '', text, live.text)), isTorn }
}

/** Lines that are in `after` and neither in `before` nor in `known`, as text. */
function linesAdded(before: string, after: string, known: string): string {
  const present = new Set(splitLines(known))
  return diffArrays([...splitLines(before)], [...splitLines(after)])
    .flatMap((part) => (part.added ? part.value : []))
    .filter((line) => line.trim() !== '' && !present.has(line))
    .map((line) => `${line}\n`)
    .join('')
}

const appendText = (text: string, more: string): string =>
  text === '' || more === '' || /[\r\n]$/u.test(text) || /^[\r\n]/u.test(more) ? `${text}${more}` : `${text}\n${more}`
