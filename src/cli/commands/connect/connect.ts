import { resolve } from 'node:path'
import { type Argument, defineCommand, UsageError } from '../../command/command.ts'
import { flag, oneOf, text, viewOptions } from '../../command/options.ts'
import { connectHosts, filesFor, isTemporary, nextStep, usualLevel } from '../../connect/hosts.ts'
import { connectFiles, diffOf, disconnectFiles, planConnection, planRemoval } from '../../connect/plan.ts'
import { keepingNotice } from '../../memory-location.ts'
import { counted, harmless, lines, type Style } from '../../text/output.ts'

const host: Argument<(typeof connectHosts)[number]> = {
  help: `The program to set up: ${connectHosts.join(', ')}.`,
  count: 'one',
  takesStdin: false,
  read: ([given]) => oneOf(connectHosts, given ?? ''),
}

export const connect = defineCommand({
  args: { host },
  options: {
    project: flag('Change the configuration of the working directory, for everybody who works there.'),
    user: flag('Change your own configuration, for every directory. The default.'),
    remove: flag('Remove the entries of Credence; a file without other changes is restored exactly.'),
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
  examples: {
    'credence connect claude-code': 'Adds the MCP server and the hooks to your own configuration.',
    'credence connect codex --project --print': 'Shows what would change for this project.',
    'credence connect claude-code --remove': 'Takes everything out again.',
  },
  async run({ args, options }, session) {
    const { machine } = session
    const { remove, print } = options
    const directory = session.workingDirectory()
    const files = filesFor(args.host, {
      machine,
      level: levelOf(options, usualLevel(args.host)),
      directory,
      options: [
        ...(options.dir === undefined ? [] : ['--dir', resolve(directory, options.dir)]),
        ...options.scope.flatMap((one) => ['--scope', one]),
      ],
    })
    const { changes, problems } = remove
      ? { changes: planRemoval(files, machine), problems: [] }
      : planConnection(files, machine, { isPreview: print })
    if (changes.length === 0 && remove) await disconnectFiles([], files, machine)
    const notice = remove ? [] : [keepingNotice(session.directory(options.dir))]
    const documents = changes.map((change) => ({ path: change.path, diff: diffOf(change) }))
    const answer = (written: boolean, note: string) => ({
      document: { host: args.host, written, changes: documents },
      text: (style: Style) => lines(written ? [] : documents.map(({ diff }) => painted(diff, style)), note),
      notes:
        changes.length === 0 ? [] : [...notice, ...problems, ...(isTemporary(machine) && !remove ? [npxNote] : [])],
    })
    if (changes.length === 0)
      return answer(
        false,
        remove ? `Nothing of Credence is in the configuration of ${args.host}.` : `${args.host} is connected already.`,
      )
    if (print) return answer(false, '')
    if (!options.yes) {
      if (!session.isInteractive())
        throw new UsageError(
          'Files would change, and there is no terminal to ask at.',
          'Give --print to see what would change, and --yes to write it.',
        )
      const shown = documents.map(({ diff }) => harmless(diff))
      const question = lines(shown, notice, `Write ${counted(changes.length, 'file')}?`)
      if (!(await session.confirm(question))) return { ...answer(false, ''), text: () => 'Nothing was written.' }
    }
    if (remove) await disconnectFiles(changes, files, machine)
    else await connectFiles(changes, machine)
    const list = changes.map(({ path }) => `  ${path}`)
    return answer(
      true,
      remove
        ? lines(`Removed Credence from ${args.host}:`, list)
        : lines(`Connected ${args.host}:`, list, nextStep(args.host)),
    )
  },
})

const npxNote =
  'This copy of Credence was fetched by npx and may be cleared away; install it with `npm install -g credence` and connect again.'

type Level = 'user' | 'project'

function levelOf({ project, user }: { project: boolean; user: boolean }, usual: Level): Level {
  if (project && user) throw new UsageError('--project and --user exclude each other.', 'Give one of them.')
  return project ? 'project' : user ? 'user' : usual
}

const painted = (diff: string, style: Style): string =>
  harmless(diff)
    .split('\n')
    .map((line) => {
      if (line.startsWith('+') && !line.startsWith('+++')) return style.green(line)
      return line.startsWith('-') && !line.startsWith('---') ? style.red(line) : line
    })
    .join('\n')
