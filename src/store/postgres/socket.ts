import type { Duplex } from 'node:stream'
import pg from 'pg'
import { isLostConnection } from './errors.ts'
import { decodeText, encodeValue } from './values.ts'

/** Runs one statement. Statements that are run without waiting in between travel in one round trip. */
export type Run = <Row>(sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>

export const connectMs = 10_000

/** The statements of ours that PostgreSQL is at work on: a pooler does not say which of its processes has this one. */
const ownWork = 'datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()'

/**
 * A connection that notices when the other end has vanished without closing it. The operating system would go on sending for a
 * quarter of an hour.
 */
export class Socket extends pg.Client {
  /** Added by the pool. */
  declare readonly release: (lost?: Error) => void
  /** Whether the connection keeps the process alive. */
  declare readonly ref: () => void
  declare readonly unref: () => void
  /** Whether a pooler lends the connection out to others between two transactions, or may do so. */
  isPooled = false
  readonly #config: pg.ClientConfig
  readonly #silentMs: number
  readonly #onUnreachable: () => void
  /** Whether it was closed or has failed. */
  isLost = false
  #waiting = 0
  /** When the last answer came, or the first statement was sent that waits for one. */
  #heardAt = 0
  #watch: NodeJS.Timeout | null = null
  #isAsking = false

  constructor(config: pg.ClientConfig, silentMs: number, onUnreachable: () => void) {
    super(config)
    this.#config = config
    this.#silentMs = silentMs
    this.#onUnreachable = onUnreachable
    // One of many overloads; the pool and this file use the one that returns a promise.
    const query = this.query.bind(this) as (...given: readonly unknown[]) => Promise<unknown>
    this.query = ((...given: readonly unknown[]) => {
      const answer = query(...given)
      this.#wait()
      answer.then(this.#heard, this.#heard)
      return answer
    }) as typeof this.query
    // pg passes them on to the pool only between uses.
    this.on('error', () => {
      this.isLost = true
    })
  }

  get #processId(): number {
    return (this as unknown as { readonly processID: number }).processID
  }

  /** Finds out what is at the other end. A pooler gives its clients numbers that are not those of processes of PostgreSQL. */
  async greet(): Promise<{ readonly isStandby: boolean }> {
    const { rows } = await this.query<{ standby: boolean; pid: number }>(
      'SELECT pg_is_in_recovery() AS standby, pg_backend_pid() AS pid',
    )
    this.isPooled = rows[0]?.pid !== this.#processId
    // Every statement goes by an index that begins with the owner, so there is nothing to plan anew for other values.
    if (!this.isPooled) this.query('SET plan_cache_mode = force_generic_plan').catch(() => {})
    // Fails where a pooler allows no transactions.
    else await Promise.all([this.query('BEGIN'), this.query('COMMIT')])
    return { isStandby: rows[0]?.standby === true }
  }

  /** Runs one statement. */
  run<Row>(sql: string, values: readonly unknown[]): Promise<readonly Row[]> {
    // The next statement may reach another process of PostgreSQL behind a pooler, which does not know the name.
    const name = values.length > 0 && !this.isPooled ? nameOf(sql) : undefined
    this.#wait()
    return new Promise((resolve, reject) => {
      const statement = new Statement(sql, values.map(encodeValue), name, (error, result) => {
        this.#heard()
        if (error) reject(error)
        else resolve(result.rows)
      })
      super.query(statement as unknown as pg.Submittable)
    })
  }

  #wait(): void {
    if (this.#waiting === 0) this.#heardAt = performance.now()
    this.#waiting += 1
    this.#watch ??= setTimeout(this.#look, this.#silentMs).unref()
  }

  readonly #heard = (): void => {
    this.#waiting -= 1
    this.#heardAt = performance.now()
  }

  /** One timer watches over all statements: one for each would take longer than some of them. */
  readonly #look = (): void => {
    this.#watch = null
    if (this.#waiting === 0) return
    const leftMs = this.#heardAt + this.#silentMs - performance.now()
    if (leftMs <= 0) void this.#ask()
    this.#watch = setTimeout(this.#look, leftMs <= 0 ? this.#silentMs : leftMs).unref()
  }

  /** Asks on another connection whether the server is at work for this one. Where it is not, the connection is given up. */
  async #ask(): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    const { connection } = this as unknown as { connection: { stream: Duplex } }
    const other = new pg.Client({ ...this.#config, connectionTimeoutMillis: connectMs, query_timeout: connectMs })
    other.on('error', () => {})
    try {
      await other.connect()
      const work = this.isPooled ? ownWork : `pid = ${this.#processId}`
      const { rowCount } = await other.query(`SELECT FROM pg_stat_activity WHERE ${work} AND state NOT LIKE 'idle%'`)
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

type Done = (error: Error | null | undefined, result: { readonly rows: readonly never[] }) => void
type Columns = { readonly fields: readonly unknown[] }
type DriverConnection = { readonly stream: Duplex; readonly _send: (message: Buffer) => unknown }

/** The parts of the driver's query that its types do not show. */
type DriverQuery = {
  name: string | undefined
  submit(connection: DriverConnection): Error | null
  prepare(connection: DriverConnection): void
  hasBeenParsed(connection: DriverConnection): boolean
  handleRowDescription(columns: Columns): void
}
const Query = pg.Query as unknown as new (sql: string, values: unknown[], done: Done) => DriverQuery

/** The columns of prepared statements, which are the same for every execution. */
const columnsOf = new Map<string, Columns>()

/** A statement with a name. After its first execution, PostgreSQL is not asked for its columns, and all messages are one piece. */
class Statement extends Query {
  constructor(sql: string, values: unknown[], name: string | undefined, done: Done) {
    // The driver would copy a name that is given with the text, and all settings, property by property.
    super(sql, values, done)
    this.name = name
  }

  override handleRowDescription(columns: Columns): void {
    if (this.name !== undefined) columnsOf.set(this.name, columns)
    super.handleRowDescription(columns)
  }

  override submit(connection: DriverConnection): Error | null {
    const columns = this.name === undefined ? undefined : columnsOf.get(this.name)
    if (columns === undefined || !this.hasBeenParsed(connection)) return super.submit(connection)
    super.handleRowDescription(columns)
    const messages: Buffer[] = []
    const brief = Object.assign(Object.create(connection), {
      describe: () => {},
      _send: (message: Buffer) => messages.push(message),
    })
    this.prepare(brief)
    if (connection.stream.writable) connection.stream.write(Buffer.concat(messages))
    return null
  }
}

/** Statements that are sent now and by what goes on at once leave in one write: each wakes the server. */
export function sendTogether(socket: Socket): void {
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

export const runOn =
  (socket: Socket): Run =>
  <Row>(sql: string, values: readonly unknown[] = []) =>
    socket.run<Row>(sql, values)

const [int8, textType] = [20, 25]

export function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (format !== 'binary' && oid === int8) return Number
  if (format !== 'binary' && oid === textType) return decodeText
  return pg.types.getTypeParser(oid, format as 'text') as (value: string) => unknown
}
