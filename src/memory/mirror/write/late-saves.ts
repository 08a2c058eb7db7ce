import { diffArrays } from 'diff'
import { splitLines } from '../parse/blocks.ts'
import { decode } from '../parse/read-file.ts'
import { MirrorDocument } from './document.ts'

/** The bytes of a replaced file that differ from `seen`, the text that has been merged; null if that is unknown. */
export type LateSave = { readonly seen: string | null; readonly bytes: Buffer }

/**
 * The text of the file with a late change merged in. Appended text is appended. A whole save of a file that only we have
 * written since is an old copy that was saved: it takes the place of our text. Otherwise the lines are appended that it
 * adds to `base`, the version it was made from. If it removes or changes lines as well, or its version is not known,
 * `isTorn` asks the caller to keep the save as a whole too. If it is unknown which part is merged already, none is merged.
 */
export function mergeLate(
  live: { readonly text: string; readonly isOurs: boolean },
  { seen, bytes }: LateSave,
  base: string | null,
): { readonly text: string; readonly isTorn: boolean } {
  const text = decode(bytes)
  if (text === null) return { text: live.text, isTorn: true }
  // A file that was created while ours was not in place has either appended lines only, or a whole save.
  const isWhole = seen === '' && new MirrorDocument(text).version() !== null
  if (seen !== null && text.startsWith(seen) && !isWhole)
    return { text: appended(live.text, text.slice(seen.length)), isTorn: false }
  if (live.isOurs && seen !== null) return { text, isTorn: false }
  const isTorn = base === null || linesAdded(text, base, '') !== ''
  return { text: appended(live.text, linesAdded(base ?? seen ?? '', text, live.text)), isTorn }
}

/** Lines that are in `after` and neither in `before` nor in `known`, as text. */
export function linesAdded(before: string, after: string, known: string): string {
  const present = new Set(splitLines(known))
  return diffArrays([...splitLines(before)], [...splitLines(after)])
    .flatMap((part) => (part.added ? part.value : []))
    .filter((line) => line.trim() !== '' && !present.has(line))
    .map((line) => `${line}\n`)
    .join('')
}

export const appended = (text: string, more: string): string =>
  text === '' || more === '' || /[\r\n]$/u.test(text) || /^[\r\n]/u.test(more) ? `${text}${more}` : `${text}\n${more}`
