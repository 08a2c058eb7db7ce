import { diffArrays } from 'diff'
import { splitLines, versionMark } from './parse/blocks.ts'
import { decode, type LiveFile, readLiveFile } from './parse/read-file.ts'
import { baseOf, loadBase } from './state/copies.ts'
import { type HeldMirror, type MirrorPaths, type MirrorState, mirrorFile } from './state/state.ts'
import { MirrorDocument } from './write/document.ts'
import { beginning } from './write/shown.ts'

/** MEMORY.md, open for changes. */
export type OpenFile = {
  /** The file on disk; null if it does not exist. */
  readonly live: LiveFile | null
  readonly document: MirrorDocument
  /** Whether its lines must be compared with the store: another program changed it, or edits in it were refused. */
  readonly isChanged: boolean
  /** For a changed file, the version it was made from; null if that is unknown. */
  readonly base: MirrorDocument | null
}

/** Why a sync must not use a file. */
export type HeldFile = Pick<HeldMirror, 'kind' | 'file' | 'reason'> & { readonly live: LiveFile | null }

/** The bytes that a program saved to the old file after Credence had replaced it. `seen`: the text that is already merged; null if unknown. */
export type LateSave = { readonly seen: string | null; readonly bytes: Buffer }

type Reading = {
  readonly late: readonly LateSave[]
  /** Whether an empty file was emptied on purpose. */
  readonly acceptsEmpty: boolean
  /** Called with a late save that could not be merged. */
  readonly onTorn: (late: Buffer) => void
}

/** Reads MEMORY.md, and merges into the result what other programs saved late, and newer lines that the file lacks. */
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
  // The file was copied, restored or touched, which changes only its signature. With it, the next sync need not read the file.
  if (isUnchanged && known !== undefined) known.signature = live.signature
  if (!isUnchanged) text = withUnseenLines(paths, text)
  // Refused lines must be compared again in every sync.
  const isChanged = !isUnchanged || state.refused.length > 0
  // A missing file was not edited, so none of its items count as removed.
  const base = isChanged && live !== null ? baseOf(paths, text) : null
  return { live, document: new MirrorDocument(text), isChanged, base }
}

/** Adds the version mark below a person's own text, and leaves that text as it is. */
function adoptText(text: string): string {
  if (new MirrorDocument(text).version() !== null || text.trim() === '') return text
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const gap = /[\r\n]$/u.test(text) ? eol : eol + eol
  return `${text}${gap}${versionMark(0)}${eol}`
}

/** Appends lines that are newer than the version of this text: an editor that saved an old copy did not delete them. */
function withUnseenLines(paths: MirrorPaths, text: string): string {
  const version = new MirrorDocument(text).version()
  const newest = loadBase(paths)
  const base = version === null ? null : loadBase(paths, version)
  if (version === null || newest === null || base === null || version >= (newest.version() ?? 0)) return text
  const linesOf = (document: MirrorDocument): string => document.ownLines({ withNewItems: true }).join('\n')
  return appendText(text, findAddedLines(linesOf(base), linesOf(newest), text))
}

/**
 * The text of the file with a late save merged in. If the save only appended text, that text is appended. If only Credence has
 * written the file since, the save replaces the text. Otherwise, the lines that the save adds to `base` are appended; `base` is
 * the version that it was made from. `isTorn` asks the caller to keep the whole save too, because the save is not UTF-8, also
 * removes or changes lines, or was made from an unknown version.
 */
function mergeLate(
  live: { readonly text: string; readonly isOurs: boolean },
  { seen, bytes }: LateSave,
  base: string | null,
): { readonly text: string; readonly isTorn: boolean } {
  const text = decode(bytes)
  if (text === null) return { text: live.text, isTorn: true }
  // If `seen` is empty, another program created the file while ours was not in place. It either appended lines or saved a whole
  // file, which contains a version.
  const isWhole = seen === '' && new MirrorDocument(text).version() !== null
  if (seen !== null && text.startsWith(seen) && !isWhole)
    return { text: appendText(live.text, text.slice(seen.length)), isTorn: false }
  if (live.isOurs && seen !== null) return { text, isTorn: false }
  const isTorn = base === null || findAddedLines(text, base, '') !== ''
  return { text: appendText(live.text, findAddedLines(base ?? seen ?? '', text, live.text)), isTorn }
}

/** The lines in `after` that are neither in `before` nor in `known`, as text. */
function findAddedLines(before: string, after: string, known: string): string {
  const present = new Set(splitLines(known))
  return diffArrays([...splitLines(before)], [...splitLines(after)])
    .flatMap((part) => (part.added ? part.value : []))
    .filter((line) => line.trim() !== '' && !present.has(line))
    .map((line) => `${line}\n`)
    .join('')
}

const appendText = (text: string, more: string): string =>
  text === '' || more === '' || /[\r\n]$/u.test(text) || /^[\r\n]/u.test(more) ? `${text}${more}` : `${text}\n${more}`
