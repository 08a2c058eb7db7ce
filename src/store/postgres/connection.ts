import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { ConnectionOptions as TlsOptions } from 'node:tls'
import type pg from 'pg'
import { invalid, MemoryError } from '../../errors.ts'
import { codeOf } from '../../files/leftovers.ts'
import { type PostgresAddress, parseAddress } from './address.ts'
import { isLostConnection, mayPass, translateError } from './errors.ts'
import { decodeText, encodeValue } from './values.ts'

/** Runs one statement. Statements started without awaiting each other share a round trip. */
export type Run = <Row>(sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>

/** The time for which a call is retried while the server is down, starting, or failing over to its standby. */
const defaultPatienceMs = 30_000
const maxPauseMs = 500
const connectMs = 10_000
/** A statement without an answer after this time is sent again on another connection, because the server's machine may have vanished. */
const defaultAnswerMs = 15_000
/** `defaultAnswerMs` for statements that read or write a lot of data. */
export const longAnswerMs = 30 * 60_000
/** If a program dies without closing its connection, the server ends its transaction after this time and releases its locks. */
const idleTransactionMs = 10_000

export type ConnectionOptions = {
  readonly address: string
  readonly patienceMs?: number | undefined
  /** For tests. */
  readonly answerMs?: number
  /** Max connections for transactions, not counting the one for single reads. Default 9. */
  readonly connections?: number
}

/** Connections to the host that accepts writes. Retries after temporary errors. */
export class PostgresConnection {
  readonly address: PostgresAddress
  readonly #ssl: false | TlsOptions
  readonly #patienceMs: number
  readonly #answerMs: number
  readonly #connections: number
  /** One pool for each host. The driver is loaded with the first call. */
  #pools: Promise<readonly pg.Pool[]> | null = null
  /** Clients that connect through a pooler, which may give their server connection to other programs between transactions. */
  readonly #pooled = new WeakSet<pg.ClientBase>()
  #host = 0
  /** The connection that all single reads share. */
  #reader: Promise<pg.PoolClient> | null = null
  #hasConnected = false
  /** Why reads and writes are no longer possible. */
  #ended: MemoryError | null = null
  #guard: ((run: Run) => Promise<unknown>) | null = null

  constructor({ address, patienceMs, answerMs, connections = 9 }: ConnectionOptions) {
    this.address = parseAddress(address)
    this.#ssl = tlsOptions(this.address)
    this.#patienceMs = patienceMs ?? defaultPatienceMs
    this.#answerMs = answerMs ?? defaultAnswerMs
    this.#connections = connections
  }

  async #openPools(): Promise<readonly pg.Pool[]> {
    const driver = (await import('pg')).default
    return this.address.hosts.map((host) => {
      const pool = new driver.Pool({
        ...this.#settingsOf(driver, host),
        max: this.#connections + 1,
        pipeline: true,
        keepAlive: true,
        idleTimeoutMillis: 60_000,
        // Lets a command exit when its work is done.
        allowExitOnIdle: true,
        onConnect: (client) => this.#prepareSession(client),
      })
      // A connection that breaks while idle is replaced when one is needed.
      return pool.on('error', () => {})
    })
  }

  #settingsOf(driver: typeof pg, host: PostgresAddress['hosts'][number]): pg.ClientConfig {
    const { user, password, database } = this.address
    const types = { getTypeParser: typeParsers(driver) as typeof pg.types.getTypeParser }
    const common = { user, password, database, ssl: this.#ssl, types, application_name: 'credence' }
    return { ...common, ...host, connectionTimeoutMillis: connectMs }
  }

  /** Refuses standbys, and recognises a pooler: behind one, the client's process number is not that of a PostgreSQL process. */
  async #prepareSession(client: pg.ClientBase): Promise<void> {
    // While the client is in use, the pool does not listen for its errors, and an unhandled one would end the process.
    client.on('error', () => {})
    const { rows } = await client.query<{ standby: boolean; pid: number }>(
      'SELECT pg_is_in_recovery() AS standby, pg_backend_pid() AS pid',
    )
    if (rows[0]?.standby === true) throw new StandbyError()
    if (rows[0]?.pid === processIdOf(client)) {
      // Every statement uses an index that starts with the owner, so one generic plan fits all values.
      await client.query('SET plan_cache_mode = force_generic_plan')
      return
    }
    this.#pooled.add(client)
    // Fails if a pooler allows no transactions.
    await Promise.all([client.query('BEGIN'), client.query('COMMIT')])
  }

  /** Runs short reads, each statement by itself, on a connection that all such reads share. */
  read<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    return this.#retryWhileUnavailable(async () => {
      if (this.#ended !== null) throw this.#ended
      this.#reader ??= this.#openReader()
      const opening = this.#reader
      try {
        const reader = await opening
        return await work((sql, values) => this.#run(reader, sql, values))
      } catch (error) {
        if (isLostConnection(error)) await this.#dropReader(opening, error as Error)
        throw error
      }
    })
  }

  #openReader(): Promise<pg.PoolClient> {
    const opening = this.#connect().then((client) => {
      // A pending statement keeps the process running through its timeout; the connection alone does not.
      ;(client as pg.PoolClient & { unref(): void }).unref()
      return client
    })
    opening.catch(() => this.#dropReader(opening))
    return opening
  }

  async #dropReader(opening: Promise<pg.PoolClient> | null, lost?: Error): Promise<void> {
    if (opening === null || this.#reader !== opening) return
    this.#reader = null
    ;(await opening.catch(() => null))?.release(lost)
  }

  /** Runs statements that may take long, each by itself, on a separate connection. */
  readLong<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    return this.#retryWhileUnavailable(() => this.#withClient(longAnswerMs, (run) => work(run)))
  }

  /** Runs reads on one snapshot of the database. */
  readSnapshot<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    return this.readLong(async (run) => {
      const begun = run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      begun.catch(() => {})
      try {
        return await work(run)
      } finally {
        await run('COMMIT').catch(() => {})
      }
    })
  }

  /**
   * Runs a writing transaction, and repeats it after a temporary failure. The work must not depend on an earlier attempt, which may or
   * may not have been committed.
   */
  write<Result>(work: (run: Run) => Promise<Result>, answerMs = this.#answerMs): Promise<Result> {
    return this.#retryWhileUnavailable(() =>
      this.#withClient(answerMs, async (run) => {
        const begun = [run('BEGIN'), run(`SET LOCAL idle_in_transaction_session_timeout = ${idleTransactionMs}`)]
        const guarded = this.#guard?.(run)
        for (const sent of [...begun, guarded]) sent?.catch(() => {})
        guarded?.catch((error) => {
          if (error instanceof MemoryError) this.#ended ??= error
        })
        try {
          const result = await work(run)
          await guarded
          return result
        } catch (error) {
          if (!isLostConnection(error)) await run('ROLLBACK').catch(() => {})
          // If the guard failed, every later statement failed because of it, so the guard's error is thrown.
          await guarded
          throw error
        }
      }),
    )
  }

  /** Starts every write with a statement that fails if this program must not write; nothing is read or written after a failure. */
  guardWrites(guard: (run: Run) => Promise<unknown>): void {
    this.#guard = guard
  }

  async #withClient<Result>(answerMs: number, work: (run: Run) => Promise<Result>): Promise<Result> {
    if (this.#ended !== null) throw this.#ended
    const client = await this.#connect()
    let lost: Error | undefined
    try {
      return await work((sql, values) => this.#run(client, sql, values, answerMs))
    } catch (error) {
      if (isLostConnection(error)) lost = error as Error
      throw error
    } finally {
      client.release(lost)
    }
  }

  /** Connects to the current host. If it fails or is a standby, the next attempt goes to the next host. */
  async #connect(): Promise<pg.PoolClient> {
    const host = this.#host
    try {
      this.#pools ??= this.#openPools()
      const client = await ((await this.#pools)[host] as pg.Pool).connect()
      this.#hasConnected = true
      return client
    } catch (error) {
      this.#skipHost(host)
      throw error
    }
  }

  #skipHost(host: number): void {
    if (this.#host === host) this.#host = (host + 1) % this.address.hosts.length
  }

  async #run<Row>(
    client: pg.PoolClient,
    text: string,
    given: readonly unknown[] = [],
    answerMs = this.#answerMs,
  ): Promise<readonly Row[]> {
    // Through a pooler, the next statement may reach another PostgreSQL process, which does not know the prepared name.
    const named = given.length > 0 && !this.#pooled.has(client) ? { name: statementKeyOf(text) } : {}
    const query = { ...named, text, values: given.map(encodeValue), query_timeout: answerMs }
    return (await client.query<Row & object>(query)).rows
  }

  async #retryWhileUnavailable<Result>(work: () => Promise<Result>): Promise<Result> {
    const deadline = performance.now() + this.#patienceMs
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await work()
      } catch (error) {
        const isOver = performance.now() >= deadline || this.#ended !== null
        const isStandby = error instanceof StandbyError
        // The next host is tried without a pause.
        const hasOtherHost = attempt + 1 < this.address.hosts.length && (isStandby || isLostConnection(error))
        const isWorthwhile = hasOtherHost || (isStandby ? this.#hasConnected : mayPass(error, this.#hasConnected))
        if (isOver || !isWorthwhile) throw translateError(error, this.address)
        if (!hasOtherHost && codeOf(error) !== '40001' && codeOf(error) !== '40P01')
          await pause(Math.min(maxPauseMs, 20 * 2 ** attempt) * (0.5 + Math.random() / 2))
      }
    }
  }

  async close(): Promise<void> {
    this.#ended ??= new MemoryError('unavailable', 'The store has been closed.')
    await this.#dropReader(this.#reader)
    const pools = (await this.#pools?.catch(() => null)) ?? []
    await Promise.all(pools.map((pool) => (pool.ending ? null : pool.end())))
  }
}

class StandbyError extends Error {
  /** PostgreSQL's code for a write on a standby (read_only_sql_transaction). */
  readonly code = '25006'
}

/** The id of the server process, which the driver's types lack. */
const processIdOf = (client: pg.ClientBase): number => (client as unknown as { readonly processID: number }).processID

const names = new Map<string, string>()

/** The name of a prepared statement, the same on every connection of this process. */
function statementKeyOf(sql: string): string {
  const name = names.get(sql) ?? `credence_${names.size}`
  names.set(sql, name)
  return name
}

const int8 = 20
const textType = 25

const typeParsers =
  (driver: typeof pg) =>
  (oid: number, format?: 'text' | 'binary'): ((value: string) => unknown) => {
    if (format !== 'binary' && oid === int8) return Number
    if (format !== 'binary' && oid === textType) return decodeText
    return driver.types.getTypeParser(oid, format as 'text') as (value: string) => unknown
  }

function tlsOptions({ tls, rootCertificate }: PostgresAddress): false | TlsOptions {
  if (tls === 'off') return false
  if (rootCertificate === undefined) return { rejectUnauthorized: tls === 'verified' }
  try {
    return { rejectUnauthorized: true, ca: readFileSync(rootCertificate, 'utf8') }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw invalid(`The file of sslrootcert cannot be read: ${reason}`, 'Name a file with certificates in PEM format.')
  }
}
