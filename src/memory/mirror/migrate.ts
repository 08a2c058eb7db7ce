import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { checkOwn, ownPath } from '../../files/own-files.ts'
import { parseJson } from '../../json.ts'
import { isMassRemoval } from './merge/plan.ts'
import { type Block, parseBlocks } from './parse/blocks.ts'
import { withoutOrphans } from './parse/orphans.ts'
import { decode, type LiveFile, readLiveFile } from './parse/read-file.ts'
import type { HeldFile } from './read.ts'
import { versionsIn } from './state/bases.ts'
import { type MirrorPaths, mirrorFile, namesIn, readIfPresent, writeRecord } from './state/state.ts'
import { MirrorDocument } from './write/document.ts'
import { linesAdded } from './write/late-saves.ts'

/**
 * A file that version 0.2 wrote for a scope that did not fit into MEMORY.md. The first sync reads it one last time, as a
 * part of MEMORY.md, and then removes it.
 */
export type TopicFile = {
  readonly name: string
  readonly live: LiveFile
  readonly text: string
  readonly base: string
}

/** The topic files: those that have bases, so no file of a person is among them. A deleted one is not written again. */
export function readTopics({ dir, bases }: MirrorPaths, acceptsRemoval: boolean): readonly TopicFile[] | HeldFile {
  const topics: TopicFile[] = []
  for (const name of namesIn(bases).filter((one) => one !== mirrorFile)) {
    const live = readLiveFile(join(dir, name))
    if (live.kind === 'missing') continue
    if (live.kind === 'unreadable') return { kind: 'unreadable', file: name, reason: live.reason, live: null }
    const document = new MirrorDocument(live.text)
    const version = document.version() ?? versionsIn(join(bases, name))[0]
    const base = live.text.trim() === '' ? '' : (readIfPresent(join(bases, name, `${version}.md`)) ?? '')
    const baseDocument = new MirrorDocument(base)
    const known = baseDocument.ids()
    const present = new Set(document.ids())
    const gone = known.filter((id) => !present.has(id)).length
    if (isMassRemoval(gone, known.length) && !acceptsRemoval)
      return { kind: 'removal', file: name, reason: `${gone} of ${known.length} items are gone from it`, live: null }
    topics.push({ name, live, text: withoutOrphans(live.text, baseDocument), base })
  }
  return topics
}

/** The text of MEMORY.md with the items of topic files before its last sections. */
export function withTopics(text: string, topics: readonly string[]): string {
  const blocks = parseBlocks(text)
  const end = blocks.findIndex(({ kind }) => kind === 'more' || kind === 'new')
  const at = end < 0 || topics.length === 0 ? blocks.length : end
  const rawOf = (part: readonly Block[]): string => part.map(({ raw }) => raw).join('')
  let section = ''
  let items = ''
  for (const block of topics.flatMap(parseBlocks)) {
    if (block.kind === 'item') items += `${block.raw.trimEnd()}\n`
    if (block.kind !== 'scope' && block.kind !== 'type') continue
    const name = block.kind === 'type' ? `${block.scope} ${block.type}` : block.scope
    if (section === name || section.startsWith(`${name} `)) continue
    section = name
    items += `${items.endsWith('\n\n') ? '' : '\n'}${block.raw.trim()}\n\n`
  }
  return `${rawOf(blocks.slice(0, at))}${items}${items === '' ? '' : '\n'}${rawOf(blocks.slice(at))}`
}

/** Removes topic files, but for a person's own text in them. False when another program has changed one meanwhile. */
export function removeTopics(paths: MirrorPaths, topics: readonly TopicFile[]): boolean {
  let isDone = true
  for (const { name, live, text } of topics) {
    const path = join(paths.dir, name)
    const now = readLiveFile(path)
    if (now.kind === 'read' && now.hash === live.hash) {
      const blocks = parseBlocks(text).flatMap(({ kind, raw }) => (kind === 'text' ? [raw] : []))
      const own = blocks.join('').replace(topicBeginning, '')
      if (own.trim() === '') rmSync(path)
      else writeRecord(paths, path, own, live.mode)
    } else isDone = false
  }
  if (!isDone) return false
  for (const name of namesIn(paths.bases))
    if (name !== mirrorFile) rmSync(join(paths.bases, name), { recursive: true, force: true })
  rmSync(join(paths.state, 'where'), { recursive: true, force: true })
  return true
}

const topicBeginning =
  /^\ufeff?# .*\r?\n\r?\nA part of \[MEMORY\.md\]\(MEMORY\.md\); lines here count like lines there\.\r?\n/u

/**
 * Removes the files that version 0.2 had replaced. If it died while it replaced MEMORY.md, the previous one comes back;
 * a file with lines that nobody has read is given to `onTorn`.
 */
export function removeDisplaced(paths: MirrorPaths, onTorn: (late: Buffer) => void): void {
  const displaced = join(paths.state, 'displaced')
  for (const folder of [displaced, join(paths.state, 'where'), paths.bases]) checkOwn(paths.dir, folder)
  if (!existsSync(displaced)) return
  const live = readLiveFile(paths.file)
  const shown = live.kind === 'read' ? live.text : ''
  for (const name of namesIn(displaced).filter((one) => /^\d+-[0-9a-f]{8}-.*\.md$/u.test(one))) {
    const path = ownPath(paths.dir, join(displaced, name))
    const record = readIfPresent(`${path}.pending.json`) ?? readIfPresent(`${path}.done.json`) ?? ''
    const { seen } = (parseJson(record) ?? {}) as { readonly seen?: unknown }
    const bytes = readFileSync(path)
    const text = decode(bytes)
    if (name.endsWith(`-${mirrorFile}`) && !existsSync(paths.file)) renameSync(path, paths.file)
    else if (text === null || linesAdded(typeof seen === 'string' ? seen : '', text, shown) !== '') onTorn(bytes)
  }
  rmSync(displaced, { recursive: true, force: true })
}
