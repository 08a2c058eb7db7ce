import { join } from 'node:path'
import { diffArrays } from 'diff'
import { nameKey } from '../../beliefs/identity.ts'
import type { JournalEntry } from '../../beliefs/journal.ts'
import type { Store } from '../ports.ts'
import { type Block, parseBlocks, versionMark } from './parse/blocks.ts'
import { readLiveFile, signatureAt } from './parse/read-file.ts'
import { baseOf, loadBase } from './state/bases.ts'
import { type Held, type MirrorPaths, type MirrorState, mirrorFile } from './state/state.ts'
import { MirrorDocument } from './write/document.ts'
import { beginningOf, type MirrorFile } from './write/layout.ts'
import { appended, type Displaced, linesAdded, mergeLate } from './write/swap.ts'

/** Why a file cannot be relied on; `read` is empty unless its writer may not have finished. */
type HeldFile = Pick<Held, 'kind' | 'file' | 'reason'> & { readonly read: readonly Pick<MirrorFile, 'name' | 'live'>[] }

type Reading = {
  readonly displaced: readonly Displaced[]
  /** Whether an emptied file is meant to be empty. */
  readonly acceptsEmpty: boolean
  /** Called with a late save that could not be merged. */
  readonly onTorn: (late: Buffer) => void
}

/** Reads MEMORY.md and every topic file that changed since the last sync, and merges late saves and unseen lines in. */
export function readFiles(paths: MirrorPaths, state: MirrorState, reading: Reading): readonly MirrorFile[] | HeldFile {
  const { files } = state
  const read: (Pick<MirrorFile, 'name' | 'live' | 'isChanged'> & { readonly text: string })[] = []
  for (const name of [mirrorFile, ...Object.keys(files).filter((one) => one !== mirrorFile)]) {
    const known = files[name]
    const path = join(paths.dir, name)
    const late = reading.displaced.filter((entry) => entry.file === name && entry.late !== null)
    // Lines that are refused or wait are compared again with every change.
    const isLeft = [...state.refused, ...state.waiting].some(({ file }) => file === name)
    if (name !== mirrorFile && late.length === 0 && !isLeft && known?.signature === signatureAt(path)) continue
    const found = readLiveFile(path)
    if (found.kind === 'unreadable') return { kind: 'unreadable', file: name, reason: found.reason, read: [] }
    if (found.kind === 'missing' && name !== mirrorFile) {
      // A deleted topic file is written again: its beliefs are still in the store.
      delete files[name]
      state.watermark = 0
      continue
    }
    const live = found.kind === 'read' ? found : null
    if (live !== null && live.text.trim() === '' && (known?.items ?? 0) > 0 && !reading.acceptsEmpty)
      return { kind: 'removal', file: name, reason: 'it is empty', read: [{ name, live }] }
    const isOurs = live !== null && live.hash === known?.hash
    const isNew = live === null || (known === undefined && live.text.trim() === '')
    const given = isNew ? beginningOf(null) : live.text
    let text = known === undefined ? adopted(given) : given
    for (const entry of late) {
      const base = entry.late === null ? null : baseOf(paths, name, entry.late.toString('utf8'))
      const merged = mergeLate({ text, isOurs: isOurs && text === given }, entry, base?.render() ?? null)
      text = merged.text
      if (merged.isTorn && entry.late !== null) reading.onTorn(entry.late)
    }
    const isUnchanged = isOurs && text === given
    // The file was copied, restored or touched: with its new signature the next sync need not read it again.
    if (isUnchanged && known !== undefined) known.signature = live.signature
    if (isUnchanged && !isLeft && name !== mirrorFile) continue
    if (!isUnchanged) text = withUnseenLines(paths, name, text)
    read.push({ name, live, text, isChanged: !isUnchanged || isLeft })
  }
  const present = new Set(read.flatMap(({ text, isChanged }) => (isChanged ? new MirrorDocument(text).ids() : [])))
  return read.map(({ name, live, text, isChanged }) => {
    // A file that is missing was not edited: none of its items count as removed.
    const base = isChanged && live !== null ? baseOf(paths, name, text) : null
    const document = new MirrorDocument(base === null ? text : withoutOrphans(text, base, present))
    return { name, scope: files[name]?.scope ?? null, live, document, isChanged, base }
  })
}

/** A person's own file stays as it is, and ours begins below it. */
function adopted(text: string): string {
  if (new MirrorDocument(text).version() !== null || text.trim() === '') return text
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const gap = /[\r\n]$/u.test(text) ? eol : eol + eol
  return `${text}${gap}${versionMark(0)}${eol}`
}

/** An editor that saves an old copy has not deleted the lines that others wrote since: they are appended. */
function withUnseenLines(paths: MirrorPaths, name: string, text: string): string {
  const version = new MirrorDocument(text).version()
  const newest = loadBase(paths, name)
  const base = version === null ? null : loadBase(paths, name, version)
  if (version === null || newest === null || base === null || version >= (newest.version() ?? 0)) return text
  const linesOf = (document: MirrorDocument): string => document.ownLines({ withNewItems: true }).join('\n')
  return appended(text, linesAdded(linesOf(base), linesOf(newest), text))
}

/**
 * The text without the lines that stood below an item whose bullet was removed. They belonged to that item; otherwise
 * they would become part of the item above. `present` are the ids in all changed files.
 */
function withoutOrphans(text: string, base: MirrorDocument, present: ReadonlySet<string>): string {
  if (base.ids().every((id) => present.has(id))) return text
  const before = ownedLines(base.blocks, present)
  const after = ownedLines(parseBlocks(text), present)
  const owners = new Set(after.map(({ owner }) => owner))
  const orphans = new Set<OwnedLine>()
  let [from, to] = [0, 0]
  for (const { count, added, removed } of diffArrays(before.map(keyOf), after.map(keyOf))) {
    for (let offset = 0; offset < count && !added && !removed; offset += 1) {
      const line = before[from + offset] as OwnedLine
      if (line.key !== line.owner && line.key !== '' && !owners.has(line.owner))
        orphans.add(after[to + offset] as OwnedLine)
    }
    from += added ? 0 : count
    to += removed ? 0 : count
  }
  return after
    .filter((line) => !orphans.has(line))
    .map(({ raw }) => raw)
    .join('')
}

/** A line with the item it belongs to. The first line of an item has the item itself as its key. */
type OwnedLine = { readonly raw: string; readonly key: string; readonly owner: string | null }

const keyOf = ({ key }: OwnedLine): string => key

/** Items are known by id, or by name where a program has dropped the comment. */
const ownedLines = (blocks: readonly Block[], present: ReadonlySet<string>): readonly OwnedLine[] =>
  blocks.flatMap((block) => {
    const { id, name, content } = block.kind === 'item' ? block.item : { id: null, name: null, content: null }
    const byName = content === null ? null : `name ${nameKey(name ?? content)}`
    const owner = id !== null && present.has(id) ? `id ${id}` : byName
    const lines = block.raw.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/gu) ?? []
    return lines.map((raw, index) => ({ raw, owner, key: owner !== null && index === 0 ? owner : raw.trimEnd() }))
  })

type JournalChanges = {
  /** Number of the newest event. */
  readonly head: number
  /** Beliefs that changed; null when there are so many that comparing everything is quicker. */
  readonly ids: readonly string[] | null
  readonly forgotten: readonly string[]
}

/** Usually there are one or two events, so a short page is asked for first. */
const pageSizes = [8, 2_000]

/** The changes of the store since the event with this number. */
export async function changesSince(store: Store, user: string, number: number): Promise<JournalChanges> {
  let events: readonly JournalEntry[] = []
  let isAll = false
  for (const limit of pageSizes) {
    if (!isAll) events = (await store.events(user, { limit })).filter((event) => event.number > number)
    isAll = events.length < limit
  }
  const ids = new Set<string>()
  const forgotten: string[] = []
  for (const { number: event, kind, beliefIds, beliefCount } of events) {
    // A list of events names only the first beliefs of each.
    const all = beliefIds.length === beliefCount ? beliefIds : ((await store.event(user, event))?.beliefIds ?? [])
    for (const id of all) ids.add(id)
    if (kind === 'forget') forgotten.push(...all)
  }
  return { head: events[0]?.number ?? number, ids: isAll ? [...ids] : null, forgotten }
}
