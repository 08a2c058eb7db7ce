import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A TCP proxy before a server on this machine that cuts connections, as a failing network does. */
export class CuttingProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Bytes, of both directions, that pass before the connections are cut; null for never. */
  #left: number | null = null
  readonly #silent = new Set<Socket>()
  passed = 0
  cuts = 0

  private constructor(target: number) {
    this.#server = createServer((client) => {
      const upstream = connect(target, '127.0.0.1')
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        this.#sockets.add(from)
        from.on('error', () => {})
        from.on('close', () => {
          this.#sockets.delete(from)
          to.destroy()
        })
        from.on('data', (chunk: Buffer) => {
          if (this.#silent.has(from)) return
          const left = this.#left
          if (left === null || chunk.length <= left) {
            this.passed += chunk.length
            if (left !== null) this.#left = left - chunk.length
            to.write(chunk)
          } else {
            // The part before the cut arrives, so that messages are cut in their middle too.
            to.write(chunk.subarray(0, left), () => this.#cut())
          }
        })
      }
    })
  }

  static async start(target: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /** Cuts every connection once, after so many bytes. Counted in bytes because in how many pieces they come is chance. */
  cutAfter(bytes: number): void {
    this.#left = bytes
  }

  /** Nothing passes any more on the connections that there are, and none is closed, as where a machine or its network vanishes. */
  silence(): void {
    for (const socket of this.#sockets) this.#silent.add(socket)
  }

  #cut(): void {
    if (this.#left === null) return
    this.#left = null
    this.cuts += 1
    for (const socket of this.#sockets) socket.destroy()
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
