// The local socket on which running processes answer commands of the same account. Loaded before everything else, so it
// imports only Node modules. docs/decisions/032-a-process-that-already-runs-answers.md describes the protocol.

// biome-ignore-all lint/style/useNodejsImportProtocol: the same as in credence.js
const { fstatSync, openSync, readdirSync, readFileSync, readlinkSync, statSync, writeSync } = require('fs')
const { isAbsolute, join } = require('path')

const protocol = 1
/** The maximum length of a request or an answer, in characters. */
const maxLine = 8 * 1024 * 1024
/** Max wait for the greeting and for the answer of a process. After that, the process counts as hung. */
const maxGreetingMs = 500
const maxAnswerMs = { hook: 2000, other: 30000 }
/** Max wait for standard input. Hosts end a hook after 5 s. */
const maxInputMs = 4000
const maxTries = 5

const askable = ['hook', 'recall', 'search', 'hear']
const sentVariables =
  /^(?:(?:CREDENCE|XDG)_.*|CLAUDE_PLUGIN_ROOT|CLAUDE_CONFIG_DIR|HOME|PATH|Path|APPDATA|TERM|CI|NO_COLOR|FORCE_COLOR|npm_command|npm_lifecycle_event)$/

/** Like `os.homedir`, but loads the module `os`, which takes half a millisecond, only if necessary. */
const homedir = () => (process.platform !== 'win32' && process.env.HOME) || require('os').homedir()

/** The directory with the sockets of an account. */
function socketDirectory(env, home) {
  const given = env.XDG_STATE_HOME
  return join(given && isAbsolute(given) ? given : join(home, '.local', 'state'), 'credence', 'run')
}

/** The first line that a process sends. A client whose own greeting differs does not use the process. */
function greeting() {
  const { version } = JSON.parse(readFileSync(join(__dirname, '..', 'package.json'), 'utf8'))
  // A process in another mount namespace sees other files, even if both see the socket, so the namespace is part of the
  // greeting.
  const files = process.platform === 'linux' ? readlinkSync('/proc/self/ns/mnt') : ''
  return JSON.stringify({ protocol, version, program: __dirname, files, timeZone: process.env.TZ || '' })
}

/** The address to listen on or connect to; null if the path is too long. On Linux, `/proc/self/fd` shortens it. */
function addressOf(directory, name) {
  if (process.platform === 'win32') return `\\\\.\\pipe\\credence-${name}`
  const path = join(directory, name)
  if (Buffer.byteLength(path) < 100) return path
  return process.platform === 'linux' ? `/proc/self/fd/${openSync(directory, 'r')}/${name}` : null
}

/** Whether a directory belongs to this account and is not accessible to others. */
function isPrivate(directory) {
  const { uid, mode } = statSync(directory)
  return process.platform === 'win32' || (uid === process.getuid() && (mode & 0o077) === 0)
}

/** The names of the sockets, newest first. */
function socketsIn(directory) {
  try {
    if (!isPrivate(directory)) return []
    return readdirSync(directory)
      .filter((name) => name.endsWith('.sock'))
      .sort()
      .reverse()
  } catch {
    return []
  }
}

const isAskable = (argv, env) =>
  askable.includes(argv[0]) &&
  argv[1] !== 'hear' &&
  !env.CREDENCE_STORE &&
  !argv.some((word) => word === '-' || word.startsWith('--store'))

/**
 * Asks a running process to run a command, and prints its output. Returns its exit code, or null if no process answers, and
 * the standard input if it was read.
 */
async function ask(argv) {
  const nothing = { exitCode: null, input: null }
  if (!isAskable(argv, process.env)) return nothing
  const directory = socketDirectory(process.env, homedir())
  const names = socketsIn(directory)
  if (names.length === 0) return nothing
  const isHook = argv[0] === 'hook'
  const connection = await firstGreeting(directory, names)
  const input = isHook && connection !== null ? await readInput() : null
  const line = connection === null ? null : requestLine(argv, input)
  if (line === null || line.length > maxLine) {
    if (connection !== null) connection.end()
    return { exitCode: null, input }
  }
  connection.send(line)
  const answer = await connection.line(isHook ? maxAnswerMs.hook : maxAnswerMs.other)
  connection.end()
  if (answer === null || answer === 'late') return { exitCode: null, input }
  const { exitCode, stdout, stderr } = JSON.parse(answer)
  const isPrinted = [print(1, stdout), print(2, stderr)].every(Boolean)
  // Exits at once, because closing the socket first would only take time.
  if (isPrinted) process.exit(exitCode)
  return { exitCode, input }
}

function requestLine(argv, input) {
  // Reading a variable is slower than testing its name, so names are tested first.
  const names = Object.keys(process.env).filter((name) => sentVariables.test(name))
  const env = Object.fromEntries(names.map((name) => [name, process.env[name]]))
  const terminal = (descriptor) => {
    if (!fstatSync(descriptor).isCharacterDevice() || !require('tty').isatty(descriptor)) return {}
    return { isTTY: true, columns: process[descriptor === 1 ? 'stdout' : 'stderr'].columns }
  }
  try {
    const cwd = process.cwd()
    const ageMs = process.uptime() * 1000
    const text = input === null ? '' : input.toString('utf8')
    const streams = { stdout: terminal(1), stderr: terminal(2) }
    return `${JSON.stringify({ argv, cwd, env, home: homedir(), input: text, ageMs, ...streams })}\n`
  } catch {
    // The working directory is gone.
    return null
  }
}

/** Connects to the first process with the same greeting as this one. A hung process ends the search, to save time. */
async function firstGreeting(directory, names) {
  const wanted = greeting()
  for (const name of names.slice(0, maxTries)) {
    const address = addressOf(directory, name)
    if (address === null) return null
    const connection = connect(address)
    const line = await connection.line(maxGreetingMs)
    if (line === wanted) return connection
    connection.end()
    if (line === 'late') return null
  }
  return null
}

/** Connects to a socket and reads lines. A line is `late` after the given time, and null if the connection has ended. */
function connect(path) {
  const socket = require('net').connect({ path })
  let received = Buffer.alloc(0)
  let isEnded = false
  let look = () => {}
  const ended = () => {
    isEnded = true
    look()
  }
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
    look()
  })
  socket.on('error', ended)
  socket.on('close', ended)
  const line = (ms) =>
    new Promise((resolve) => {
      const settle = (value) => {
        clearTimeout(timer)
        look = () => {}
        resolve(value)
      }
      const timer = setTimeout(settle, ms, 'late')
      look = () => {
        const end = received.indexOf(10)
        if (end < 0) return isEnded ? settle(null) : undefined
        const first = received.toString('utf8', 0, end)
        received = received.subarray(end + 1)
        settle(first)
      }
      look()
    })
  return { line, send: (text) => socket.write(text), end: () => socket.destroy() }
}

/** Reads all of standard input. Uses `fs`, because loading the streams would take as long as the answer. */
function readInput() {
  try {
    return readFileSync(0)
  } catch {
    // Standard input is a terminal or a non-blocking pipe.
    return new Promise((resolve) => {
      const chunks = []
      const settle = () => {
        clearTimeout(timer)
        process.stdin.destroy()
        resolve(Buffer.concat(chunks))
      }
      const timer = setTimeout(settle, maxInputMs)
      process.stdin.on('data', (chunk) => chunks.push(chunk))
      process.stdin.on('error', settle)
      process.stdin.on('end', settle)
    })
  }
}

/** True if everything was written, or if the reader has gone, so that nothing more can be written. */
function print(descriptor, text) {
  let rest = Buffer.from(text)
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest))
    return true
  } catch (error) {
    if (error.code === 'EPIPE') return true
    const stream = descriptor === 1 ? process.stdout : process.stderr
    stream.on('error', () => {})
    stream.write(rest)
    return false
  }
}

module.exports = { addressOf, ask, greeting, isPrivate, maxLine, socketDirectory }
