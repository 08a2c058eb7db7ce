#!/usr/bin/env node
// Starts Credence. A published package runs its compiled files; a clone runs its TypeScript sources directly.
// This file is plain JavaScript that Node 12 can still parse, so that it can tell users of an old Node which version is
// needed.
//
// Exit code 2 means that this Node cannot run Credence. Every other code comes from the command itself. A hook always exits
// with 0, because hosts interpret 2 as an order to stop.

// biome-ignore-all lint/style/useNodejsImportProtocol: Node 12 does not know the prefix
const { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, statSync } = require('fs')
const { join } = require('path')

const isHook = process.argv[2] === 'hook'
const root = join(__dirname, '..')
const isClone = existsSync(join(root, 'src', 'cli', 'main.ts'))

// The oldest supported Node. SQLite is part of Node, but its version is checked later, when a store is opened.
const needed = '24.0'
const isSupported = isAtLeast(needed) && (!isClone || Boolean(process.features.typescript))

if (isSupported) run()
else if (isClone && existsSync(ownNode()) && realpathSync(ownNode()) !== realpathSync(process.execPath)) {
  runOnOwnNode()
} else {
  const remedy = isClone && !existsSync(ownNode()) ? ' (`npm ci` installs one)' : ''
  console.error(`credence: Node ${process.versions.node} is too old; Credence needs Node ${needed} or newer${remedy}.`)
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

/** `input`: standard input, if it was already read. */
async function runHere(argv, input) {
  // Avoids compiling (and, in a clone, stripping types) again at every start. Uses a private directory, because another user
  // could have prepared the default one in the shared temporary directory.
  const cache = join(process.env.XDG_CACHE_HOME || join(require('os').homedir(), '.cache'), 'credence')
  if (isPrivate(cache)) require('module').enableCompileCache(cache)
  printWarningsPlainly()

  const { main, processEnvironment } = await loadCommandLine()
  if (input === null) return main(argv)
  return main(argv, { ...processEnvironment(), stdin: () => require('stream').Readable.from([input]) })
}

/** Creates a private directory, regardless of the umask. False if another user owns it, because code in it is run. */
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
  // V8 compiles a function on its first call, which is too late for the cache. With this flag it compiles all functions
  // of the file that a prompt needs when it loads the file. The first line of that file clears the flag again
  // (scripts/build.ts).
  require('v8').setFlagsFromString('--no-lazy')
  return require('../dist/cli/main.js')
}

/**
 * Replaces Node's format, `(node:123) Warning: …`. If there is no listener, the user has switched warnings off, and
 * they stay off.
 */
function printWarningsPlainly() {
  if (process.listenerCount('warning') === 0) return
  process.removeAllListeners('warning')
  process.on('warning', ({ message, stack }) => {
    // Some Node releases print these at every start.
    if (/^(?:Type Stripping|SQLite) is an experimental feature/.test(message)) return
    console.error(`warning: ${process.env.CREDENCE_DEBUG === '1' ? stack : message}`)
  })
}

/** The Node that `npm ci` installs in a clone, regardless of the machine's own. */
function ownNode() {
  return join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
}

function runOnOwnNode() {
  const { spawn } = require('child_process')
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules', 'node', 'package.json'), 'utf8'))
  const child = spawn(ownNode(), process.argv.slice(1), { stdio: 'inherit' })

  // A terminal sends interrupts to both processes; only signals from elsewhere must be forwarded.
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
    // Ends by the same signal as the child, so that the caller sees it.
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}
