import type { Connection } from './connection.ts'

/** The number a user has in this store, or null for someone it never heard of. */
export class Users {
  readonly #connection: Connection
  readonly #known = new Map<string, number>()

  constructor(connection: Connection) {
    this.#connection = connection
    connection.onChange(() => this.#known.clear())
  }

  find(name: string): number | null {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const id = this.#connection.statement<[string], { id: number }>('SELECT id FROM users WHERE name = ?').get(name)?.id
    if (id === undefined) return null
    this.#known.set(name, id)
    return id
  }

  findOrAdd(name: string): number {
    return (
      this.find(name) ??
      Number(this.#connection.statement<[string]>('INSERT INTO users (name) VALUES (?)').run(name).lastInsertRowid)
    )
  }
}
