import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Belief } from '../../../beliefs/belief.ts'
import { codeOf } from '../../../files/leftovers.ts'
import { ownPath } from '../../../files/own-files.ts'
import type { Store } from '../../ports.ts'
import { escapeId, fieldsOfBelief, isSameField, renderItem } from '../parse/item.ts'
import type { MirrorPaths, MirrorState } from '../state/state.ts'
import { currentVersion } from './plan.ts'

/** Two versions of one belief: in the store, and in the file. Null for one that was removed. */
export type Clash = { readonly stored: Belief | null; readonly said: Belief | null; readonly note: string }

const introduction = `# Changed in two places at once

MEMORY.md holds the version of the store. This file keeps the other version. Where a line below says so, it is also a proposal:
\`credence review\` lists it, and a person accepts or rejects it. This file is not read; delete it when all is decided.
`

/** Both versions side by side, for a file of their own: the live file never holds marks of a conflict. */
export function conflictText(clashes: readonly Clash[]): string {
  const parts = clashes.map(({ stored, said, note }) =>
    [
      `## ${stored?.name ?? said?.name ?? 'A line'}`.replaceAll('\n', ' '),
      '',
      note,
      ...(stored === null ? [] : ['', 'In the store:', '', ...renderItem(stored)]),
      ...(said === null ? [] : ['', 'In the file:', '', ...renderItem(said)]),
      '',
    ].join('\n'),
  )
  return [introduction, ...parts].join('\n')
}

/** Writes a conflict file, and returns its name. */
export function writeConflictFile({ dir }: MirrorPaths, at: Date, content: string | Buffer): string {
  const stamp = at.toISOString().replace(/[-:.]/gu, '')
  for (let attempt = 1; ; attempt += 1) {
    const file = `MEMORY.conflict-${stamp}${attempt === 1 ? '' : `-${attempt}`}.md`
    try {
      writeFileSync(ownPath(dir, join(dir, file)), content, { flag: 'wx', mode: 0o600, flush: true })
      return file
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
  }
}

const conflictFiles = ({ dir }: MirrorPaths): readonly string[] =>
  readdirSync(dir).filter((name) => /^MEMORY\.conflict-.*\.md$/u.test(name))

/** Removes the conflict files that hold forgotten beliefs. */
export function forgetInConflicts(paths: MirrorPaths, ids: readonly string[]): void {
  for (const path of conflictFiles(paths).map((name) => join(paths.dir, name))) {
    const text = readFileSync(path, 'utf8')
    if (ids.some((id) => text.includes(`credence:${escapeId(id)} `))) rmSync(path, { force: true })
  }
}

/** A conflict that waits for a decision. */
export type OpenConflict = {
  readonly at: string
  /** Shows both versions, in the memory directory. Only a person removes it. */
  readonly file: string
  /** The file's versions, which wait to be accepted or rejected. */
  readonly proposals: readonly string[]
}

/**
 * A conflict is open while one of its proposals waits and differs from the store or, when it has no proposal, while its
 * file is there.
 */
export async function openConflicts(
  store: Store,
  paths: MirrorPaths,
  { conflicts, user }: Pick<MirrorState, 'conflicts' | 'user'>,
): Promise<readonly OpenConflict[]> {
  if (conflicts.length === 0) return []
  const present = new Set(conflictFiles(paths))
  const ids = conflicts.flatMap(({ beliefs }) => beliefs)
  const waiting = new Set<string>()
  for (const proposal of await store.getMany(user, ids))
    if (await isUndecided(store, proposal)) waiting.add(proposal.id)
  return conflicts
    .map(({ at, file, beliefs }) => ({ at, file, beliefs, proposals: beliefs.filter((id) => waiting.has(id)) }))
    .filter(({ file, beliefs, proposals }) => (beliefs.length > 0 ? proposals.length > 0 : present.has(file)))
    .map(({ at, file, proposals }) => ({ at, file, proposals }))
}

async function isUndecided(store: Store, proposal: Belief): Promise<boolean> {
  if (proposal.proposedFor === null) return false
  const current = await currentVersion(store, proposal.user, proposal.proposedFor)
  if (current === null) return true
  const [said, stored] = [fieldsOfBelief(proposal), fieldsOfBelief(current)]
  return !(isSameField('content', said, stored) && isSameField('why', said, stored))
}
