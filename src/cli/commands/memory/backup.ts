import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { invalid } from '../../../errors.ts'
import { formatJson, writeAtomically } from '../../../files/atomic-write.ts'
import { codeOf, sweepLeftovers } from '../../../files/leftovers.ts'
import { prepareOwnPath } from '../../../files/own-files.ts'
import { parseJson } from '../../../json.ts'
import { localMinute } from '../../../local-time.ts'
import { showAllAgain } from '../../../memory/mirror/state/state.ts'
import { syncIfThere } from '../../../memory/mirror/sync-on-commit.ts'
import { openDeviceFile } from '../../../memory/sync/device.ts'
import { forgetAgain } from '../../../memory/sync/exchange.ts'
import { restoreStore, type StoreContents } from '../../../store/sqlite/care/backup.ts'
import { type CommandAnswer, defineCommand, UsageError } from '../../command/command.ts'
import { flag, memoryOptions, one } from '../../command/options.ts'
import type { Session } from '../../session.ts'
import { lines, pluralize } from '../../text/output.ts'

export const backup = defineCommand({
  args: { file: one('The file to write. It must not exist.') },
  options: memoryOptions,
  description:
    'Copies all beliefs, turns and the journal of every user to one file that only you can read. Other processes may write meanwhile. The file gets its name only when it is complete and checked. MEMORY.md and the eval store are not included.',
  examples: {
    'credence backup ~/memory-2026-05-01.db': 'Copies the memory to a new file.',
  },
  async run({ args, options }, session) {
    const { dir } = session.places.locate(options)
    const file = resolve(session.places.workingDirectory(), args.file)
    return session.terminal.withProgress(async (bar) => {
      bar.show('copying and checking', 0, 1)
      const note = { file, at: new Date().toISOString() }
      // Recorded first, so that forgetting also finds the incomplete file if the process is killed.
      if (!existsSync(file)) await noteBackup(dir, note)
      const head = await session.memories.withPorts(dir, async ({ store }) => {
        await store.backup(file)
        return store.head()
      })
      const { size } = statSync(file)
      await noteBackup(dir, note)
      return {
        document: { file, bytes: size, head },
        text: (style) => `${style.green('Backed up')} to ${file}: ${megabytes(size)}, complete and checked.`,
        notes: [`\`credence restore ${args.file}\` restores it.`],
      }
    })
  },
})

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`

export const restore = defineCommand({
  args: { file: one('A file that `credence backup` has written.') },
  options: { yes: flag('Do not ask before replacing a memory.'), ...memoryOptions },
  description:
    'Replaces the beliefs, turns and journal of every user by those of a backup. The backup is copied and checked first; the current memory is replaced in one step and then deleted. What was forgotten after the backup was made stays forgotten in a memory directory that is replaced. Stop servers and agents that use the memory first.',
  examples: {
    'credence restore ~/memory-2026-05-01.db': 'Shows the contents of the backup, and asks before replacing a memory.',
    'credence restore ~/memory.db --dir ./copy --yes': 'Creates a memory in another directory from the backup.',
  },
  async run({ args, options }, session) {
    const { dir, store } = session.places.locate(options)
    if (store !== undefined)
      throw invalid(
        'A PostgreSQL store is restored with the tools of PostgreSQL.',
        'Leave --store and CREDENCE_STORE out to restore into a memory directory.',
      )
    const from = resolve(session.places.workingDirectory(), args.file)
    const stages = { copy: 'copying the backup', check: 'checking the copy', replace: 'replacing the memory' }
    const names = Object.keys(stages)
    let replaced: StoreContents | 'damaged' | null = null
    return session.terminal.withProgress(async (bar) => {
      const restored = await restoreStore({
        from,
        file: prepareOwnPath(dir, await session.places.storeFile(dir)),
        random: randomBytes,
        onStage: (stage) => bar.show(stages[stage], names.indexOf(stage), names.length),
        adapt: async (copy, old) => {
          for (const [user, fingerprints] of await (await old.sync()).allForgottenTexts()) {
            const { keys } = await openDeviceFile(dir, user).read()
            await forgetAgain({ store: copy, now: () => new Date() }, user, keys, fingerprints)
          }
        },
        confirm: async (contents, old) => {
          replaced = old
          const isEmpty = old === null || (old !== 'damaged' && old.head.number === 0)
          bar.clear()
          const isAllowed = isEmpty || options.yes || (await mayReplace(dir, { contents, old }, session))
          if (!isAllowed) return false
          // The next sync compares MEMORY.md with the whole memory, whether or not the restore succeeded.
          showAllAgain(dir)
          return true
        },
      })
      if (restored === null) return nothingRestored
      const { user } = session.places.locate(options)
      const error = await session.memories.withPorts(dir, (ports) => syncIfThere(ports, { dir, user }))
      const notes = [
        ...(restored.setAside === null ? [] : [`The damaged store is kept as ${restored.setAside}.`]),
        ...(error === null ? [] : [`warning: MEMORY.md could not be updated: ${error.message}`]),
      ]
      return {
        document: { dir, from, restored: true, replaced, ...restored },
        text: (style) => `${style.green('Restored')} ${dir} from ${from}: ${contentsText(restored)}.`,
        notes,
      }
    })
  },
})

type BothContents = { readonly contents: StoreContents; readonly old: StoreContents | 'damaged' }

/** Asks whether the contents of a backup replace a memory. */
function mayReplace(dir: string, { contents, old }: BothContents, session: Session): Promise<boolean> {
  const question = lines(
    `The backup contains ${contentsText(contents)}.`,
    `The memory in ${dir} contains ${contentsText(old)}, which will be deleted.`,
    'What was forgotten since the backup stays forgotten.',
    'Replace it?',
  )
  const refusal = new UsageError(
    `There is a memory in ${dir}: ${contentsText(old)}.`,
    'Give --yes to replace it, or name another directory with --dir.',
  )
  return session.terminal.confirm(question, refusal)
}

const nothingRestored: CommandAnswer = { document: { restored: false }, text: () => 'Nothing was changed.' }

function contentsText(contents: StoreContents | 'damaged'): string {
  if (contents === 'damaged') return 'a damaged store'
  const { beliefs, turns, newestChange } = contents
  const change = newestChange === null ? 'no change yet' : `last changed ${localMinute(newestChange)}`
  return `${pluralize(beliefs, 'belief')} and ${pluralize(turns, 'turn')}, ${change}`
}

const Noted = z.array(z.object({ file: z.string(), at: z.string() }))
type NotedBackup = z.infer<typeof Noted>[number]

const maxNoted = 100
const notesFile = (dir: string): string => join(dir, 'state', 'backups.json')

/** The existing backups of a memory, so that forgetting can list them. Removes the unfinished files of interrupted backups. */
export async function readKnownBackups(dir: string): Promise<readonly NotedBackup[]> {
  if (!existsSync(notesFile(dir))) return []
  // An unreadable list of backups counts as empty.
  const noted = Noted.safeParse(parseJson(readFileSync(notesFile(dir), 'utf8'))).data ?? []
  // Ignores a directory that is gone or unreadable.
  for (const folder of new Set(noted.map(({ file }) => dirname(file)))) await sweepLeftovers(folder).catch(() => {})
  return noted.filter(({ file }) => existsSync(file))
}

/**
 * Records a backup, so that forgetting can list it. Skipped for a read-only memory, in which nothing can be forgotten. A full
 * disk is ignored, because the backup may be written to another disk.
 */
async function noteBackup(dir: string, made: NotedBackup): Promise<void> {
  const isWritable = await access(join(dir, 'state'), constants.W_OK).then(
    () => true,
    () => false,
  )
  if (!isWritable) return
  const others = (await readKnownBackups(dir)).filter(({ file }) => file !== made.file)
  const notes = formatJson([...others, made].slice(-maxNoted))
  await writeAtomically(prepareOwnPath(dir, notesFile(dir)), notes, { existing: 'replace' }).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOSPC') throw error
  })
}
