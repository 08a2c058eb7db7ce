import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

/** The folder with the programs of the newest installed PostgreSQL; null if PostgreSQL is not installed. */
export const postgresPrograms: string | null = (() => {
  const named = process.env.CREDENCE_POSTGRES_BIN
  if (named !== undefined) return named
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  const found = versions.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')))
  return found ?? null
})()

/** The account for PostgreSQL and its poolers, which refuse to run as root. */
export const account: { readonly uid?: number; readonly gid?: number } = (() => {
  if (process.getuid?.() !== 0) return {}
  const [, uid, gid] = readFileSync('/etc/passwd', 'utf8').match(/^(?:postgres):[^:]*:(\d+):(\d+):/mu) ?? []
  return { uid: Number(uid ?? 65_534), gid: Number(gid ?? 65_534) }
})()

export const password = 'not-a-secret'

/** A separate database server with its data in a temporary directory. */
export class Cluster {
  readonly directory: string
  readonly port: number
  #server: ChildProcess | null = null
  #settings: readonly string[]

  private constructor(directory: string, port: number, settings: readonly string[]) {
    this.directory = directory
    this.port = port
    this.#settings = settings
  }

  /** Starts a server. Its data is in a new directory below `root`. */
  static async start(settings: readonly string[] = [], root = tmpdir()): Promise<Cluster> {
    const directory = ownedDirectory(root)
    const cluster = new Cluster(directory, await freePort(), settings)
    const passwordFile = join(directory, 'password')
    writeFileSync(passwordFile, password)
    const data = join(directory, 'data')
    cluster.run('initdb', [
      '-D',
      data,
      '-U',
      'credence',
      '--auth=scram-sha-256',
      `--pwfile=${passwordFile}`,
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
    ])
    await cluster.startServer()
    return cluster
  }

  /** Starts a standby with a copy of the primary's data, at `port` (of a stopped server) or at a free one. */
  static async follow(primary: Cluster, name: string, port?: number): Promise<Cluster> {
    const standby = new Cluster(ownedDirectory(tmpdir()), port ?? (await freePort()), [])
    const from = `host=127.0.0.1 port=${primary.port} user=credence password=${password} application_name=${name}`
    standby.run('pg_basebackup', [
      '-D',
      join(standby.directory, 'data'),
      '-d',
      from,
      '-R',
      '-X',
      'stream',
      '--checkpoint=fast',
      '--no-sync',
    ])
    await standby.startServer()
    return standby
  }

  /** Runs a program under the server's account. */
  run(program: string, values: readonly string[], folder = postgresPrograms as string): string {
    return execFileSync(join(folder, program), values, {
      ...account,
      cwd: this.directory,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  async startServer(): Promise<void> {
    const log = join(this.directory, 'log')
    const settings = [
      'listen_addresses=127.0.0.1',
      `port=${this.port}`,
      'unix_socket_directories=',
      'max_connections=200',
      'shared_buffers=64MB',
      ...this.#settings,
    ]
    const values = ['-D', join(this.directory, 'data'), ...settings.flatMap((setting) => ['-c', setting])]
    const shell = `exec "$0" "$@" >>'${log}' 2>&1`
    this.#server = spawn('/bin/sh', ['-c', shell, join(postgresPrograms as string, 'postgres'), ...values], {
      ...account,
      cwd: this.directory,
      stdio: 'ignore',
    })
    for (let attempt = 0; attempt < 600; attempt += 1) {
      if (this.#server.exitCode !== null)
        throw new Error(`PostgreSQL did not start: ${readFileSync(log, 'utf8').slice(-2_000)}`)
      try {
        await this.query('SELECT 1', 'postgres')
        return
      } catch {
        await pause(100)
      }
    }
    throw new Error('PostgreSQL did not start in time.')
  }

  get #children(): readonly number[] {
    const pid = this.#server?.pid
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  }

  /** The CPU time of each running process of the server, in milliseconds. */
  cpuMs(): ReadonlyMap<number, number> {
    return new Map(
      this.#children.map((pid) => {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        // The kernel counts in ticks of 10 ms.
        return [pid, (Number(fields[11]) + Number(fields[12])) * 10]
      }),
    )
  }

  /** Kills the server and all its processes, like a power cut. */
  async kill(): Promise<void> {
    const server = this.#server
    if (server?.pid === undefined || server.exitCode !== null || server.signalCode !== null) return
    const children = this.#children
    const gone = once(server, 'exit')
    for (const pid of [server.pid, ...children])
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has already exited.
      }
    await gone
    await this.#waitForEnd(children)
  }

  /** Waits until every process has exited, because only then is the shared memory released. */
  async #waitForEnd(pids: readonly number[]): Promise<void> {
    for (let attempt = 0; attempt < 600 && pids.some((pid) => existsSync(`/proc/${pid}`)); attempt += 1) await pause(50)
  }

  /** Restarts the server with additional settings. */
  async restart(settings: readonly string[]): Promise<void> {
    await this.#end('SIGINT')
    this.#settings = [...this.#settings, ...settings]
    await this.startServer()
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server
    if (server?.pid === undefined || server.exitCode !== null || server.signalCode !== null) return
    const gone = once(server, 'exit')
    process.kill(server.pid, signal)
    await gone
  }

  async stop(): Promise<void> {
    await this.#end('SIGQUIT')
    rmSync(this.directory, { recursive: true, force: true })
  }

  address(database = 'postgres', port = this.port): string {
    return `postgres://credence:${password}@127.0.0.1:${port}/${database}`
  }

  async query<Row extends pg.QueryResultRow>(sql: string, database = 'postgres'): Promise<readonly Row[]> {
    const client = new pg.Client({ connectionString: this.address(database) })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query<Row>(sql)).rows
    } finally {
      await client.end()
    }
  }

  #databases = 0

  /** Creates an empty database and returns its address. */
  async newDatabase(): Promise<string> {
    this.#databases += 1
    const name = `test_${this.#databases}`
    await this.query(`CREATE DATABASE ${name}`)
    return this.address(name)
  }
}

export function ownedDirectory(root: string): string {
  const directory = mkdtempSync(join(root, 'credence-postgres-'))
  if (account.uid !== undefined && account.gid !== undefined) chownSync(directory, account.uid, account.gid)
  return directory
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
