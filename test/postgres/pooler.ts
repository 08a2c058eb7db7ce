import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import {
  account,
  type Cluster,
  freePort,
  ownedDirectory,
  password,
  postgresPrograms,
} from '../../src/store/postgres/server.contract.ts'

const program = '/usr/sbin/pgbouncer'

/** Whether PgBouncer and PostgreSQL are installed. */
export const hasPooler = postgresPrograms !== null && existsSync(program)

if (postgresPrograms !== null && !hasPooler)
  console.log('PgBouncer is not installed, so its tests are skipped. Install it: apt-get install pgbouncer')

/** PgBouncer in front of a PostgreSQL server of the tests. */
export class Pooler {
  readonly port: number
  readonly #directory: string
  #process: ChildProcess | null = null

  private constructor(directory: string, port: number) {
    this.#directory = directory
    this.port = port
  }

  static async start(server: Cluster, settings: string): Promise<Pooler> {
    const pooler = new Pooler(ownedDirectory(tmpdir()), await freePort())
    const users = join(pooler.#directory, 'users.txt')
    writeFileSync(users, `"credence" "${password}"\n`)
    const lines = [
      '[databases]',
      `* = host=127.0.0.1 port=${server.port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${pooler.port}`,
      'unix_socket_dir =',
      `auth_file = ${users}`,
      settings,
    ]
    writeFileSync(join(pooler.#directory, 'pgbouncer.ini'), lines.join('\n'))
    await pooler.startProgram()
    return pooler
  }

  /** The address of a database of the server, through the pooler. */
  reached(address: string): string {
    return address.replace(/:\d+\//u, `:${this.port}/`)
  }

  async startProgram(): Promise<void> {
    this.#process = spawn(program, ['--quiet', join(this.#directory, 'pgbouncer.ini')], {
      ...account,
      cwd: this.#directory,
      stdio: 'ignore',
    })
    for (let attempt = 0; attempt < 600; attempt += 1) {
      const client = new pg.Client({
        connectionString: this.reached(`postgres://credence:${password}@127.0.0.1:1/postgres`),
      })
      client.on('error', () => {})
      try {
        await client.connect()
        return
      } catch {
        await pause(50)
      } finally {
        await client.end().catch(() => {})
      }
    }
    throw new Error('PgBouncer did not start.')
  }

  async kill(): Promise<void> {
    const program = this.#process
    if (program === null || program.exitCode !== null || program.signalCode !== null) return
    const gone = once(program, 'exit')
    program.kill('SIGKILL')
    await gone
  }

  async stop(): Promise<void> {
    await this.kill()
    rmSync(this.#directory, { recursive: true, force: true })
  }
}
