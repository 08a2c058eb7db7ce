import { readFileSync } from 'node:fs'
import { MemoryError } from '../errors.ts'
import { findCommand, readRequest, sortTexts, unknownCommand } from './command/arguments.ts'
import {
  type Answer,
  type Command,
  type ExitCode,
  exitCodeOf,
  exitCodes,
  type GivenTexts,
  UsageError,
} from './command/command.ts'
import { type CommandEntry, commandTable } from './command-table.ts'
import { compose, type Surroundings, systemSurroundings } from './compose.ts'
import { isClosedPipe, styleFor, write } from './text/output.ts'

/** Runs one command line and says how it ended. */
export async function main(
  argv: readonly string[],
  surroundings: Surroundings = systemSurroundings(),
): Promise<number> {
  const { stdout, stderr } = surroundings
  // Failed writes are reported where they are made; without a listener they would also end the process.
  const ignore = (): void => {}
  stdout.on('error', ignore)
  stderr.on('error', ignore)
  const printer = new Printer(surroundings)
  try {
    return await respond(argv, surroundings, printer)
  } catch (error) {
    if (isClosedPipe(error)) return exitCodes.fine
    if (error instanceof Error && error.name === 'AbortError') return exitCodes.interrupted
    return await printer.fail(error, argv)
  } finally {
    stdout.off('error', ignore)
    stderr.off('error', ignore)
  }
}

async function respond(argv: readonly string[], surroundings: Surroundings, printer: Printer): Promise<ExitCode> {
  const request = readRequest(argv, commandTable)
  switch (request.kind) {
    case 'version':
      await printer.print(`${ownVersion()}\n`)
      return exitCodes.fine
    case 'help':
      await printer.print(await helpFor(request.topic, surroundings))
      return exitCodes.fine
    case 'nothing':
      await printer.talk(await helpFor(request.topic, surroundings))
      return exitCodes.usage
    case 'command':
      return runCommand(request.entry, request.argv, surroundings, printer)
  }
}

async function runCommand(
  entry: CommandEntry,
  argv: readonly string[],
  surroundings: Surroundings,
  printer: Printer,
): Promise<ExitCode> {
  const command = await entry.load()
  const session = compose(surroundings, (line) => printer.talk(`${line}\n`))
  try {
    const given = await withStdin(sortTexts(argv, command), command, session.readStdin)
    const answer = await command.run(given, session)
    if (given.options.json === undefined) await printer.printText(answer)
    else await printer.printDocument(answer.document)
    for (const line of answer.notes ?? []) await printer.talk(`${line}\n`)
    const made = command.isForPrograms ? [] : session.made
    for (const dir of made) await printer.talk(`${(await import('./keeping-notice.ts')).keepingNotice(dir)}\n`)
    return answer.exitCode ?? exitCodes.fine
  } catch (error) {
    if (command.failOpen !== undefined) return await failedOpen(command.failOpen(error, session, argv), error, printer)
    if (error instanceof UsageError) error.command ??= entry.name
    throw error
  } finally {
    await session.close()
  }
}

/** Fine, whatever happened; the reason is shown to whoever is looking for it. */
async function failedOpen(noted: Promise<void>, error: unknown, printer: Printer): Promise<ExitCode> {
  await noted.catch(() => {})
  await printer.debug(error)
  return exitCodes.fine
}

/** Replaces a lone `-` by what comes in, for the arguments that allow it. */
async function withStdin(given: GivenTexts, { args }: Command, readStdin: () => Promise<string>): Promise<GivenTexts> {
  const read = { ...given.args }
  for (const [name, { takesStdin }] of Object.entries(args)) {
    const texts = given.args[name] ?? []
    if (takesStdin && texts.length === 1 && texts[0] === '-') read[name] = [await readStdin()]
  }
  return { ...given, args: read }
}

async function helpFor(topic: readonly string[], surroundings: Surroundings): Promise<string> {
  const { commandHelp, programHelp } = await import('./command/help.ts')
  const style = styleFor(surroundings.stdout, surroundings.env)
  const name = topic.join(' ')
  if (name === '') return programHelp(commandTable, null, style)
  const entry = findCommand(name, commandTable)
  if (entry !== undefined) return commandHelp(entry, await entry.load(), style)
  if (commandTable.some((known) => known.name.startsWith(`${name} `))) return programHelp(commandTable, name, style)
  throw unknownCommand(name, commandTable)
}

const ownVersion = (): string =>
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version

/** Standard output is for answers, standard error for talk. */
class Printer {
  readonly #surroundings: Surroundings
  #hasPrinted = false

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  async print(text: string): Promise<void> {
    if (text === '') return
    this.#hasPrinted = true
    await write(this.#surroundings.stdout, text)
  }

  async talk(text: string): Promise<void> {
    await write(this.#surroundings.stderr, text)
  }

  /** Where something went wrong, when somebody wants to know. */
  async debug(error: unknown): Promise<void> {
    if (this.#surroundings.env.CREDENCE_DEBUG === '1' && error instanceof Error) await this.talk(`${error.stack}\n`)
  }

  async printText({ text }: Answer): Promise<void> {
    const { stdout, env } = this.#surroundings
    const given = text(styleFor(stdout, env))
    if (typeof given === 'string') return this.print(given === '' || given.endsWith('\n') ? given : `${given}\n`)
    for await (const part of given) await this.print(part)
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

  /** Says what went wrong, as one document too where documents are asked for and none has been begun. */
  async fail(error: unknown, argv: readonly string[]): Promise<ExitCode> {
    const failure = describe(error)
    const { stderr, env } = this.#surroundings
    const style = styleFor(stderr, env)
    try {
      await this.talk(`${style.red('error:')} ${failure.message}\n`)
      if (failure.hint !== undefined) await this.talk(`${style.cyan('hint:')} ${failure.hint}\n`)
      await this.debug(error)
      const { code, message, hint } = failure
      const wantsJson = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length).includes('--json')
      if (wantsJson && !this.#hasPrinted)
        await this.printDocument({ ok: false, error: { code, message, hint: hint ?? null } })
    } catch (closed) {
      if (!isClosedPipe(closed)) throw closed
    }
    return failure.exitCode
  }
}

type Failure = {
  readonly exitCode: ExitCode
  readonly code: string
  readonly message: string
  readonly hint: string | undefined
}

function describe(error: unknown): Failure {
  if (error instanceof MemoryError) {
    const { code, message, hint } = error
    return { exitCode: exitCodeOf[code], code, message, hint }
  }
  if (error instanceof UsageError) {
    const help = `See \`credence ${error.command === undefined ? '' : `${error.command} `}--help\`.`
    const hint = error.hint === undefined ? help : error.hint
    return { exitCode: exitCodes.usage, code: 'usage', message: error.message, hint }
  }
  return {
    exitCode: exitCodes.bug,
    code: 'bug',
    message: 'Credence stopped because of a bug in it.',
    hint: 'CREDENCE_DEBUG=1 shows where; what was acknowledged before is safe.',
  }
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  value !== null && typeof value === 'object' && Symbol.asyncIterator in value
