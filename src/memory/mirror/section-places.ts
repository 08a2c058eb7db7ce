import { type BeliefType, beliefTypes } from '../../beliefs/belief.ts'
import { universalScope } from '../../beliefs/scope.ts'
import type { Segment } from './segments.ts'

/** Where in a section the heading of a type belongs. May split a text, so that its parts can be told apart. */
export function placeOfType(segments: Segment[], section: number, type: BeliefType): number {
  const end = endOfSection(segments, section)
  const later = segments.findIndex(
    (segment, index) =>
      index > section && index < end && segment.kind === 'type' && rankOfType(segment.type) > rankOfType(type),
  )
  return later >= 0 ? later : end
}

/** Where the section of a scope belongs. May split a text, so that its parts can be told apart. */
export function placeOfScope(segments: Segment[], scope: string): number {
  const later = segments.findIndex((segment) => segment.kind === 'scope' && compareScopes(segment.scope, scope) > 0)
  if (later >= 0) return later
  const last = segments.findLastIndex(({ kind }) => kind === 'scope')
  if (last >= 0) return endOfSection(segments, last)
  const mark = segments.findIndex(({ kind }) => kind === 'mark')
  if (mark >= 0) return mark + 1
  const closing = segments.findIndex(({ kind }) => kind === 'topics' || kind === 'new')
  return closing >= 0 ? closing : segments.length
}

const ownHeading = /^ {0,3}#{1,2}[ \t]/mu

/** Up to the next heading of ours, or the first of somebody's own that closes the section. */
function endOfSection(segments: Segment[], section: number): number {
  for (let index = section + 1; index < segments.length; index += 1) {
    const segment = segments[index] as Segment
    if (['scope', 'topics', 'new', 'mark'].includes(segment.kind)) return index
    if (segment.kind === 'text' && ownHeading.test(segment.raw)) return splitAtHeading(segments, index)
  }
  return segments.length
}

/** What stands before the heading belongs to the section, what follows does not. */
function splitAtHeading(segments: Segment[], index: number): number {
  const { raw } = segments[index] as Segment
  const at = ownHeading.exec(raw)?.index ?? 0
  if (at === 0) return index
  segments.splice(index, 1, { kind: 'text', raw: raw.slice(0, at) }, { kind: 'text', raw: raw.slice(at) })
  return index + 1
}

/** Takes away the last heading before a place if nothing stands below it. Returns where that place is now. */
export function dropEmptyHeading(segments: Segment[], kind: 'type' | 'scope' | 'topics', before: number): number {
  const at = segments.findLastIndex((segment, index) => index < before && segment.kind === kind)
  if (at < 0) return before
  const isEnd = (segment: Segment): boolean =>
    kind === 'type' ? ['type', 'scope', 'topics', 'new', 'mark'].includes(segment.kind) : segment.kind !== 'text'
  const next = segments.findIndex((segment, index) => index > at && isEnd(segment))
  const end = next < 0 ? segments.length : next
  const below = segments.slice(at + 1, end)
  const follower = segments[end]
  if (kind === 'scope' && follower !== undefined && (follower.kind === 'type' || follower.kind === 'item'))
    return before
  if (below.some((segment) => segment.kind !== 'text' || segment.raw.trim() !== '')) return before
  segments.splice(at, end - at)
  return at
}

const rankOfType = (type: BeliefType): number => beliefTypes.indexOf(type)

/** What holds everywhere comes first. */
export function compareScopes(one: string, other: string): number {
  if (one === other) return 0
  if (one === universalScope) return -1
  if (other === universalScope) return 1
  return one < other ? -1 : 1
}
