import { AsyncLocalStorage } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { ConnectionOptions as TlsOptions } from 'node:tls'
import pg from 'pg'
import { invalid, MemoryError } from '../../errors.ts'
import { type PostgresAddress, parseAddress } from './address.ts'
import { codeOf, isLostConnection, mayPass, translated } from './errors.ts'
import { OutdatedError, Snapshot } from './snapshot.ts'
import { connectMs, getTypeParser, type Run, runOn, Socket } from './socket.ts'

export type { Run }

/** How long a call goes on trying while the server is away, starting, or being replaced by its standby. */
const defaultPatienceMs = 30_000
const longestPauseMs = 500
/** After this time without an answer, PostgreSQL is asked whether it is at work on the statement. */
const defaultSilentMs = 5_000
/** A shared connection that is not used for this time goes back to the pool. */
const restMs = 1_000
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

/** A pool of connections that knows which errors pass, and tries again. */
export class Connection {
  readonly address: PostgresAddress
  readonly #patienceMs: number
  readonly #pool: pg.Pool
  readonly #snapshots = new AsyncLocalStorage<Snapshot>()
  #hasConnected = false
  /** Why nothing can be read or written any more. */
  #ended: MemoryError | null = null
  #guard: ((run: Run) => Promise<unknown>) | null = null

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
    class NextHost extends Socket {
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
      verify: (socket: Socket, done: (error?: Error) => void) => {
        socket.greet().then(
          ({ isStandby }) => {
            if (isStandby) nextHost()
            done(isStandby ? new StandbyError() : undefined)
          },
          (error) => done(error),
        )
      },
    }
    const pool = new pg.Pool(config as unknown as pg.PoolConfig)
    const connect = pool.connect.bind(pool) as unknown as () => Promise<Socket>
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
      if (this.#ended !== null) throw this.#ended
      const snapshot = new Snapshot(() => this.#takeSocket())
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
        const guarded = this.#guard?.(run)
        guarded?.catch((error) => {
          if (error instanceof MemoryError) this.#ended ??= error
        })
        try {
          const result = await work(run, attempt)
          await guarded
          return result
        } catch (error) {
          if (!isLostConnection(error)) await socket.query('ROLLBACK').catch(() => {})
          // After a guard that failed, so does every statement of the transaction.
          await guarded
          throw error
        }
      }),
    )
    await this.#renewSnapshot()
    return result
  }

  /** Begins every write with a statement that fails where this program must not go on; nothing is read or written after that. */
  guardWrites(guard: (run: Run) => Promise<unknown>): void {
    this.#guard = guard
  }

  /** Reads after a write of the same caller see it. */
  async #renewSnapshot(): Promise<void> {
    const snapshot = this.#snapshots.getStore()
    await snapshot?.renew()
  }

  async #withSocket<Result>(work: (socket: Socket) => Promise<Result>): Promise<Result> {
    if (this.#ended !== null) throw this.#ended
    const socket = await this.#takeSocket()
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

  /** A connection for the caller alone. */
  #takeSocket(): Promise<Socket> {
    if (this.#shared?.users === 0) this.#endSharing(this.#shared)
    return this.#connect()
  }

  /** The connection of single statements. They are pipelined: none waits for the answer to another. */
  #shared: SharedSocket | null = null

  async #withSharedSocket<Result>(work: (socket: Socket) => Promise<Result>): Promise<Result> {
    if (this.#ended !== null) throw this.#ended
    if (this.#shared?.users === 0 && this.#shared.socket?.isLost === true) this.#endSharing(this.#shared)
    this.#shared ??= this.#share()
    const shared = this.#shared
    if (shared.users === 0) shared.socket?.ref()
    shared.users += 1
    shared.isInUse = true
    try {
      return await work(shared.socket ?? (await shared.connected))
    } catch (error) {
      if (isLostConnection(error)) shared.lost = error as Error
      throw error
    } finally {
      shared.users -= 1
      if (shared.socket === null || shared.lost !== undefined) this.#endSharing(shared)
      else if (shared.users === 0) this.#rest(shared)
    }
  }

  #share(): SharedSocket {
    const connected = this.#connect()
    const shared: SharedSocket = { connected, socket: null, users: 0, isInUse: true, rest: null, lost: undefined }
    connected.then(
      (socket) => {
        shared.socket = socket
      },
      () => {},
    )
    return shared
  }

  /**
   * Between statements, the shared connection is kept for a while: to take it from the pool for each would take half as long as the
   * statement. It goes back for others who wait for a connection, and meanwhile lets the process end.
   */
  #rest(shared: SharedSocket): void {
    if (this.#shared !== shared || this.#ended !== null || this.#pool.waitingCount > 0) {
      this.#endSharing(shared)
      return
    }
    shared.socket?.unref()
    shared.rest ??= setInterval(() => {
      if (shared.users === 0 && !shared.isInUse) this.#endSharing(shared)
      shared.isInUse = false
    }, restMs).unref()
  }

  /** Gives the shared connection back to the pool, as soon as nothing waits on it. */
  #endSharing(shared: SharedSocket): void {
    if (this.#shared === shared) this.#shared = null
    if (shared.users > 0) return
    if (shared.rest !== null) clearInterval(shared.rest)
    shared.socket?.release(shared.lost ?? (shared.socket.isLost ? new Error('Connection terminated') : undefined))
  }

  async #patiently<Result>(work: (attempt: number) => Promise<Result>): Promise<Result> {
    const deadline = performance.now() + this.#patienceMs
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await work(attempt)
      } catch (error) {
        const isOver = performance.now() >= deadline || this.#ended !== null
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
    this.#ended ??= new MemoryError('unavailable', 'The store has been closed.')
    if (this.#shared?.users === 0) this.#endSharing(this.#shared)
    if (!this.#pool.ending) await this.#pool.end()
  }
}

class StandbyError extends Error {}

type SharedSocket = {
  readonly connected: Promise<Socket>
  /** Null until it is connected. */
  socket: Socket | null
  users: number
  /** Whether it was used since the timer last looked. */
  isInUse: boolean
  rest: NodeJS.Timeout | null
  lost: Error | undefined
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
