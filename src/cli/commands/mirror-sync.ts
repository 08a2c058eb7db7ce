import { existsSync } from 'node:fs'
import { MemoryError } from '../../errors.ts'
import type { OpenConflict } from '../../memory/mirror/open-conflicts.ts'
import { type Synced, syncMirror } from '../../memory/mirror/sync.ts'
import { defineCommand, flag } from '../command.ts'
import { placeOptions } from '../common-options.ts'
import { exitCodes } from '../exit-codes.ts'
import { harmless, type Style } from '../output.ts'

export const mirrorSync = defineCommand({
  args: {},
  options: {
    accept: flag('Take in a removal of many items that is held.'),
    ...placeOptions,
  },
  description:
    'What changed in the file is taken in, what changed in the store is written. A file that cannot be read, is a link, or has lost many items at once is held: nothing is changed.',
  exitCodes: [exitCodes.degraded],
  examples: [
    { command: 'credence mirror sync', effect: 'Takes in what you edited and writes what is new.' },
    { command: 'credence mirror sync --accept', effect: 'Says that you meant to take out all those lines.' },
  ],
  async run({ options }, session) {
    const { dir, user } = session.place(options)
    if (!existsSync(await session.storeFile(dir))) throw noMemory(dir)
    const workshop = await session.workshop(dir)
    try {
      const synced = await syncMirror(workshop, { dir, user, accept: options.accept, settle: true, waitMs: 10_000 })
      return {
        document: synced,
        text: (style) => syncedText(synced, style),
        exitCode: synced.outcome === 'held' || synced.conflicts.length > 0 ? exitCodes.degraded : exitCodes.fine,
      }
    } finally {
      await workshop.store.close()
    }
  },
})

export const noMemory = (dir: string): MemoryError =>
  new MemoryError('not_found', `There is no memory in ${dir}.`, { hint: '`credence init` makes one.' })

/** What a sync did, in a line and what needs saying beside it. */
export function syncedText(synced: Synced, style: Style): string {
  const { held, file, written, taken, refused, conflicts } = synced
  if (held !== null) {
    return [
      `${style.red('Held')}: ${harmless(held.reason)} (${harmless(held.file)}). Nothing was changed.`,
      held.kind === 'removal'
        ? '  Put the lines back, or say that you meant it: credence mirror sync --accept'
        : `  Put it right, or delete it to have it written anew.`,
    ].join('\n')
  }
  const counts = Object.entries(taken).filter(([, count]) => count > 0)
  const took =
    counts.length === 0
      ? 'nothing to take in'
      : `took in ${counts.map(([what, count]) => `${count} ${what}`).join(', ')}`
  const wrote = written.length === 0 ? 'nothing to write' : `wrote ${written.join(', ')}`
  return [
    `${conflicts.length === 0 ? style.green('In step') : style.yellow('A conflict waits for a decision')}: ${took}; ${wrote}.`,
    `  ${file}`,
    ...refused.map(
      ({ file: name, line, reason }) =>
        `  ${style.yellow('Left as it is')}: ${harmless(name)}, line ${line}: ${harmless(reason)}`,
    ),
    ...conflicts.flatMap((conflict) => conflictLines(conflict, style).map((line) => `  ${line}`)),
  ].join('\n')
}

/** What was changed in both places, where both versions are, and how to decide. */
export function conflictLines({ file, proposals }: OpenConflict, style: Style): readonly string[] {
  const [first] = proposals
  if (first === undefined)
    return [
      `${style.yellow('Conflict')}: something was changed in both places at once. ${file} has what is not in the store.`,
      `  Put back from it what you want. This is said until you delete ${file}.`,
    ]
  return [
    `${style.yellow('Conflict')}: changed in the file and in the store. The store's version holds; ${file} shows both.`,
    ...proposals.map(
      (id) =>
        `  Take the file's version: credence proposals accept ${id}; keep the store's: credence proposals reject ${id}`,
    ),
    `  Deciding settles it. ${file} is kept even then; delete it when you like.`,
  ]
}
