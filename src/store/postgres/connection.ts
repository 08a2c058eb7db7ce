import { AsyncLocalStorage } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { ConnectionOptions as TlsOptions } from 'node:tls'
import pg from 'pg'
import { invalid, MemoryError } from '../../errors.ts'
import { type PostgresAddress, parseAddress } from './address.ts'
import { codeOf, isLostConnection, mayPass, translated } from './errors.ts'
import { decodeText, encodeValue } from './values.ts'

/** Runs one statement. Statements that are run without waiting in between travel in one round trip. */
export type Run = <Row>(sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>

/** How long a call goes on trying while the server is away, starting, or being replaced by its standby. */
const defaultPatienceMs = 30_000
const longestPauseMs = 500
const connectMs = 10_000
/** After this time without an answer, PostgreSQL is asked whether it is at work on the statement. */
const defaultSilentMs = 5_000
/** A transaction whose program died without closing its connection ends after this time, and its locks with it. */
const idleTransactionMs = 10_000

export type ConnectionOptions = {
  readonly address: string
  readonly patienceMs?: number | undefined
  /** For tests. */
  readonly silentMs?: number
  /** Most connections of this process. Default 10. */
  readonly connections?: number
}

type Socket = pg.PoolClient

/** A pool of connections that knows which errors pass, and tries again. */
export class Connection {
  readonly address: PostgresAddress
  readonly #patienceMs: number
  readonly #pool: pg.Pool
  readonly #snapshots = new AsyncLocalStorage<Snapshot>()
  #hasConnected = false
  #isClosed = false

  constructor({
    address,
    patienceMs = defaultPatienceMs,
    silentMs = defaultSilentMs,
    connections = 10,
  }: ConnectionOptions) {
    this.address = parseAddress(address)
    this.#patienceMs = patienceMs
    this.#pool = this.#openPool(connections, silentMs)
    // A connection that dies while nobody uses it is replaced when one is needed.
    this.#pool.on('error', () => {})
  }

  #openPool(connections: number, silentMs: number): pg.Pool {
    const { hosts, user, password, database } = this.address
    let turn = 0
    const nextHost = (): void => {
      turn += 1
    }
    /** Each new connection goes to the next host after one that failed or is a standby. */
    class NextHost extends WatchedClient {
      constructor(config: pg.ClientConfig) {
        // The pool hides the password from copies of its settings.
        super({ ...config, password, ...hosts[turn % hosts.length] }, silentMs, nextHost)
      }
    }
    const config = {
      Client: NextHost,
      user,
      database,
      max: connections,
      pipeline: true,
      ssl: tlsOptions(this.address),
      application_name: 'credence',
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      idleTimeoutMillis: 60_000,
      // A command ends when its work is done.
      allowExitOnIdle: true,
      types: { getTypeParser },
      // pg passes the socket's error events to the pool only between uses.
      verify: (client: pg.Client, done: (error?: Error) => void) => {
        client.on('error', () => {})
        // Every statement goes by an index that begins with the owner, so there is nothing to plan anew for other values.
        client.query('SET plan_cache_mode = force_generic_plan').catch(() => {})
        client.query('SELECT pg_is_in_recovery() AS standby').then(
          ({ rows }) => {
            if (rows[0]?.standby === true) nextHost()
            done(rows[0]?.standby === true ? new StandbyError() : undefined)
          },
          (error) => done(error),
        )
      },
    }
    const pool = new pg.Pool(config as unknown as pg.PoolConfig)
    const connect = pool.connect.bind(pool) as () => Promise<Socket>
    this.#connect = async () => {
      try {
        const socket = await connect()
        this.#hasConnected = true
        return socket
      } catch (error) {
        if (!(error instanceof StandbyError)) nextHost()
        throw error
      }
    }
    return pool
  }

  #connect: () => Promise<Socket> = () => Promise.reject(new Error('The pool is not open.'))

  /** Runs reads: in the snapshot of the caller where there is one, else each statement by itself. */
  async read<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    const snapshot = this.#snapshots.getStore()
    // Errors end the whole snapshot, which is then tried again.
    if (snapshot !== undefined) return work((sql, values) => snapshot.run(sql, values))
    return this.#patiently(() => this.#withSocket((socket) => work(runOn(socket))))
  }

  /** Runs one statement that goes by a key: in the snapshot of the caller where there is one, else on a shared connection. */
  async readByKey<Row>(sql: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const snapshot = this.#snapshots.getStore()
    if (snapshot !== undefined) return snapshot.run<Row>(sql, values)
    return this.#patiently(() => this.#withSharedSocket((socket) => runOn(socket)<Row>(sql, values)))
  }

  /** What earlier reads of the caller's snapshot have kept for later ones; null outside of one. */
  get memo(): Map<string, unknown> | null {
    return this.#snapshots.getStore()?.memo ?? null
  }

  /**
   * Lets the caller's snapshot answer from memory. `check` travels with its first read, or alone after the last one; where it
   * says no, the snapshot is tried again. False where the snapshot has begun already, or there is none.
   */
  assume(check: (run: Run) => Promise<boolean>): boolean {
    return this.#snapshots.getStore()?.assume(check) ?? false
  }

  /**
   * Runs one statement that also reads what the caller's snapshot has assumed, which needs no transaction. Null where the
   * snapshot assumes nothing, or has begun.
   */
  async readChecked<Row>(
    sql: string,
    values: readonly unknown[],
    isStill: (rows: readonly Row[]) => boolean,
  ): Promise<readonly Row[] | null> {
    const snapshot = this.#snapshots.getStore()
    if (snapshot?.isUnbegun !== true) return null
    const rows = await this.#withSharedSocket((socket) => runOn(socket)<Row>(sql, values))
    snapshot.found(isStill(rows))
    return rows
  }

  /** Runs work that is no part of the caller's snapshot. */
  apart<Result>(work: () => Result): Result {
    return this.#snapshots.exit(work)
  }

  /** Runs several reads on one state of the database. `work` is run again when the connection is lost. */
  async withSnapshot<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#snapshots.getStore() !== undefined) return work()
    return this.#patiently(async () => {
      if (this.#isClosed) throw new MemoryError('unavailable', 'The store has been closed.')
      const snapshot = new Snapshot(this.#connect)
      let lost: Error | undefined
      try {
        const result = await this.#snapshots.run(snapshot, work)
        await snapshot.confirm((check) => this.#withSharedSocket((socket) => check(runOn(socket))))
        return result
      } catch (error) {
        if (isLostConnection(error)) lost = error as Error
        // Work on an outdated assumption may fail in any way.
        else if (snapshot.isOutdated) throw new OutdatedError()
        throw error
      } finally {
        snapshot.end(lost)
      }
    })
  }

  /**
   * Runs a transaction that writes, and runs it again when it fails for a reason that passes. `attempt` is 0 at first. The work
   * must not depend on what an earlier attempt did: that may have been committed all the same.
   */
  async write<Result>(work: (run: Run, attempt: number) => Promise<Result>): Promise<Result> {
    const result = await this.#patiently((attempt) =>
      this.#withSocket(async (socket) => {
        const run = runOn(socket)
        const begun = socket.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${idleTransactionMs}`)
        begun.catch(() => {})
        try {
          return await work(run, attempt)
        } catch (error) {
          if (!isLostConnection(error)) await socket.query('ROLLBACK').catch(() => {})
          throw error
        }
      }),
    )
    await this.#renewSnapshot()
    return result
  }

  /** Reads after a write of the same caller see it. */
  async #renewSnapshot(): Promise<void> {
    const snapshot = this.#snapshots.getStore()
    await snapshot?.renew()
  }

  async #withSocket<Result>(work: (socket: Socket) => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw new MemoryError('unavailable', 'The store has been closed.')
    const socket = await this.#connect()
    let lost: Error | undefined
    try {
      return await work(socket)
    } catch (error) {
      if (isLostConnection(error)) lost = error as Error
      throw error
    } finally {
      socket.release(lost)
    }
  }

  /** The connection of single statements, while there are any. They are pipelined: none waits for the answer to another. */
  #shared: { readonly socket: Promise<Socket>; users: number; lost: Error | undefined } | null = null

  async #withSharedSocket<Result>(work: (socket: Socket) => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw new MemoryError('unavailable', 'The store has been closed.')
    this.#shared ??= { socket: this.#connect(), users: 0, lost: undefined }
    const shared = this.#shared
    shared.users += 1
    let socket: Socket | null = null
    try {
      socket = await shared.socket
      return await work(socket)
    } catch (error) {
      if (isLostConnection(error)) shared.lost = error as Error
      throw error
    } finally {
      shared.users -= 1
      const isLast = shared.users === 0
      if (this.#shared === shared && (isLast || socket === null || shared.lost !== undefined)) this.#shared = null
      if (isLast) socket?.release(shared.lost)
    }
  }

  async #patiently<Result>(work: (attempt: number) => Promise<Result>): Promise<Result> {
    const deadline = performance.now() + this.#patienceMs
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await work(attempt)
      } catch (error) {
        const isOver = performance.now() >= deadline || this.#isClosed
        if (error instanceof OutdatedError && !isOver) continue
        const isStandby = error instanceof StandbyError
        // Another host is asked at once.
        const hasOtherHost = attempt + 1 < this.address.hosts.length && (isStandby || isLostConnection(error))
        const isWorthwhile = hasOtherHost || (isStandby ? this.#hasConnected : mayPass(error, this.#hasConnected))
        if (isOver || !isWorthwhile) throw isStandby ? this.#standbyProblem() : translated(error, this.address)
        if (!hasOtherHost && codeOf(error) !== '40001' && codeOf(error) !== '40P01')
          await pause(Math.min(longestPauseMs, 20 * 2 ** attempt) * (0.5 + Math.random() / 2))
      }
    }
  }

  #standbyProblem(): MemoryError {
    return new MemoryError('unavailable', `${this.address.label} is a read-only standby.`, {
      hint: 'Name the primary, or all hosts with a comma between them; the one that accepts writes is used.',
    })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#pool.end()
  }
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

/**
 * A connection that notices when the other end has vanished without closing it. The operating system would go on sending for a
 * quarter of an hour.
 */
class WatchedClient extends pg.Client {
  readonly #config: pg.ClientConfig
  readonly #silentMs: number
  readonly #onUnreachable: () => void
  #waiting = 0
  #isAsking = false

  constructor(config: pg.ClientConfig, silentMs: number, onUnreachable: () => void) {
    super(config)
    this.#config = config
    this.#silentMs = silentMs
    this.#onUnreachable = onUnreachable
    // One of many overloads; the pool and this file use the one that returns a promise.
    const query = this.query.bind(this) as (...given: readonly unknown[]) => Promise<unknown>
    this.query = ((...given: readonly unknown[]) => this.#watched(query(...given))) as typeof this.query
  }

  #watched<Result>(answer: Promise<Result>): Promise<Result> {
    const timer = setInterval(() => void this.#ask(), this.#silentMs).unref()
    this.#waiting += 1
    const end = (): void => {
      clearInterval(timer)
      this.#waiting -= 1
    }
    answer.then(end, end)
    return answer
  }

  /** Asks on another connection whether the server is at work for this one. Where it is not, the connection is given up. */
  async #ask(): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    const { processID, connection } = this as unknown as { processID: number; connection: { stream: Duplex } }
    const other = new pg.Client({ ...this.#config, connectionTimeoutMillis: connectMs, query_timeout: connectMs })
    other.on('error', () => {})
    try {
      await other.connect()
      const { rowCount } = await other.query(`SELECT FROM pg_stat_activity WHERE pid = $1 AND state NOT LIKE 'idle%'`, [
        processID,
      ])
      if (rowCount === 0 && this.#waiting > 0) connection.stream.destroy()
    } catch (error) {
      // A server that refuses a connection is there.
      if (isLostConnection(error) && this.#waiting > 0) {
        this.#onUnreachable()
        connection.stream.destroy()
      }
    } finally {
      this.#isAsking = false
      other.end().catch(() => {})
    }
  }
}

class StandbyError extends Error {}
class OutdatedError extends Error {}

const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

/** A transaction that several reads share. It takes a connection and begins with the first of them. */
class Snapshot {
  /** What was read for later calls. */
  readonly memo = new Map<string, unknown>()
  readonly #connect: () => Promise<Socket>
  #socket: Socket | null = null
  #begun: Promise<Run> | null = null
  #check: ((run: Run) => Promise<boolean>) | null = null
  #checked: Promise<boolean> | null = null
  #hasEnded = false
  isOutdated = false

  constructor(connect: () => Promise<Socket>) {
    this.#connect = connect
  }

  readonly run: Run = async (sql, values) => {
    if (this.#hasEnded) throw new Error('The snapshot has ended.')
    this.#begun ??= this.#begin()
    return (await this.#begun)(sql, values)
  }

  async #begin(): Promise<Run> {
    this.#socket = await this.#connect()
    const run = runOn(this.#socket)
    sendTogether(this.#socket)
    // Nobody waits for this one: it travels with the first read.
    this.#socket.query(begin).catch(() => {})
    if (this.#check !== null) this.#ask(this.#check(run))
    return run
  }

  #ask(checked: Promise<boolean>): void {
    this.#checked = checked.then((isStill) => {
      this.isOutdated ||= !isStill
      return isStill
    })
    this.#checked.catch(() => {})
  }

  /** Whether something is assumed, and no transaction has begun. */
  get isUnbegun(): boolean {
    return this.#begun === null && this.#check !== null
  }

  /** Notes whether the assumption holds, as a statement of its own has found. */
  found(isStill: boolean): void {
    this.#ask(Promise.resolve(isStill))
  }

  assume(check: (run: Run) => Promise<boolean>): boolean {
    if (this.#begun !== null || this.#check !== null) return false
    this.#check = check
    return true
  }

  /** Throws where what the reads assumed does not hold. */
  async confirm(alone: (check: (run: Run) => Promise<boolean>) => Promise<boolean>): Promise<void> {
    if (this.#check === null) return
    if (this.#checked === null) this.#ask(alone(this.#check))
    await this.#checked
    if (this.isOutdated) throw new OutdatedError()
  }

  /** Reads that follow see what was written meanwhile. */
  async renew(): Promise<void> {
    this.memo.clear()
    this.#check = null
    if (this.#begun === null) return
    await this.run('COMMIT')
    await this.run(begin)
  }

  end(lost: Error | undefined): void {
    // A read that nobody waited for may still be about to begin.
    this.#hasEnded = true
    this.#begun?.then(
      () => {
        if (lost === undefined) this.#socket?.query('COMMIT').catch(() => {})
        this.#socket?.release(lost)
      },
      () => {},
    )
  }
}

/** Statements that are sent now and by what goes on at once leave in one write: each wakes the server. */
function sendTogether(socket: Socket): void {
  const { stream } = (socket as unknown as { readonly connection: { readonly stream: Duplex } }).connection
  stream.cork()
  process.nextTick(() => stream.uncork())
}

const names = new Map<string, string>()

/** Prepared statements have names, which are the same in every process of one version. */
function nameOf(sql: string): string {
  const known = names.get(sql)
  if (known !== undefined) return known
  const name = `credence_${names.size}`
  names.set(sql, name)
  return name
}

const runOn =
  (socket: Socket): Run =>
  async <Row>(sql: string, values: readonly unknown[] = []) => {
    const query =
      values.length === 0 ? { text: sql } : { name: nameOf(sql), text: sql, values: values.map(encodeValue) }
    return (await socket.query(query)).rows as readonly Row[]
  }

const [int8, textType] = [20, 25]

function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (format !== 'binary' && oid === int8) return Number
  if (format !== 'binary' && oid === textType) return decodeText
  return pg.types.getTypeParser(oid, format as 'text') as (value: string) => unknown
}
