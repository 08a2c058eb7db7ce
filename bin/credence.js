#!/usr/bin/env node
// Starts Credence. A published package runs its compiled files; a clone runs its TypeScript sources as they stand.
// This file is plain JavaScript that Node 12 can still parse, because its first duty is to tell an old Node what is
// needed.
//
// Exit code 2 means: this Node cannot run Credence. Every other code comes from the command itself. A hook always ends
// with 0: the programs that run it read 2 as an order to stop.

// biome-ignore-all lint/style/useNodejsImportProtocol: Node 12 does not know the prefix
const { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, statSync } = require('fs')
const { join } = require('path')

const isHook = process.argv[2] === 'hook'
const root = join(__dirname, '..')
const isClone = existsSync(join(root, 'src', 'cli', 'main.ts'))

// SQLite is part of Node; whether it is new enough is checked when a store is opened.
const needed = '24.0'
const isSupported = isAtLeast(needed) && (!isClone || Boolean(process.features.typescript))

if (isSupported) run()
else if (isClone && existsSync(ownNode()) && realpathSync(ownNode()) !== realpathSync(process.execPath)) {
  runOnOwnNode()
} else {
  const remedy = isClone && !existsSync(ownNode()) ? ' (`npm ci` brings one)' : ''
  console.error(`credence: Node ${process.versions.node} is too old; it needs Node ${needed} or newer${remedy}.`)
  process.exitCode = isHook ? 0 : 2
}

function isAtLeast(wanted) {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [wantedMajor, wantedMinor] = wanted.split('.').map(Number)
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)
}

function run() {
  const argv = process.argv.slice(2)
  require('./socket.js')
    .ask(argv)
    .then(({ exitCode, input }) => (exitCode === null ? runHere(argv, input) : exitCode))
    .then(
      (exitCode) => {
        process.exitCode = exitCode
      },
      (error) => {
        console.error(error)
        process.exitCode = isHook ? 0 : 70
      },
    )
}

/** `input`: standard input, if it was read already. */
async function runHere(argv, input) {
  // Saves compiling (and, in a clone, stripping types) again at every start. The directory is the user's own: the
  // default one in the shared temporary directory could be prepared by somebody else.
  const cache = join(process.env.XDG_CACHE_HOME || join(require('os').homedir(), '.cache'), 'credence')
  if (isPrivate(cache)) require('module').enableCompileCache(cache)
  printWarningsPlainly()

  const { main, processEnvironment } = await loadCommandLine()
  if (input === null) return main(argv)
  return main(argv, { ...processEnvironment(), stdin: () => require('stream').Readable.from([input]) })
}

/** Makes a directory that only its owner may use, whatever the umask is. Code in one that others can change would be run. */
function isPrivate(directory) {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const { uid, mode } = statSync(directory)
    if (process.getuid !== undefined && uid !== process.getuid()) return false
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) chmodSync(directory, 0o700)
    return true
  } catch {
    return false
  }
}

async function loadCommandLine() {
  if (isClone) return import('../src/cli/main.ts')
  // V8 compiles a function when it is first called, which is too late for the cache. So all functions of the file that a
  // prompt needs are compiled while it is loaded, once; its first line switches this off again (scripts/build.ts).
  require('v8').setFlagsFromString('--no-lazy')
  return require('../dist/cli/main.js')
}

/** Replaces Node's own format, `(node:123) Warning: …`. Without a listener, warnings are switched off. */
function printWarningsPlainly() {
  if (process.listenerCount('warning') === 0) return
  process.removeAllListeners('warning')
  process.on('warning', ({ message, stack }) => {
    // Some releases announce this at every start.
    if (/^(?:Type Stripping|SQLite) is an experimental feature/.test(message)) return
    console.error(`warning: ${process.env.CREDENCE_DEBUG === '1' ? stack : message}`)
  })
}

/** The Node that `npm ci` puts into a clone, whatever the machine has. */
function ownNode() {
  return join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
}

function runOnOwnNode() {
  const { spawn } = require('child_process')
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules', 'node', 'package.json'), 'utf8'))
  const child = spawn(ownNode(), process.argv.slice(1), { stdio: 'inherit' })

  // A terminal sends its interrupt to both processes; only one that came from elsewhere has to be passed on.
  const isAtTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) {
    process.on(signal, () => {
      if (!(isAtTerminal && (signal === 'SIGINT' || signal === 'SIGQUIT'))) child.kill(signal)
    })
  }

  child.on('error', (error) => {
    console.error(`credence: could not start Node ${version} from this clone: ${error.message}`)
    process.exitCode = 2
  })
  child.on('exit', (exitCode, signal) => {
    if (signal === null) process.exit(exitCode)
    // End the way the child ended, so that a caller sees the same.
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}
