import { existsSync, mkdirSync } from 'node:fs'
import { MemoryError } from '../../../errors.ts'
import { type Synced, syncMirror } from '../../../memory/mirror/sync.ts'
import { defineCommand } from '../../command.ts'
import { placeOptions } from '../../common-options.ts'
import type { Session } from '../../session.ts'
import { leftAloneText } from '../memory/mirror-status.ts'

export const init = defineCommand({
  args: {},
  options: placeOptions,
  description:
    'Not needed before remembering, which makes a memory too; but only this and `mirror sync` make MEMORY.md, the readable face of it. Harmless where there is one.',
  examples: [
    { command: 'credence init', effect: 'Makes your own memory and says where it is.' },
    {
      command: 'credence init --dir ./memory',
      effect: 'Makes a memory that every command run in this directory uses.',
    },
  ],
  async run({ options }, session) {
    const { dir, user, homeScopes } = session.place(options)
    const store = await session.storeFile(dir)
    const isNew = !existsSync(store)
    makePrivateDirectory(dir)
    await session.memory(options)
    const mirror = await makeMirror(session, dir, user)
    return {
      document: {
        dir,
        store,
        created: isNew,
        user,
        scopes: homeScopes,
        mirror: mirror.file,
        leftAlone: mirror.leftAlone,
      },
      text: (style) =>
        [
          isNew
            ? `Made a memory in ${style.bold(dir)}.`
            : `There is a memory in ${style.bold(dir)} already; nothing was changed.`,
          `What it holds stands in ${style.bold(mirror.file)} too, for reading and editing.`,
          ...(mirror.leftAlone === 0 ? [] : [leftAloneText(mirror.leftAlone, mirror.file)]),
          '',
          'Next:',
          '  credence remember "Invoices are due after 14 days." --name "payment terms"',
          '  credence recall "What are our payment terms?" --explain',
        ].join('\n'),
      notes:
        mirror.held === null
          ? []
          : [`warning: the file is held: ${mirror.held.reason}. See \`credence mirror status\`.`],
    }
  },
})

/** What stands in a file of that name already stays, and what is remembered is added behind it. */
async function makeMirror(session: Session, dir: string, user: string): Promise<Synced> {
  const ports = await session.ports(dir)
  try {
    return await syncMirror(ports, { dir, user })
  } finally {
    await ports.store.close()
  }
}

function makePrivateDirectory(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new MemoryError('unavailable', `The directory ${dir} cannot be made (${code}).`, {
      hint: 'Choose another one with --dir, or check who may write there.',
      cause,
    })
  }
}
