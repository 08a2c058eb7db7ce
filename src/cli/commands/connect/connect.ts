import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { unavailable } from '../../../errors.ts'
import { localMinute } from '../../../local-time.ts'
import { type Argument, defineCommand, exitCodes, UsageError } from '../../command/command.ts'
import { flag, oneOf, text, viewOptions } from '../../command/options.ts'
import { type ConnectHost, connectHosts, filesFor, type HostCheck, hosts, type Level } from '../../connect/hosts.ts'
import { isTemporary, programOnPath, withTypedCommands } from '../../connect/launch.ts'
import { connectFiles, diffOf, disconnectFiles, planConnection, planRemoval } from '../../connect/plan.ts'
import { noteSeen } from '../../connect/seen.ts'
import { type HostStatus, hostStatuses } from '../../connect/status.ts'
import { keepingNotice } from '../../memory-location.ts'
import type { Machine, Session } from '../../session.ts'
import { lines, pluralize, type Style } from '../../text/output.ts'
import { offerImport } from './offer-import.ts'

const host: Argument<ConnectHost | null> = {
  help: `The program to set up: ${connectHosts.join(', ')}. Not needed with --status.`,
  count: 'optional',
  takesStdin: false,
  read: ([given]) => (given === undefined ? null : oneOf(connectHosts, given)),
}

export const connect = defineCommand({
  args: { host },
  options: {
    status: flag('Show for every program whether it is connected, its version, its last hook and its last MCP call.'),
    verify: flag(
      'Run the program once with a model on this machine, and report whether the lines of Credence reach the model.',
    ),
    project: flag('Change the configuration of the working directory, for everybody who works there.'),
    user: flag('Change your own configuration, for every directory. The default.'),
    remove: flag('Remove the entries of Credence; a file without other changes is restored exactly.'),
    dryRun: flag('Show what would change, and change nothing.'),
    yes: flag('Do not ask.'),
    noImport: flag('Do not look for conversations to import.'),
    allowRead: flag('Let Claude Code call the tools that only read, such as memory_search, without asking you.'),
    dir: text('<directory>', 'The memory directory for the program, in every working directory.'),
    scope: {
      ...viewOptions.scope,
      help: 'The scope to use instead of that of the working directory. May be given several times.',
    },
  },
  description:
    "Shows a diff of each file and asks before it writes; then it runs the program's own check and says what is left to do. Comments and layout of the files stay; the program's own memory is not changed. From then on prompts are stored on this machine; `credence pause` stops that. The first time, it also offers to import the conversations that are on this machine, like `credence init`.",
  examples: {
    'credence connect claude-code': 'Adds the MCP server and the hooks to your own configuration.',
    'credence connect codex --project --dry-run': 'Shows what would change for this project.',
    'credence connect claude-code --remove': 'Removes the entries of Credence.',
    'credence connect codex --verify': 'Sends a test prompt through Codex, and reports whether its model got the line.',
    'credence connect --status': 'Shows which programs are connected, and when they last used the memory.',
  },
  async run({ args, options }, session) {
    const { machine } = session.program
    const { remove, dryRun } = options
    const directory = session.places.workingDirectory()
    if (options.status) return statusAnswer(hostStatuses(machine, directory), args.host)
    if (args.host === null)
      throw new UsageError('<host> is missing.', `Use one of ${connectHosts.join(', ')}, or --status.`)
    const { host } = args
    if (options.verify) return verifyAnswer(host, machine, directory)
    if (options.allowRead && host !== 'claude-code')
      throw new UsageError(
        '--allow-read is for claude-code only.',
        'Leave it out; other programs have their own permission settings.',
      )
    const allowsReading = options.allowRead || (await offerReading(host, options, session))
    const version = remove ? null : await installedVersion(host, machine, directory)
    const files = filesFor(host, {
      machine,
      version,
      level: levelOf(options, hosts[host].levels[0]),
      directory,
      dir: options.dir === undefined ? undefined : resolve(directory, options.dir),
      scopes: options.scope,
      allowsReading,
    })
    const { changes, problems } = remove
      ? { changes: planRemoval(files, machine), problems: [] }
      : planConnection(files, machine, { isPreview: dryRun })
    if (changes.length === 0 && remove) await disconnectFiles([], files, machine)
    const notice = remove ? [] : [keepingNotice(session.places.directory(options.dir))]
    // True once the confirmation has shown the notice.
    let wasAsked = false
    const documents = changes.map((change) => ({ path: change.path, diff: diffOf(change) }))
    const answer = (written: boolean, note: string, more: object = {}) => ({
      document: { host, written, changes: documents, ...more },
      text: (style: Style) =>
        lines(
          written ? [] : documents.map(({ diff }) => paintDiff(diff, style)),
          withTypedCommands(note, style.command),
        ),
      notes:
        changes.length === 0
          ? []
          : [...(wasAsked ? [] : notice), ...problems, ...(isTemporary(machine) && !remove ? [npxNote] : [])],
    })
    if (changes.length === 0 && remove) return answer(false, `The configuration of ${host} has no entries of Credence.`)
    if (dryRun) return answer(false, changes.length === 0 ? `${host} is connected already.` : '')
    if (changes.length > 0 && !options.yes) {
      const refusal = new UsageError(
        'Files would change, and there is no terminal to ask for confirmation.',
        'Give --dry-run to see what would change, and --yes to write it.',
      )
      const question = lines(
        documents.map(({ diff }) => diff),
        notice,
        `Change ${pluralize(changes.length, 'file')}?`,
      )
      wasAsked = true
      if (!(await session.terminal.confirm(question, refusal)))
        return { ...answer(false, ''), text: () => 'Nothing was written.' }
    }
    const list = changes.map(({ path }) => `  ${path}`)
    if (remove) {
      await disconnectFiles(changes, files, machine)
      return answer(true, lines(`Removed Credence from ${host}:`, list))
    }
    await connectFiles(changes, machine)
    const proof = await session.terminal.withProgress(async (bar) => {
      bar.show(`waiting for \`${hosts[host].program ?? host}\` to check the connection`, 0, 1)
      return proveConnection(host, machine, directory)
    })
    if (version !== null) noteSeen(machine, host, 'version', { at: new Date().toISOString(), version })
    const reading = host === 'claude-code' && !allowsReading ? readingNote : []
    const outcome = list.length === 0 ? `${host} is connected already.` : `Connected ${host}:`
    const { dir } = options
    const location = dir === undefined ? {} : { dir: resolve(directory, dir) }
    const offer = options.noImport ? null : await offerImport(session, location, options.yes ? 'show' : 'ask')
    const others = list.length === 0 ? [] : syncNote
    const text = lines(outcome, list, proofText(proof), hosts[host].next, reading, offer?.text || [], others)
    return answer(list.length > 0, text, { proof, ...offer?.document })
  },
})

async function verifyAnswer(host: ConnectHost, machine: Machine, directory: string) {
  const { canVerify, verifyDelivery } = await import('../../connect/verify.ts')
  const { program } = hosts[host]
  if (program === undefined || !canVerify(host))
    throw new UsageError(`--verify cannot run ${host}.`, 'Use it with claude-code or codex.')
  const file = programOnPath(program, machine)
  if (file === null)
    throw unavailable(`\`${program}\` is not on the PATH.`, 'Install it, or add its directory to PATH.')
  const { delivered, detail } = await verifyDelivery(host, { file, machine, directory })
  const outcome = delivered ? `${host} delivers:` : `${host} does not deliver:`
  return {
    document: { host, delivered, detail },
    text: () => lines(`${outcome} ${detail}`, delivered ? [] : hosts[host].next),
    exitCode: delivered ? exitCodes.fine : exitCodes.failed,
  }
}

const npxNote = 'npx may delete this copy of Credence; install it with `npm install -g credence` and connect again.'

const syncNote = [
  'To have the same memory on another machine: `credence sync ssh://HOST`, or a folder that a cloud drive copies.',
]

const readingNote = [
  'Claude Code asks before each call of memory_search, and refuses it under `claude -p`; `credence connect claude-code --allow-read` allows the tools that only read.',
]

/** At a terminal, asks whether Claude Code may call the reading tools without asking the person. */
async function offerReading(
  host: ConnectHost,
  { remove, dryRun, yes }: { remove: boolean; dryRun: boolean; yes: boolean },
  session: Session,
): Promise<boolean> {
  if (host !== 'claude-code' || remove || dryRun || yes || !session.terminal.isInteractive()) return false
  return session.terminal.confirm('Let Claude Code search and read the memory without asking you each time?')
}

function proofText({ outcome, command, detail }: Proof): string {
  if (outcome === 'unchecked') return `Not checked: ${detail}`
  return outcome === 'proven'
    ? `\`${command}\` confirms it: ${detail}`
    : `\`${command}\` does not confirm it. It printed:\n${detail}`
}

function levelOf({ project, user }: { project: boolean; user: boolean }, usual: Level): Level {
  if (project && user) throw new UsageError('--project and --user exclude each other.', 'Give one of them.')
  return project ? 'project' : user ? 'user' : usual
}

function statusAnswer(all: readonly HostStatus[], host: ConnectHost | null) {
  const hosts = host === null ? all : all.filter((status) => status.host === host)
  const connections = { yes: 'connected', partly: 'partly connected', no: 'not connected' }
  return {
    document: { hosts },
    shown: hosts.map(({ host, connected, levels, version, lastHook, lastCall }) => ({
      host,
      connection: `${connections[connected]}${levels.length === 0 ? '' : ` (${levels.join(', ')})`}`,
      'version seen': version?.version,
      'last hook': lastHook && `${localMinute(lastHook.at)} ${lastHook.event}: ${lastHook.outcome}`,
      'last MCP call': lastCall && `${localMinute(lastCall.at)} ${lastCall.tool}`,
    })),
    notes: hosts.flatMap(({ files }) => files.map(({ problem }) => problem ?? false)),
  }
}

const paintDiff = (diff: string, style: Style): string =>
  diff
    .split('\n')
    .map((line) => {
      if (line.startsWith('+') && !line.startsWith('+++')) return style.green(line)
      return line.startsWith('-') && !line.startsWith('---') ? style.red(line) : line
    })
    .join('\n')

type Proof = {
  /** `unchecked`: the host has no command that checks the connection, or its program is not on the PATH. */
  readonly outcome: 'proven' | 'not proven' | 'unchecked'
  /** The commands that were run, as a person would type them; after a failure, only the failed one. */
  readonly command: string | null
  /** What these commands printed about Credence, or the reason why none was run. */
  readonly detail: string
}

/** Long enough for OpenClaw, whose check takes half a minute on a slow machine. */
const maxCheckMs = 120_000
const maxDetailLength = 1_000

/** The version that a host's program prints; null if it is not on the PATH. */
async function installedVersion(host: ConnectHost, machine: Machine, directory: string): Promise<string | null> {
  const { program } = hosts[host]
  const file = program === undefined ? null : programOnPath(program, machine)
  const output = file === null ? null : await runCheck(file, ['--version'], machine, directory)
  return /\d+(?:\.\d+)+[\w.-]*/.exec(output ?? '')?.[0] ?? null
}

/** Runs the host's own checks in a directory, up to the first that fails. */
async function proveConnection(host: ConnectHost, machine: Machine, directory: string): Promise<Proof> {
  const { program: name, checks = [] } = hosts[host]
  const unchecked = { outcome: 'unchecked', command: null } as const
  if (name === undefined || checks.length === 0)
    return { ...unchecked, detail: `${host} has no command that shows it.` }
  const file = programOnPath(name, machine)
  if (file === null) return { ...unchecked, detail: `\`${name}\` is not on the PATH.` }
  const commandOf = ({ args }: HostCheck): string => `${name} ${args.join(' ')}`
  const details: string[] = []
  for (const check of checks) {
    const output = await runCheck(file, check.args, machine, directory)
    const isProven = output !== null && check.proof.test(output)
    const detail = output === null ? 'It did not end in time.' : (isProven && check.proves) || excerptOf(output, check)
    if (!isProven) return { outcome: 'not proven', command: commandOf(check), detail }
    details.push(detail)
  }
  return { outcome: 'proven', command: checks.map(commandOf).join(' && '), detail: details.join('\n') }
}

/** The lines of the output about Credence; if there are none, the last lines. */
function excerptOf(output: string, { proof }: HostCheck): string {
  const about = output.split('\n').filter((line) => /credence/i.test(line) || proof.test(line))
  const shown = about.length > 0 ? about : output.trim().split('\n').slice(-5)
  return shown.join('\n').slice(0, maxDetailLength).trim()
}

/** Both output streams of a program, without colours; null if it does not end in time. */
async function runCheck(file: string, args: readonly string[], machine: Machine, cwd: string): Promise<string | null> {
  const { home, platform } = machine
  const env = { ...machine.env, HOME: machine.env.HOME ?? home, NO_COLOR: '1' }
  // Windows can start .cmd files only through a shell. The arguments are our own, so they need no quoting.
  const running = promisify(execFile)(file, args, { cwd, env, shell: platform === 'win32', timeout: maxCheckMs })
  running.child.stdin?.end()
  const { stdout, stderr, signal } = await running.catch((error) => error)
  return signal ? null : stripVTControlCharacters(`${stdout}${stderr}`)
}
