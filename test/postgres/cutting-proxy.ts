import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A TCP proxy in front of a local server that cuts connections like a failing network. */
export class CuttingProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** The number of bytes, in both directions, after which the connections are cut; null for never. */
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
            // Sends the part before the cut, so that messages are also cut in the middle.
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

  /** Cuts every connection once, after this many bytes. Counted in bytes, because the number of packets varies. */
  cutAfter(bytes: number): void {
    this.#left = bytes
  }

  /** Drops all traffic of the open connections without closing them, as if the machine or its network had vanished. */
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
