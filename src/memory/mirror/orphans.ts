import type { Belief } from '../../beliefs/belief.ts'
import type { Store } from '../ports.ts'
import { type ItemSegment, MirrorDocument } from './document.ts'
import { renderItem } from './item.ts'
import { parseSegments, renderSegments, type Segment } from './segments.ts'
import type { Imprint } from './state.ts'
import { lineHash } from './swap.ts'
import { matchNameless } from './weigh.ts'

type Scales = { readonly store: Store; readonly user: string; readonly key: string }

/**
 * A file without the lines that stood below a bullet which somebody took out alone. They were written for that item and
 * go with it; otherwise the item above would have them. Whatever else stands there stays.
 */
export async function withoutOrphans(
  { store, user, key }: Scales,
  text: string,
  base: Imprint | null,
  isPresent: (id: string) => boolean,
): Promise<string> {
  if (base === null) return text
  const gone = await store.getMany(
    user,
    [...base.items.keys()].filter((id) => !isPresent(id)),
  )
  if (gone.length === 0) return text
  const nameless = matchNameless(new MirrorDocument(text), gone)
  const found = new Set([...nameless.values()].map(({ id }) => id))
  const orphans = new LineCount(gone.filter(({ id }) => !found.has(id)).flatMap(detailsOf))
  if (orphans.isEmpty) return text
  const segments = parseSegments(text)
  const ids = segments.flatMap((segment) => (segment.kind === 'item' ? (segment.item.id ?? []) : []))
  const standing = new Map((await store.getMany(user, ids)).map((belief) => [belief.id, belief]))
  const known = new Set(base.lines)
  const isOwn = (line: string): boolean => known.has(lineHash(key, line))
  return renderSegments(
    segments.map((segment) => {
      if (segment.kind === 'text') return { ...segment, raw: withoutStray(segment.raw, orphans, isOwn) }
      if (segment.kind !== 'item') return segment
      const belief = standing.get(segment.item.id ?? '') ?? namelessIn(nameless, segment)
      return { ...segment, raw: withoutTail(segment.raw, orphans, new LineCount(belief ? detailsOf(belief) : [])) }
    }),
  )
}

/** Read anew, a segment is another value with the same text. */
const namelessIn = (nameless: ReadonlyMap<ItemSegment, Belief>, { raw }: Segment): Belief | null =>
  [...nameless].find(([segment]) => segment.raw === raw)?.[1] ?? null

const detailsOf = (belief: Belief): readonly string[] =>
  renderItem(belief)
    .slice(1)
    .filter((line) => line.trim() !== '')

const linesIn = (raw: string): readonly string[] => raw.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/gu) ?? []

/** The lines of an item without those at its end that another one left there. */
function withoutTail(raw: string, orphans: LineCount, own: LineCount): string {
  const lines = [...linesIn(raw)]
  const present = new LineCount(lines)
  let end = lines.length
  for (; end > 1; end -= 1) {
    const line = lines[end - 1] as string
    if (line.trim() === '') continue
    if (present.of(line) <= own.of(line) || !orphans.take(line)) break
    present.take(line)
  }
  const tail = lines.slice(end)
  return tail.some((line) => line.trim() !== '') ? lines.slice(0, end).join('') : raw
}

const withoutStray = (raw: string, orphans: LineCount, isOwn: (line: string) => boolean): string =>
  linesIn(raw)
    .filter((line) => isOwn(line.replace(/[\r\n]+$/u, '')) || !orphans.take(line))
    .join('')

/** How often each line occurs, whatever its end. */
class LineCount {
  readonly #counts = new Map<string, number>()

  constructor(lines: readonly string[]) {
    for (const line of lines) this.#counts.set(line.trimEnd(), this.of(line) + 1)
  }

  get isEmpty(): boolean {
    return this.#counts.size === 0
  }

  of(line: string): number {
    return this.#counts.get(line.trimEnd()) ?? 0
  }

  /** Whether there was one left. */
  take(line: string): boolean {
    const left = this.of(line)
    if (left > 0) this.#counts.set(line.trimEnd(), left - 1)
    return left > 0
  }
}
