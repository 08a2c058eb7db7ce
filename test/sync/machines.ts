import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { bin, createSandbox, endOf } from '../cli/sandbox.ts'

const sshd = '/usr/sbin/sshd'
/** Why ssh cannot be tested on this machine, or null. */
export const noSshd = existsSync(sshd) ? null : `${sshd} is missing; install openssh-server.`

/** Machines of one person: memory directories in one temporary directory, and the real program. */
export function machines() {
  const place = createSandbox()
  const commands = join(place.path, 'bin')
  mkdirSync(commands)
  const script = (name: string, text: string): void => {
    writeFileSync(join(commands, name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(commands, name), 0o755)
  }
  // The `credence` on the PATH of another machine.
  script('credence', `HOME='${place.home}' CREDENCE_SEMANTIC=off exec '${process.execPath}' '${bin}' "$@"`)
  const passphrase = join(place.path, 'passphrase')
  writeFileSync(passphrase, 'four blue herons\n')
  const env = { PATH: `${commands}:${process.env.PATH}`, CREDENCE_SEMANTIC: 'off' }
  const start = (...argv: readonly string[]) => place.start(argv, { env })
  const run = async (...argv: readonly string[]) => {
    const { exitCode, stdout, stderr } = await endOf(start(...argv, '--json'))
    if (exitCode !== 0) throw new Error(`credence ${argv.join(' ')}: ${exitCode} ${stderr}`)
    return JSON.parse(stdout)
  }
  const processes: ChildProcess[] = []
  return {
    place,
    path: place.path,
    passphrase,
    script,
    start,
    run,
    processes,
    memory: (name: string): string => join(place.work, name),
    sync: (dir: string, target: string, ...more: readonly string[]) =>
      run('sync', target, '--dir', dir, '--secret-file', passphrase, '--yes', ...more),
    [Symbol.dispose]: () => {
      for (const child of processes) child.kill('SIGKILL')
      place[Symbol.dispose]()
    },
  }
}
export type Machines = ReturnType<typeof machines>

/** A real sshd on loopback that admits one new key, and an `ssh` in the PATH that uses it. Returns the beginning of an address. */
export async function startSshd({ path, script, processes }: Machines): Promise<string> {
  const at = (name: string): string => join(path, name)
  for (const key of ['host', 'own']) spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(key)])
  const port = await freePort()
  const { username } = userInfo()
  writeFileSync(
    at('sshd_config'),
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${at('host')}`,
      `AuthorizedKeysFile ${at('own.pub')}`,
      'StrictModes no',
      'UsePAM no',
      'PidFile none',
      'PermitRootLogin yes',
      `SetEnv PATH=${join(path, 'bin')}:${process.env.PATH}`,
    ].join('\n'),
  )
  writeFileSync(at('known_hosts'), `[127.0.0.1]:${port} ${readFileSync(at('host.pub'), 'utf8')}`)
  const options = `-i '${at('own')}' -o UserKnownHostsFile='${at('known_hosts')}' -o BatchMode=yes -F none`
  script('ssh', `exec /usr/bin/ssh ${options} "$@"`)
  // Debian creates this directory only when its service starts.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const child = spawn(sshd, ['-D', '-e', '-f', at('sshd_config')], { stdio: ['ignore', 'ignore', 'pipe'] })
  processes.push(child)
  let said = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
      if (said.includes('listening')) resolve()
    })
    child.on('exit', () => reject(new Error(`sshd: ${said}`)))
  })
  return `ssh://${username}@127.0.0.1:${port}`
}

export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })

/** The state that must be equal on all machines. */
export async function sharedState({ run }: Machines, dir: string) {
  const { items } = await run('beliefs', '--all', '--limit', '500', '--dir', dir)
  const beliefs = items.map(({ version: _version, ...belief }: Record<string, unknown>) => JSON.stringify(belief))
  const { items: inbox } = await run('review', '--dir', dir)
  const { stdout } = spawnSync(process.execPath, [bin, 'export', '--turns', '--dir', dir], { encoding: 'utf8' })
  const turns = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).text)
  return { beliefs: beliefs.sort(), inbox: inbox.length, turns: turns.sort() }
}

/** The files below the directories that contain a text. */
export const filesWith = (text: string, ...directories: readonly string[]): readonly string[] =>
  directories.flatMap((directory) =>
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .map((name) => join(directory, name))
      .filter((file) => statSync(file).isFile() && readFileSync(file).includes(text)),
  )
