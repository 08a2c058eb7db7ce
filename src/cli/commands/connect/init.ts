import { existsSync, mkdirSync } from 'node:fs'
import { MemoryError } from '../../../errors.ts'
import { syncMirror } from '../../../memory/mirror/sync.ts'
import { defineCommand } from '../../command/command.ts'
import { memoryOptions } from '../../command/options.ts'
import { lines } from '../../text/output.ts'
import { leftAloneText } from '../memory/mirror.ts'

export const init = defineCommand({
  args: {},
  options: memoryOptions,
  description:
    'Not needed before remembering, which makes a memory too; but only this and `mirror sync` make MEMORY.md, the readable face of it. Harmless where there is one.',
  examples: {
    'credence init': 'Makes your own memory and says where it is.',
    'credence init --dir ./memory': 'Makes a memory that every command run in this directory uses.',
  },
  async run({ options }, session) {
    const { dir, user, homeScopes } = session.locate(options)
    const store = await session.storeFile(dir)
    const isNew = !existsSync(store)
    makePrivateDirectory(dir)
    await session.memory(options)
    // Text that is in the file already stays, and beliefs are added behind it.
    const { file, leftAlone, held } = await session.withPorts(dir, (ports) => syncMirror(ports, { dir, user }))
    return {
      document: { dir, store, created: isNew, user, scopes: homeScopes, mirror: file, leftAlone },
      text: (style) =>
        lines(
          isNew
            ? `Made a memory in ${style.bold(dir)}.`
            : `There is a memory in ${style.bold(dir)} already; nothing was changed.`,
          `Its beliefs are in ${style.bold(file)} too, for reading and editing.`,
          leftAlone > 0 && leftAloneText(leftAlone, file),
          '',
          'Next:',
          '  credence remember "Invoices are due after 14 days." --name "payment terms"',
          '  credence recall "What are our payment terms?" --explain',
        ),
      notes: held === null ? [] : [`warning: the file is held: ${held.reason}. See \`credence mirror status\`.`],
    }
  },
})

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
