import type { Belief } from '../../beliefs/belief.ts'
import { universalScope } from '../../beliefs/scope.ts'
import type { MirrorDocument } from './document.ts'
import { renderItem } from './item.ts'

/** MEMORY.md stays below 200 lines and 25 KB, with room for what others append. */
const mostLines = 180
const mostBytes = 22_000
/** A topic file is begun anew beyond this, so that one more belief costs the same however many there are. */
const mostItemsPerFile = 200
const mostBytesPerFile = 200_000
/** A scope with more than this never stands in MEMORY.md itself. */
export const mostInMirrorFile = 150

export const fitsInMirrorFile = (text: string): boolean =>
  text.split(/\r\n|\n|\r/u).length <= mostLines && Buffer.byteLength(text) <= mostBytes

/** How many of these beliefs a topic file takes: at least one, so that a long one finds a place too. */
export function roomIn(document: MirrorDocument, beliefs: readonly Belief[]): number {
  const items = document.items().length
  let bytes = document.render().length
  let room = 0
  for (const belief of beliefs) {
    bytes += renderItem(belief).join('\n').length
    if (items + room >= mostItemsPerFile || (bytes > mostBytesPerFile && items + room > 0)) break
    room += 1
  }
  return room
}

/** How soon a scope has to leave MEMORY.md. What holds everywhere is the last to go. */
export const weightOf = (scope: string, size: number): number => (scope === universalScope ? size / 2 : size)
