import { join } from 'node:path'
import type { TopicLink } from './document.ts'
import { readLive } from './live-file.ts'
import type { MirrorFiles } from './mirror-files.ts'
import { topicFile, topicsFile } from './places.ts'
import { compareScopes } from './section-places.ts'
import type { MirrorState } from './state.ts'

/** Links to other files beyond these stand in a file of their own. */
const mostLinks = 40

const topicsBeginning = '# Scopes\n\nThe scopes that have files of their own.\n'

/** Says in MEMORY.md what stands elsewhere, and how much. */
export function setLinks(files: MirrorFiles): void {
  const { state } = files
  const counts = new Map<string, number>()
  for (const [name, { scope, items }] of Object.entries(state.files)) {
    if (scope === null) continue
    const count = files.get(name)?.document.items().length ?? items
    counts.set(scope, (counts.get(scope) ?? 0) + count)
  }
  const scopes = Object.keys(state.topics).sort(compareScopes)
  const links = scopes.map((scope) => ({ scope, text: linkTo(state, scope, counts.get(scope) ?? 0) }))
  const isLong = links.length > mostLinks
  const more = {
    scope: 'topics',
    text: `[all scopes](${topicsFile}): ${links.length} of them have files of their own`,
  }
  files.mirror().document.setTopics(isLong ? [...links.slice(0, mostLinks - 1), more] : links)
  if (isLong) setTopicsFile(files, links)
}

function setTopicsFile(files: MirrorFiles, links: readonly TopicLink[]): void {
  if (readLive(join(files.places.dir, topicsFile)).kind === 'unreadable') return
  const file = files.openTopic(topicsFile) ?? files.add(topicsFile, null, topicsBeginning)
  file.document.setTopics(links)
}

function linkTo({ topics, files }: MirrorState, scope: string, count: number): string {
  const { slug, parts } = topics[scope] as { readonly slug: string; readonly parts: number }
  // Somebody may have deleted one; what it held stands in another now.
  const there = Array.from({ length: parts }, (_, index) => index + 1).filter(
    (part) => files[topicFile(slug, part)] !== undefined,
  )
  const [first, last] = [there[0] ?? 1, there.at(-1) ?? 1]
  const beliefs = count === 1 ? '1 belief' : `${count} beliefs`
  const spread = first === last ? '' : ` in ${there.length} files, up to [part ${last}](${topicFile(slug, last)})`
  return `[${scope}](${topicFile(slug, first)}): ${beliefs}${spread}`
}
