import { once } from 'node:events'
import { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createServer, Server as Listener } from 'node:net'
import { setTimeout as sleep, setImmediate as yieldToEvents } from 'node:timers/promises'
import { createAdaptorServer } from '@hono/node-server'
import { MemoryError } from '../errors.ts'
import { codeOf } from '../files/leftovers.ts'

const loopback = '127.0.0.1'

export type Listening = {
  readonly url: string
  readonly port: number
  /** Stops accepting requests, and waits a moment for the open ones. */
  close(): Promise<void>
}

type Address = {
  readonly host: string
  readonly port: number
  /** The command prefix for the hint about a port in use, such as `npm start --`. Without it, the hint names only options. */
  readonly typed?: string | undefined
}
/** `env` has Node's request and response objects. */
type Fetch = (request: Request, env: object) => Response | Promise<Response>

/** How long to wait for open requests when the server closes. */
const graceMs = 2_000
/** How long to wait for packets in transit. */
const settleMs = 50
/** Connections with slower requests are closed, so that they do not occupy a slot. */
const maxRequestMs = 30_000
const maxOpenConnections = 1_000
/**
 * How long a connection may wait for its next request. Longer than the idle timeouts of common clients, because a request
 * fails if the server is just closing its connection.
 */
const keepAliveMs = 30_000

/** Listens on the loopback address. Port 0 picks any free port. */
export const listenOnLoopback = (fetch: Fetch, port: number): Promise<Listening> =>
  listen(fetch, { host: loopback, port })

/** Listens on one address. The caller must have checked that an address other than loopback is wanted. */
export async function listen(fetch: Fetch, address: Address): Promise<Listening> {
  // Keeps the global Request and Response, on which other code in this process relies.
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false })
  if (!(server instanceof Server)) throw new Error('the adaptor made a server of another protocol')
  return listenWith(server, address)
}

/** Like `listen`, with the caller's server. */
export async function listenWith(server: Server, address: Address): Promise<Listening> {
  const { host } = address
  server.headersTimeout = maxRequestMs / 3
  server.requestTimeout = maxRequestMs
  server.keepAliveTimeout = keepAliveMs
  server.maxConnections = maxOpenConnections
  const connections = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  try {
    server.listen(address.port, host)
    await once(server, 'listening')
  } catch (cause) {
    throw await listenError(address, cause)
  }
  // A server that listens on a port has an `AddressInfo`.
  const { port: actual } = server.address() as AddressInfo
  const urlHost = host.includes(':') ? `[${host}]` : host
  return { url: `http://${urlHost}:${actual}`, port: actual, close: () => closeServer(server, connections) }
}

/**
 * `server.close()` would reset accepted connections that were not read yet, even if they contain a request. Therefore
 * pending connections are read first; then the server stops listening and closes idle connections.
 */
async function closeServer(server: Server, connections: ReadonlySet<Socket>): Promise<void> {
  let isClosed = false
  server.once('close', () => {
    isClosed = true
  })
  const grace = setTimeout(() => server.closeAllConnections(), graceMs)
  await waitForPendingReads()
  Listener.prototype.close.call(server)
  while (!isClosed) {
    await waitForPendingReads()
    server.closeIdleConnections()
    // Browsers open connections in advance. Node does not count one without a request as idle, so these are closed here.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
  }
  clearTimeout(grace)
}

/** Waits for packets in transit. Accepting a connection and reading from it each take a turn of the event loop. */
async function waitForPendingReads(): Promise<void> {
  await sleep(settleMs)
  for (let turn = 0; turn < 3; turn += 1) await yieldToEvents()
}

async function listenError({ host, port, typed }: Address, cause: unknown): Promise<unknown> {
  switch (codeOf(cause)) {
    case 'EADDRINUSE': {
      const free = await freePort(host)
      const hint =
        typed === undefined
          ? `Try --port ${free}, or --port 0 for any free port.`
          : `Try \`${typed} --port ${free}\`, or \`${typed} --port 0\` for any free port.`
      return new MemoryError('unavailable', `Port ${port} of ${host} is in use.`, { hint, cause })
    }
    case 'EACCES': {
      const hint = 'Ports below 1024 belong to the system. Use --port 0 for any free port.'
      return new MemoryError('forbidden', `Port ${port} of ${host} is not allowed.`, { hint, cause })
    }
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND': {
      const hint = `Leave --host out for ${loopback}.`
      return new MemoryError('invalid', `${host} is not an address of this machine.`, { hint, cause })
    }
    default:
      return cause
  }
}

async function freePort(host: string): Promise<number> {
  const probe = createServer().listen(0, host)
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
