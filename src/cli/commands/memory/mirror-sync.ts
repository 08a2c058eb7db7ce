import { existsSync } from 'node:fs'
import { MemoryError } from '../../../errors.ts'
import type { OpenConflict } from '../../../memory/mirror/merge/conflicts.ts'
import type { Held } from '../../../memory/mirror/state/state.ts'
import { type Synced, syncMirror } from '../../../memory/mirror/sync.ts'
import { defineCommand, flag } from '../../command.ts'
import { placeOptions } from '../../common-options.ts'
import { exitCodes } from '../../exit-codes.ts'
import { harmless, type Style } from '../../output.ts'
import { counted, wrap } from '../../text-layout.ts'

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
    const ports = await session.ports(dir)
    try {
      const synced = await syncMirror(ports, { dir, user, accept: options.accept, settle: true, waitMs: 10_000 })
      return {
        document: synced,
        text: (style) => syncedText(synced, style),
        exitCode: synced.outcome === 'held' || synced.conflicts.length > 0 ? exitCodes.degraded : exitCodes.fine,
      }
    } finally {
      await ports.store.close()
    }
  },
})

export const noMemory = (dir: string): MemoryError =>
  new MemoryError('not_found', `There is no memory in ${dir}.`, { hint: '`credence init` makes one.' })

/** What a sync did, in a line and what needs saying beside it. */
export function syncedText(synced: Synced, style: Style): string {
  const details = syncedDetails(synced, { ...style, width: style.width - 2 }).map((line) => `  ${line}`)
  return [...headline(synced, style), ...(synced.held === null ? [`  ${synced.file}`] : []), ...details].join('\n')
}

/** What a sync came to. */
export function headline({ held, taken, written, conflicts }: Synced, style: Style): readonly string[] {
  if (held !== null) return remark('Held', style.red, `${heldText(held)} Nothing was changed.`, style)
  const { conflicts: torn, ...changes } = taken
  const counts = Object.entries(changes).filter(([, count]) => count > 0)
  const took = counts.length === 0 ? [] : [`took in ${counts.map(([what, count]) => `${count} ${what}`).join(', ')}`]
  const did = [...took, ...(torn === 0 ? [] : [counted(torn, 'conflict')])]
  const wrote = written.length === 0 ? 'nothing to write' : `wrote ${written.join(', ')}`
  const text = `${did.length === 0 ? 'nothing to take in' : did.join('; ')}; ${wrote}.`
  return conflicts.length === 0
    ? remark('In step', style.green, text, style)
    : remark('A conflict waits for a decision', style.yellow, text, style)
}

/** What somebody has to know, or do. */
export function syncedDetails({ held, refused, conflicts }: Synced, style: Style): readonly string[] {
  if (held !== null) return wrap(remedyOf(held), style.width)
  return [
    ...refused.flatMap(({ file, line, reason }) =>
      remark('Left as it is', style.yellow, `${file}, line ${line}: ${reason}`, style),
    ),
    ...conflicts.flatMap((conflict) => conflictLines(conflict, style)),
  ]
}

export const heldText = ({ file, reason }: Held): string => `${file}, because ${reason}.`

export const remedyOf = ({ kind }: Held): string =>
  kind === 'removal'
    ? 'Put the lines back, or say that you meant it: credence mirror sync --accept'
    : 'Put it right, or delete it to have it written anew.'

/** A painted word and what it is about, on as many lines as that needs. */
export function remark(label: string, paint: (text: string) => string, text: string, { width }: Style) {
  const [first = '', ...rest] = wrap(harmless(`${label}: ${text}`), width - 2)
  return [`${paint(first.slice(0, label.length))}${first.slice(label.length)}`, ...rest.map((line) => `  ${line}`)]
}

/** What was changed in both places, where both versions are, and how to decide. */
export function conflictLines({ file, proposals }: OpenConflict, style: Style): readonly string[] {
  const below = (text: string): readonly string[] => wrap(text, style.width - 2).map((line) => `  ${line}`)
  const [first] = proposals
  if (first === undefined)
    return [
      ...remark(
        'Conflict',
        style.yellow,
        `something was changed in both places at once. ${file} has what is not in the store.`,
        style,
      ),
      ...below(`Put back from it what you want. This is said until you delete ${file}.`),
    ]
  return [
    ...remark(
      'Conflict',
      style.yellow,
      `changed in the file and in the store. The store's version holds; ${file} shows both.`,
      style,
    ),
    ...proposals.flatMap((id) => [
      ...below(`Take the file's version:  credence proposals accept ${id}`),
      ...below(`Keep the store's version: credence proposals reject ${id}`),
    ]),
    ...below(`Deciding settles it. ${file} is kept even then; delete it when you like.`),
  ]
}
