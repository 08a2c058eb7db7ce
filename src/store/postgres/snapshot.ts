import { type Run, runOn, type Socket, sendTogether } from './socket.ts'

/** What a snapshot has assumed does not hold any more. */
export class OutdatedError extends Error {}

const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

/** A transaction that several reads share. It takes a connection and begins with the first of them. */
export class Snapshot {
  /** What was read for later calls. */
  readonly memo = new Map<string, unknown>()
  readonly #connect: () => Promise<Socket>
  #socket: Socket | null = null
  #begun: Promise<Run> | null = null
  #check: ((run: Run) => Promise<boolean>) | null = null
  #checked: Promise<boolean> | null = null
  #hasFound = false
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
    this.isOutdated ||= !isStill
    this.#hasFound = true
  }

  assume(check: (run: Run) => Promise<boolean>): boolean {
    if (this.#begun !== null || this.#check !== null) return false
    this.#check = check
    return true
  }

  /** Throws where what the reads assumed does not hold. */
  async confirm(alone: (check: (run: Run) => Promise<boolean>) => Promise<boolean>): Promise<void> {
    if (this.#check === null) return
    if (this.#checked === null && !this.#hasFound) this.#ask(alone(this.#check))
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
