import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Belief } from '../../beliefs/belief.ts'
import { codeOf } from '../../files/leftovers.ts'
import { escapeId } from './escapes.ts'
import { renderItem } from './item.ts'
import { type MirrorPlaces, stamp } from './places.ts'

/** Two versions of one belief: what the store says, and what stood in the file. Null for one that is gone. */
export type Torn = { readonly stored: Belief | null; readonly said: Belief | null; readonly note: string }

const introduction = `# Changed in two places at once

The version of the store stands in MEMORY.md. The other one is kept here and, where it says so, waits as a proposal:
\`credence proposals\` lists it, and a person accepts or rejects it. This file is not read; delete it when all is decided.
`

/** Writes both versions side by side, in a file of their own: the live file never holds marks of a conflict. */
export async function writeConflictFile({ dir }: MirrorPlaces, at: Date, torn: readonly Torn[]): Promise<string> {
  const parts = torn.map(({ stored, said, note }) =>
    [
      `## ${stored?.name ?? said?.name ?? 'A line'}`.replaceAll('\n', ' '),
      '',
      note,
      ...(stored === null ? [] : ['', 'In the store:', '', ...renderItem(stored)]),
      ...(said === null ? [] : ['', 'In the file:', '', ...renderItem(said)]),
      '',
    ].join('\n'),
  )
  return writeNew(dir, at, Buffer.from([introduction, ...parts].join('\n')))
}

/** Keeps a whole save that could not be put in. */
export const keepWholeSave = ({ dir }: MirrorPlaces, at: Date, bytes: Buffer): Promise<string> =>
  writeNew(dir, at, bytes)

async function writeNew(dir: string, at: Date, bytes: Buffer): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const name = `MEMORY.conflict-${stamp(at)}${attempt === 1 ? '' : `-${attempt}`}.md`
    try {
      await writeFile(join(dir, name), bytes, { flag: 'wx', mode: 0o600, flush: true })
      return name
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
  }
}

export const conflictFiles = async ({ dir }: MirrorPlaces): Promise<readonly string[]> =>
  (await readdir(dir)).filter((name) => /^MEMORY\.conflict-.*\.md$/u.test(name)).sort()

/** What is forgotten goes from here too. */
export async function removeForgotten(places: MirrorPlaces, ids: readonly string[]): Promise<void> {
  for (const name of await conflictFiles(places)) {
    const text = await readFile(join(places.dir, name), 'utf8')
    if (ids.some((id) => text.includes(`credence:${escapeId(id)} `))) await rm(join(places.dir, name), { force: true })
  }
}
