import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../../files/leftovers.ts'
import { ownPath } from '../../../files/own-files.ts'
import { escapeId } from '../parse/item.ts'
import type { MirrorPaths } from '../state/state.ts'

/** Keeps a save of another program that cannot be merged, in a file of its own next to MEMORY.md. */
export function writeConflictFile({ dir }: MirrorPaths, at: Date, content: Buffer): void {
  const stamp = at.toISOString().replace(/[-:.]/gu, '')
  for (let attempt = 1; ; attempt += 1) {
    const file = `MEMORY.conflict-${stamp}${attempt === 1 ? '' : `-${attempt}`}.md`
    try {
      writeFileSync(ownPath(dir, join(dir, file)), content, { flag: 'wx', mode: 0o600, flush: true })
      return
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
  }
}

/** The names of the conflict files. Only a person removes them. */
export const conflictFiles = ({ dir }: MirrorPaths): readonly string[] =>
  readdirSync(dir).filter((name) => /^MEMORY\.conflict-.*\.md$/u.test(name))

/** Removes the conflict files that contain forgotten beliefs. */
export function forgetInConflicts(paths: MirrorPaths, ids: readonly string[]): void {
  for (const path of conflictFiles(paths).map((name) => join(paths.dir, name))) {
    const text = readFileSync(path, 'utf8')
    if (ids.some((id) => text.includes(`credence:${escapeId(id)} `))) rmSync(path, { force: true })
  }
}
