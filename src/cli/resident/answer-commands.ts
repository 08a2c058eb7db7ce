import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { parseObject } from '../../json.ts'
import { keepStoresOpen } from '../../store/sqlite/idle-stores.ts'
import type { Machine } from '../session.ts'
import { type ForeignCommand, ForeignCommands } from './run-here.ts'

/** The parts of `bin/socket.js` that both the client and this server use. */
type SocketProtocol = {
  readonly addressOf: (directory: string, name: string) => string | null
  readonly greeting: () => string
  readonly isPrivate: (directory: string) => boolean
  readonly maxLine: number
  readonly socketDirectory: (env: Machine['env'], home: string) => string
}

export type AnsweringProcess = {
  readonly commands: ForeignCommands
  /** Stops listening. Background commands are restarted in separate processes. */
  readonly close: () => Promise<void>
}

const maxConnections = 64
/** A client that sends no command within this time is disconnected. */
const maxSilenceMs = 10_000
/** Min age of a socket before it is removed: a newer one may belong to a process that does not listen on it yet. */
const minStaleMs = 10_000

/**
 * Answers the commands of other processes of this account on a local socket. If there can be no socket (an unusable
 * directory, a path that is too long), those processes run their commands themselves. `afterPrompt` is called whenever the hook of
 * a prompt has been answered.
 */
export async function answerCommands(machine: Machine, afterPrompt?: () => void): Promise<AnsweringProcess> {
  const commands = new ForeignCommands(afterPrompt)
  const closeStores = keepStoresOpen()
  const end = async (): Promise<void> => {
    await commands.handOver()
    await closeStores()
  }
  const socket = createRequire(machine.program)('./socket.js') as SocketProtocol
  const directory = socket.socketDirectory(machine.env, machine.home)
  const name = `${Date.now().toString(36)}-${randomBytes(8).toString('hex')}.sock`
  const path = join(directory, name)
  const remove = (): void => rmSync(path, { force: true })
  const greeting = `${socket.greeting()}\n`
  const server = createServer((connection) => answer(connection, greeting, socket.maxLine, commands))
  server.maxConnections = maxConnections
  // The socket alone must not keep the process running.
  server.unref()
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const address = socket.isPrivate(directory) ? socket.addressOf(directory, name) : null
    if (address === null) return { commands, close: end }
    await removeStale(directory, socket)
    process.on('exit', remove)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(address, resolve)
    })
    if (process.platform === 'win32') writeFileSync(path, '')
    else chmodSync(path, 0o600)
  } catch {
    // A read-only disk, or a file system without sockets.
    return { commands, close: end }
  }
  return {
    commands,
    close: async () => {
      server.close()
      remove()
      await end()
      process.off('exit', remove)
    },
  }
}

/** Removes the sockets of processes that were killed. */
async function removeStale(directory: string, { addressOf }: SocketProtocol): Promise<void> {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    const { mtimeMs = Number.POSITIVE_INFINITY } = statSync(path, { throwIfNoEntry: false }) ?? {}
    const address = addressOf(directory, name)
    if (address === null || Date.now() - mtimeMs < minStaleMs) continue
    if (await refusesConnections(address)) rmSync(path, { force: true })
  }
}

const refusesConnections = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = connect({ path: address })
    const settle = (isRefused: boolean) => (): void => {
      probe.destroy()
      resolve(isRefused)
    }
    probe.on('connect', settle(false)).on('error', settle(true))
  })

/** Greets a client, and runs the one command that it sends. */
function answer(connection: Socket, greeting: string, maxLine: number, commands: ForeignCommands): void {
  let received = ''
  connection.setEncoding('utf8')
  connection.setTimeout(maxSilenceMs, () => connection.destroy())
  connection.on('error', () => {})
  connection.on('data', (chunk: string) => {
    received += chunk
    const end = received.indexOf('\n')
    if (end < 0 && received.length <= maxLine) return
    connection.removeAllListeners('data')
    const command = end < 0 ? null : commandIn(received.slice(0, end))
    // A client that has disconnected runs the command itself.
    if (command === null || connection.destroyed || connection.readableEnded) return void connection.destroy()
    connection.setTimeout(0)
    void commands.run(command).then(
      (ending) => connection.end(`${JSON.stringify(ending)}\n`),
      () => connection.destroy(),
    )
  })
  connection.write(greeting)
}

const answered = ['hook', 'recall', 'search', 'hear']

/** The command in a line; null if the line is invalid or the command is not answered here. */
function commandIn(line: string): ForeignCommand | null {
  const given = parseObject(line)
  if (given === null) return null
  const { argv, cwd, env, home, input, ageMs, stdout, stderr } = given
  const isText = (value: unknown): boolean => typeof value === 'string'
  const isWhole =
    Array.isArray(argv) &&
    argv.every(isText) &&
    answered.includes(argv[0]) &&
    [cwd, home, input].every(isText) &&
    typeof ageMs === 'number' &&
    [env, stdout, stderr].every((value) => value !== null && typeof value === 'object') &&
    Object.values(env as object).every(isText)
  // Each field has been checked above.
  return isWhole ? ({ argv, cwd, env, home, input, ageMs, stdout, stderr } as ForeignCommand) : null
}
