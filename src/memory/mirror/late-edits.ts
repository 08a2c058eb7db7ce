import { MirrorDocument } from './document.ts'
import { bytesHash, decode } from './live-file.ts'
import type { MirrorPlaces } from './places.ts'
import type { Imprint } from './state.ts'
import {
  type Displaced,
  displacedBytes,
  displacedFiles,
  lineHash,
  removeDisplaced,
  restoreMissing,
  seenOf,
  settleMs,
  skeletonOf,
  updateDisplaced,
} from './swap.ts'

/** Something that was written to a file after it had been displaced, or saved right before. */
export type LateEdit = {
  readonly entry: Displaced
  /** What the displaced file holds now. */
  readonly bytes: Buffer
  readonly kind: 'appended' | 'saved' | 'unreadable'
}

/** A displaced file with what happened to it since; `isOld` when nobody can be writing to it any more. */
export type LateEntry = { readonly entry: Displaced; readonly edit: LateEdit | null; readonly isOld: boolean }

/** Looks at every displaced file. One whose replacement never came, because we died in between, comes back. */
export function lateEntries(
  places: MirrorPlaces,
  { key, now, hasWaited }: { readonly key: string; readonly now: Date; readonly hasWaited: boolean },
): readonly LateEntry[] {
  return displacedFiles(places).map((entry) => {
    if (!entry.isDone) restoreMissing(places, entry)
    const isOld = hasWaited || now.getTime() - entry.at >= settleMs
    return { edit: lateEdit(places, key, entry), entry, isOld }
  })
}

/** Lets go of what nobody writes to any more, and notes what has been taken into account of the rest. */
export async function settleLate(places: MirrorPlaces, key: string, entries: readonly LateEntry[]): Promise<void> {
  for (const { entry, edit, isOld } of entries) {
    if (isOld && edit === null) removeDisplaced(places, entry)
    else if (edit !== null) await updateDisplaced(places, { ...entry, seen: seenOf(key, edit.bytes) })
  }
}

/** What has happened to a displaced file since it was last looked at; null when nothing has. */
function lateEdit(places: MirrorPlaces, key: string, entry: Displaced): LateEdit | null {
  const bytes = displacedBytes(places, entry)
  // A file that has been emptied is about to be written; nobody meant nothing.
  if (bytes === null || bytes.length === 0 || bytesHash(key, bytes) === entry.seen.hash) return null
  const isLonger = bytes.length > entry.seen.bytes
  const isAppended = isLonger && bytesHash(key, bytes.subarray(0, entry.seen.bytes)) === entry.seen.hash
  if (decode(bytes) === null) return { entry, bytes, kind: 'unreadable' }
  return { entry, bytes, kind: isAppended ? 'appended' : 'saved' }
}

/**
 * The text of a file with a late edit put into it. What was appended is appended; a whole save takes the place of what
 * is there when that is our own writing of the same text; otherwise its new lines are added at the end, and `isTorn`
 * says that the save is to be kept as a whole too.
 */
export function withLateEdit(
  key: string,
  text: string,
  { entry, bytes, kind }: LateEdit,
): { readonly text: string; readonly isTorn: boolean } {
  if (kind === 'unreadable') return { text, isTorn: true }
  const late = decode(bytes) ?? ''
  if (kind === 'appended') {
    const added = decode(bytes.subarray(entry.seen.bytes))
    return added === null ? { text, isTorn: true } : { text: joined(text, added), isTorn: false }
  }
  if (skeletonOf(key, text) === entry.seen.skeleton) return { text: late, isTorn: false }
  const known = new Set(entry.seen.lines)
  const present = new Set(text.split(/\r\n|\n|\r/u))
  const added = late
    .split(/\r\n|\n|\r/u)
    .filter((line) => line.trim() !== '' && !present.has(line) && !known.has(lineHash(key, line)))
  return { text: added.length === 0 ? text : joined(text, `${added.join('\n')}\n`), isTorn: true }
}

/**
 * The text of a file with the lines that its writer never saw: an editor that saves an old copy has not deleted what
 * others wrote since. `latest` are the lines that are not ours, as they last were.
 */
export function withUnseenLines(
  key: string,
  text: string,
  latest: readonly string[],
  imprints: readonly Imprint[],
): string {
  const generation = new MirrorDocument(text).generation()
  const [newest] = imprints
  if (generation === null || newest === undefined || generation >= newest.generation) return text
  const base = imprints.find((imprint) => imprint.generation === generation)
  if (base === undefined) return text
  const seen = new Set(base.lines)
  const present = new Set(text.split(/\r\n|\n|\r/u))
  const unseen = latest.filter((line) => !present.has(line) && !seen.has(lineHash(key, line)))
  return unseen.length === 0 ? text : joined(text, `${unseen.join('\n')}\n`)
}

const joined = (text: string, added: string): string =>
  text === '' || /[\r\n]$/u.test(text) || /^[\r\n]/u.test(added) ? `${text}${added}` : `${text}\n${added}`
