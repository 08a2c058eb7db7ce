import { expectedError } from '../errors.ts'
import { findCommand, readRequest, sortTexts, unknownCommand } from './command/arguments.ts'
import {
  type Command,
  type CommandAnswer,
  type ExitCode,
  exitCodes,
  type GivenTexts,
  UsageError,
} from './command/command.ts'
import { type CommandEntry, commandTable } from './command-table.ts'
import { compose, type ProcessEnvironment, packageVersion, processEnvironment } from './compose.ts'
import { keepingNotice } from './memory-location.ts'
import { isClosedPipe, styleFor, terminalText, write } from './text/output.ts'

export { processEnvironment }

/** Runs one command line and returns its exit code. */
export async function main(argv: readonly string[], environment = processEnvironment()): Promise<number> {
  const { stdout, stderr } = environment
  // `write` reports failed writes; without a listener, their error event would also end the process.
  const ignore = (): void => {}
  stdout.on('error', ignore)
  stderr.on('error', ignore)
  const printer = new Printer(environment)
  try {
    return await respond(argv, environment, printer)
  } catch (error) {
    if (isClosedPipe(error)) return exitCodes.fine
    if (error instanceof Error && error.name === 'AbortError') {
      if (stderr.isTTY) await printer.talk('\n')
      return exitCodes.interrupted
    }
    return await printer.fail(error, argv)
  } finally {
    stdout.off('error', ignore)
    stderr.off('error', ignore)
  }
}

async function respond(argv: readonly string[], environment: ProcessEnvironment, printer: Printer): Promise<ExitCode> {
  const request = readRequest(argv, commandTable)
  switch (request.kind) {
    case 'version':
      await printer.print(`${packageVersion()}\n`)
      return exitCodes.fine
    case 'help':
      await printer.print(terminalText(await helpFor(request.topic, environment)))
      return exitCodes.fine
    case 'nothing':
      await printer.talk(await helpFor(request.topic, environment))
      return exitCodes.usage
    case 'command':
      return runCommand(request.entry, request.argv, environment, printer)
  }
}

async function runCommand(
  entry: CommandEntry,
  argv: readonly string[],
  environment: ProcessEnvironment,
  printer: Printer,
): Promise<ExitCode> {
  const command = await entry.load()
  const circumstances = { showsProgress: !wantsJson(argv), createsMemory: entry.createsMemory === true }
  const session = compose({ ...environment, ...circumstances }, (line) => printer.talk(`${line}\n`))
  try {
    const given = await withStdin(sortTexts(argv, command), command, session.terminal.readStdin)
    const answer = await command.run(given, session)
    if (given.options.json === undefined) await printer.printText(answer)
    else await printer.printDocument(answer.document)
    const notices = command.isForPrograms ? [] : [...session.made].map(keepingNotice)
    for (const line of [...(answer.notes ?? []), ...notices]) await printer.talk(`${line}\n`)
    return answer.exitCode ?? exitCodes.fine
  } catch (error) {
    if (command.failOpen !== undefined) {
      await command.failOpen(error, session, argv).catch(() => {})
      await printer.debug(error)
      return exitCodes.fine
    }
    if (error instanceof UsageError) error.command ??= entry.name
    throw error
  } finally {
    await session.close()
  }
}

/** Replaces a lone `-` with the text of standard input, for the arguments that allow it. */
async function withStdin(given: GivenTexts, { args }: Command, readStdin: () => Promise<string>): Promise<GivenTexts> {
  const read = { ...given.args }
  for (const [name, { takesStdin }] of Object.entries(args)) {
    const texts = given.args[name] ?? []
    if (takesStdin && texts.length === 1 && texts[0] === '-') read[name] = [await readStdin()]
  }
  return { ...given, args: read }
}

async function helpFor(topic: readonly string[], { stdout, env }: ProcessEnvironment): Promise<string> {
  const { commandHelp, programHelp } = await import('./command/help.ts')
  const style = styleFor(stdout, env)
  const name = topic.join(' ')
  if (name === '') return programHelp(null, style)
  const entry = findCommand(name, commandTable)
  if (entry !== undefined) return commandHelp(entry, await entry.load(), style)
  if (commandTable.some((known) => known.name.startsWith(`${name} `))) return programHelp(name, style)
  throw unknownCommand(name, commandTable)
}

/** Answers go to standard output, messages to standard error. */
class Printer {
  readonly #environment: ProcessEnvironment
  #hasPrinted = false

  constructor(environment: ProcessEnvironment) {
    this.#environment = environment
  }

  /** The command that starts this program. It differs only under npm, so the module for that is loaded only then. */
  async #command(): Promise<string> {
    const { env, platform = process.platform } = this.#environment
    if (env.npm_command === undefined) return 'credence'
    return (await import('./connect/launch.ts')).typedCommand({ env, platform })
  }

  async print(text: string): Promise<void> {
    if (text === '') return
    this.#hasPrinted = true
    await write(this.#environment.stdout, text)
  }

  async talk(text: string): Promise<void> {
    const command = await this.#command()
    const typed = command === 'credence' ? text : (await import('./connect/launch.ts')).withTypedCommands(text, command)
    await write(this.#environment.stderr, terminalText(typed))
  }

  /** Prints the stack of an error if CREDENCE_DEBUG=1. */
  async debug(error: unknown): Promise<void> {
    if (this.#environment.env.CREDENCE_DEBUG === '1' && error instanceof Error) await this.talk(`${error.stack}\n`)
  }

  async printText({ text, isData }: CommandAnswer): Promise<void> {
    const { stdout, env } = this.#environment
    const given = text({ ...styleFor(stdout, env), command: await this.#command() })
    const shown = (part: string): string => (isData === true ? part : terminalText(part))
    if (typeof given === 'string') return this.print(shown(given === '' || given.endsWith('\n') ? given : `${given}\n`))
    for await (const part of given) await this.print(shown(part))
  }

  async printDocument(document: unknown): Promise<void> {
    if (!isAsyncIterable(document)) return this.print(`${JSON.stringify(document, null, 2)}\n`)
    let separator = '[\n'
    for await (const item of document) {
      await this.print(separator + JSON.stringify(item))
      separator = ',\n'
    }
    await this.print(separator === '[\n' ? '[]\n' : '\n]\n')
  }

  /** Prints an error; with --json also as a document, unless output has already started. */
  async fail(error: unknown, argv: readonly string[]): Promise<ExitCode> {
    const { exitCode, code, message, hint } = failureOf(error)
    const style = styleFor(this.#environment.stderr, this.#environment.env)
    try {
      await this.talk(`${style.red('error:')} ${message}\n`)
      if (hint !== undefined) await this.talk(`${style.cyan('hint:')} ${hint}\n`)
      await this.debug(error)
      if (wantsJson(argv) && !this.#hasPrinted)
        await this.printDocument({ ok: false, error: { code, message, hint: hint ?? null } })
    } catch (closed) {
      if (!isClosedPipe(closed)) throw closed
    }
    return exitCode
  }
}

const wantsJson = (argv: readonly string[]): boolean =>
  argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length).includes('--json')

function failureOf(error: unknown) {
  const expected = expectedError(error)
  if (expected !== null) {
    const { code, message, hint } = expected
    return { exitCode: exitCodes.invalid, code, message, hint }
  }
  if (error instanceof UsageError) {
    const help = `See \`credence ${error.command === undefined ? '' : `${error.command} `}--help\`.`
    // The message repeats the wrong argument, which may be the address of a store with a password.
    const message = error.message.replaceAll(/(:\/\/[^\s/:@]*):[^\s/@]*@/gu, '$1@')
    return { exitCode: exitCodes.usage, code: 'usage', message, hint: error.hint ?? help }
  }
  return {
    exitCode: exitCodes.bug,
    code: 'bug',
    message: 'Credence stopped because of a bug in it.',
    hint: 'Set CREDENCE_DEBUG=1 to see the stack trace. Changes that were reported as done are safe.',
  }
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  value !== null && typeof value === 'object' && Symbol.asyncIterator in value
