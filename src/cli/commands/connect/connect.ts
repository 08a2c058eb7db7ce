import { resolve } from 'node:path'
import type { Argument } from '../../command.ts'
import { defineCommand, flag, text } from '../../command.ts'
import { viewOptions } from '../../common-options.ts'
import { connectHosts, filesFor, nextStep, usualLevel } from '../../connect/hosts.ts'
import { isPassing } from '../../connect/launch.ts'
import {
  connectFiles,
  diffOf,
  disconnectFiles,
  foreseeConnection,
  type PlannedChange,
  planConnection,
  planRemoval,
} from '../../connect/plan.ts'
import { keepingNotice } from '../../keeping-notice.ts'
import { harmless, type Style } from '../../output.ts'
import type { Session } from '../../session.ts'
import { counted } from '../../text-layout.ts'
import { UsageError } from '../../usage-error.ts'

const host: Argument<(typeof connectHosts)[number]> = {
  help: `The program to set up: ${connectHosts.join(', ')}.`,
  count: 'one',
  takesStdin: false,
  read: ([given]) => {
    const found = connectHosts.find((known) => known === given)
    if (found !== undefined) return found
    throw new UsageError(`"${given}" is not one of ${connectHosts.join(', ')}.`)
  },
}

export const connect = defineCommand({
  args: { host },
  options: {
    project: flag('Change the configuration of the working directory, for everybody who works there.'),
    user: flag('Change your own configuration, for every directory. The default.'),
    remove: flag('Take out what was written: back to the byte where nothing else has changed since.'),
    print: flag('Only print what would change.'),
    yes: flag('Do not ask.'),
    dir: text('<directory>', 'The memory directory the program is to use, wherever it runs.'),
    scope: {
      ...viewOptions.scope,
      help: 'A scope to use instead of that of the directory it runs in. May be given several times.',
    },
  },
  description:
    "Shows the difference it would make to each file and asks before it writes. Comments and layout of the files stay, and so does the program's own memory. Prompts are then kept on this machine; `credence pause` stops that.",
  examples: [
    { command: 'credence connect claude-code', effect: 'Adds the MCP server and the hooks to your own configuration.' },
    { command: 'credence connect codex --project --print', effect: 'Shows what would change for this project.' },
    { command: 'credence connect claude-code --remove', effect: 'Takes everything out again.' },
  ],
  async run({ args, options }, session) {
    const { machine } = session
    const files = filesFor(args.host, {
      machine,
      level: levelOf(options, usualLevel(args.host)),
      directory: session.workingDirectory(),
      options: startOptions(options, session),
    })
    const { changes, problems } =
      options.print && !options.remove
        ? foreseeConnection(files, machine)
        : { changes: options.remove ? planRemoval(files, machine) : planConnection(files, machine), problems: [] }
    const notice = options.remove ? [] : [keepingNotice(session.directory(options.dir))]
    const documents = changes.map((change) => ({ path: change.path, diff: diffOf(change) }))
    const answer = (written: boolean, note: string) => ({
      document: { host: args.host, written, changes: documents },
      text: (style: Style) =>
        written ? `${note}\n` : [...documents.map(({ diff }) => painted(diff, style)), note].join('\n'),
      notes: [
        ...notice,
        ...problems,
        ...notesFor(changes, { isPassing: isPassing(machine), isRemoval: options.remove }),
      ],
    })
    if (changes.length === 0) {
      if (options.remove) await disconnectFiles([], files, machine)
      return { ...answer(false, nothingToDo(args.host, options.remove)), notes: [] }
    }
    if (options.print) return answer(false, '')
    if (!options.yes) {
      if (!session.isInteractive()) {
        throw new UsageError(
          'Files would change, and there is no terminal to ask at.',
          'Give --print to see what would change, and --yes to write it.',
        )
      }
      const shown = documents.map(({ diff }) => harmless(diff)).join('\n')
      const question = [shown, ...notice, `Write ${counted(changes.length, 'file')}?`].join('\n')
      if (!(await session.confirm(question))) return { ...answer(false, ''), text: () => 'Nothing was written.' }
    }
    if (options.remove) await disconnectFiles(changes, files, machine)
    else await connectFiles(changes, machine)
    const list = changes.map(({ path }) => `  ${path}`).join('\n')
    return answer(
      true,
      options.remove
        ? `Removed Credence from ${args.host}:\n${list}`
        : `Connected ${args.host}:\n${list}\n${nextStep(args.host)}`,
    )
  },
})

type Levels = { readonly project: boolean; readonly user: boolean }

function levelOf({ project, user }: Levels, usual: 'user' | 'project'): 'user' | 'project' {
  if (project && user) throw new UsageError('--project and --user exclude each other.', 'Give one of them.')
  return project ? 'project' : user ? 'user' : usual
}

function startOptions(
  { dir, scope }: { readonly dir: string | undefined; readonly scope: readonly string[] },
  session: Session,
): readonly string[] {
  const directory = dir === undefined ? [] : ['--dir', resolve(session.workingDirectory(), dir)]
  return [...directory, ...scope.flatMap((one) => ['--scope', one])]
}

const nothingToDo = (name: string, isRemoval: boolean): string =>
  isRemoval ? `Nothing of Credence is in the configuration of ${name}.` : `${name} is connected already.`

function notesFor(
  changes: readonly PlannedChange[],
  { isPassing, isRemoval }: { isPassing: boolean; isRemoval: boolean },
): readonly string[] {
  return changes.length > 0 && isPassing && !isRemoval
    ? [
        'This copy of Credence was fetched by npx and may be cleared away; install it with `npm install -g credence` and connect again.',
      ]
    : []
}

const painted = (diff: string, style: Style): string =>
  harmless(diff)
    .split('\n')
    .map((line) => {
      if (line.startsWith('+') && !line.startsWith('+++')) return style.green(line)
      return line.startsWith('-') && !line.startsWith('---') ? style.red(line) : line
    })
    .join('\n')
