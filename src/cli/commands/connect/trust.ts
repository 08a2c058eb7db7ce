import { resolve } from 'node:path'
import { notFound } from '../../../errors.ts'
import { shellWord } from '../../../files/own-files.ts'
import { type CommandAnswer, type DefaultAnswer, defineCommand, UsageError } from '../../command/command.ts'
import { flag, optional } from '../../command/options.ts'
import { localName, stateDirectory } from '../../memory-location.ts'
import {
  distrustMemory,
  isProjectFile,
  isTrusted,
  isUnchanged,
  trustedMemories,
  trustMemory,
  trustProjectFile,
} from '../../trusted-memories.ts'

export const trust = defineCommand({
  args: { dir: optional('The memory directory, or a .credence.json. Default: ./memory.') },
  options: {
    list: flag('List the trusted memory directories.'),
    remove: flag('Stop using this memory directory unless --dir or CREDENCE_DIR names it.'),
  },
  description:
    'A memory that is found in the working directory, or that a .credence.json names, is used only if your account created it with Credence or allowed it with this command: a cloned repository or another user of the machine could have put it there. Its standing instructions then reach your agents, and what you say is stored in it. The record applies to this path, this owner and this memory: a folder that replaces it is not trusted. The scopes that a .credence.json names count only if you allowed the file, with its present contents, with this command: it could name the scope of another project. Records are stored in credence/trusted in XDG_STATE_HOME (~/.local/state).',
  examples: {
    'credence trust': 'Allows ./memory.',
    'credence trust .credence.json': 'Allows the scopes that the file of this project names.',
    'credence trust --list': 'Shows all trusted memory directories.',
    'credence trust --remove ~/code/ledger/memory': 'Stops using a memory directory.',
  },
  async run({ args, options: { list, remove } }, session): Promise<CommandAnswer | DefaultAnswer> {
    const state = stateDirectory(session.program.machine)
    if (list) {
      if (remove || args.dir !== undefined)
        throw new UsageError('--list takes no directory and excludes --remove.', 'Give --list alone.')
      const memories = trustedMemories(state).map(({ dir, since, ...record }) => {
        return { dir, since, isUnchanged: isUnchanged({ dir, since, ...record }) }
      })
      return {
        document: memories,
        shown: memories.map(({ dir, since, isUnchanged }) => {
          return { dir, since, note: isUnchanged ? '' : 'not used: it is missing or was replaced' }
        }),
        notes: memories.length === 0 ? ['No memory directory is trusted.'] : [],
      }
    }
    const dir = resolve(session.places.workingDirectory(), args.dir ?? localName)
    if (remove) {
      if (!distrustMemory(state, dir))
        throw notFound(`${dir} is not trusted.`, '`credence trust --list` shows the trusted directories.')
      return { document: { dir, trusted: false }, text: () => `${dir} is no longer trusted.` }
    }
    const isFile = isProjectFile(dir)
    if (!isTrusted(state, dir)) (isFile ? trustProjectFile : trustMemory)(state, dir, new Date())
    const use = isFile ? 'below it use its scopes' : 'next to it use it'
    return {
      document: { dir, trusted: true },
      text: (style) => `${style.green('Trusted')} ${dir}. Commands and agents that run ${use}.`,
      notes: [`\`credence trust --remove ${shellWord(dir)}\` ends this.`],
    }
  },
})
