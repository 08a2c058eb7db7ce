import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseScope } from '../../../beliefs/scope.ts'
import { conflict, notFound, unavailable } from '../../../errors.ts'
import { makeDirectory } from '../../../files/make-directory.ts'
import { shellWord } from '../../../files/own-files.ts'
import { syncMirror } from '../../../memory/mirror/sync.ts'
import { type CommandAnswer, defineCommand, exitCodes } from '../../command/command.ts'
import { flag, memoryOptions, option } from '../../command/options.ts'
import { withTypedCommands } from '../../connect/launch.ts'
import { localName, stateDirectory } from '../../memory-location.ts'
import type { LocationOptions, Session } from '../../session.ts'
import { lines, pluralize } from '../../text/output.ts'
import { isTrusted, projectFileName, trustProjectFile } from '../../trusted-memories.ts'
import { leftAloneText } from '../memory/mirror.ts'
import { offerImport } from './offer-import.ts'

export const init = defineCommand({
  args: {},
  options: {
    yes: flag('Import the conversations that are on this machine without asking.'),
    noImport: flag('Do not look for conversations to import.'),
    attach: option('<scope>', 'Use this scope for the repository, for example after it was renamed.', parseScope),
    ...memoryOptions,
  },
  description:
    'Also creates MEMORY.md, the memory as a readable file, and offers to import the conversations of Claude Code, Codex, Gemini CLI, opencode, OpenClaw and Cursor that are on this machine. Without a terminal it only lists them. Changes nothing if the memory exists. `credence remember` creates a memory too, but without MEMORY.md.',
  examples: {
    'credence init': 'Creates your own memory, prints its directory, and asks whether to import your conversations.',
    'credence init --yes': 'Creates your own memory and imports the conversations of your agents, the newest first.',
    'credence init --attach project:ledger-1a2b3c4d':
      'Writes .credence.json, so that a renamed repository uses the beliefs it had.',
    'credence init --dir ./memory': 'Creates a memory that every command run in this directory uses.',
  },
  async run({ options }, session) {
    if (options.attach !== undefined) return attach(options.attach, options, session)
    const { dir, user, homeScopes, store: server } = session.places.locate(options)
    const store = await session.places.storeFile(dir)
    const isNew = !(await session.places.hasMemory(options))
    // Existing contents are of unknown origin; only an empty directory is trusted automatically.
    const hasContents = existsSync(dir) && readdirSync(dir).length > 0
    makePrivateDirectory(dir)
    await session.memories.writing(options)
    // Existing text in MEMORY.md stays, and beliefs are added after it.
    const authority = session.places.settings(options).mirrorAuthority
    const { file, leftAlone, held } = await session.memories.withPorts(dir, (ports) =>
      syncMirror(ports, { dir, user, authority }),
    )
    const offer = options.noImport ? null : await offerImport(session, options, options.yes ? 'import' : 'ask')
    const isAllowed =
      !hasContents || basename(dir) !== localName || isTrusted(stateDirectory(session.program.machine), dir)
    return {
      document: { dir, store, created: isNew, user, scopes: homeScopes, mirror: file, leftAlone, ...offer?.document },
      text: (style) =>
        lines(
          server !== undefined
            ? `The memory is in ${style.bold(store)}; its files are in ${style.bold(dir)}.`
            : isNew
              ? `Created a memory in ${style.bold(dir)}.`
              : `There is already a memory in ${style.bold(dir)}; nothing was changed.`,
          `You can read and edit its beliefs in ${style.bold(file)}.`,
          leftAlone > 0 && leftAloneText(leftAlone, file),
          offer !== null && offer.text !== '' && withTypedCommands(`\n${offer.text}`, style.command),
          '',
          'Next:',
          `  ${style.command} remember "Invoices are due after 14 days." --name "payment terms"`,
          `  ${style.command} recall "What are our payment terms?" --explain`,
        ),
      exitCode: offer?.exitCode ?? exitCodes.fine,
      notes: [
        ...(held === null
          ? []
          : [`warning: the file was not synchronised: ${held.reason}. See \`credence mirror status\`.`]),
        ...(isAllowed
          ? []
          : [
              `The directory had contents before. To use this memory without --dir, allow it: \`credence trust ${shellWord(dir)}\``,
            ]),
      ],
    }
  },
})

/** Makes the repository of the working directory use an existing scope. */
async function attach(scope: string, options: LocationOptions, session: Session): Promise<CommandAnswer> {
  const known = (await (await session.memories.reading(options)).scopes()).find((stored) => stored.scope === scope)
  if (known === undefined)
    throw notFound(`No belief is in the scope ${scope}.`, 'List the scopes with `credence beliefs --scopes`.')
  const file = join(repositoryRoot(session.places.workingDirectory()), projectFileName)
  try {
    writeFileSync(file, `${JSON.stringify({ scope })}\n`, { flag: 'wx' })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'EEXIST') throw conflict(`${file} already exists.`, `Set "scope" in it to "${scope}".`)
    throw unavailable(`${file} cannot be written (${code}).`, 'Check the permissions of the directory.', cause)
  }
  trustProjectFile(stateDirectory(session.program.machine), file, new Date())
  return {
    document: { file, ...known },
    text: (style) =>
      lines(
        `${style.green('Attached')} ${style.cyan(scope)}, with ${pluralize(known.beliefs, 'belief')}, by ${file}.`,
        'The scope is known on this machine only, so keep the file out of version control.',
      ),
  }
}

/** The nearest directory with a `.git`; outside of a repository, the given directory. */
function repositoryRoot(directory: string): string {
  for (let at = directory; at !== dirname(at); at = dirname(at)) if (existsSync(join(at, '.git'))) return at
  return directory
}

function makePrivateDirectory(dir: string): void {
  try {
    makeDirectory(dir)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw unavailable(
      `The directory ${dir} cannot be created (${code}).`,
      'Choose another one with --dir, or check the permissions.',
      cause,
    )
  }
}
