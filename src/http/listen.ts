import { once } from 'node:events'
import { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createServer, Server as Listener } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { createAdaptorServer } from '@hono/node-server'
import { MemoryError } from '../errors.ts'

const loopback = '127.0.0.1'

export type Listening = {
  readonly url: string
  readonly port: number
  /** Takes no new requests and waits for those under way, but not for ever. */
  close(): Promise<void>
}

type Fetch = (request: Request) => Response | Promise<Response>

/** How long requests under way may take to end once the server is told to. */
const graceMs = 2_000

/** How long whatever is on its way is waited for. */
const settleMs = 50

/** So slow is nobody but who wants to hold a connection. */
const longestRequestMs = 30_000
const mostConnections = 1_000

/** Serves on this machine only. Port 0 is any that is free. */
export const listenOnLoopback = (fetch: Fetch, port: number): Promise<Listening> =>
  listen(fetch, { host: loopback, port })

/** Serves on one address. Whoever gives another one than loopback has made sure that it is wanted. */
export async function listen(
  fetch: Fetch,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listening> {
  // The global Request and Response stay as they are: others in this process rely on them.
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false })
  if (!(server instanceof Server)) throw new Error('the adaptor made a server of another protocol')
  server.headersTimeout = longestRequestMs / 3
  server.requestTimeout = longestRequestMs
  server.maxConnections = mostConnections
  const connections = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (cause) {
    throw await cannotListen({ host, port }, cause)
  }
  // Listening on a port, its address is one of the network.
  const { port: actual } = server.address() as AddressInfo
  return { url: `http://${urlHost(host)}:${actual}`, port: actual, close: () => closeServer(server, connections) }
}

const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/**
 * The server's own `close` would reset connections at once that nobody has looked at yet, though a request may have come
 * with them. So what has arrived is taken in first; then listening ends, and connections that have nothing to say.
 */
async function closeServer(server: Server, connections: ReadonlySet<Socket>): Promise<void> {
  let isClosed = false
  const closed = once(server, 'close').finally(() => {
    isClosed = true
  })
  const grace = setTimeout(() => server.closeAllConnections(), graceMs)
  await arrivals()
  Listener.prototype.close.call(server)
  while (!isClosed) {
    await arrivals()
    server.closeIdleConnections()
    // Browsers open connections ahead of time. One on which nothing was ever said does not count as idle.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
  }
  clearTimeout(grace)
  await closed
}

/** Waits until what is on its way is here: a connection takes a turn of the loop, and what came with it another. */
async function arrivals(): Promise<void> {
  await sleep(settleMs)
  for (let turn = 0; turn < 3; turn += 1) await nextTurn()
}

async function cannotListen(
  { host, port }: { readonly host: string; readonly port: number },
  cause: unknown,
): Promise<unknown> {
  switch (cause instanceof Error && 'code' in cause ? cause.code : undefined) {
    case 'EADDRINUSE':
      return new MemoryError('unavailable', `Port ${port} of ${host} is taken.`, {
        hint: `Port ${await freePort(host)} is free now; port 0 takes any that is.`,
        cause,
      })
    case 'EACCES':
      return new MemoryError('forbidden', `Port ${port} of ${host} may not be used.`, {
        hint: 'Ports below 1024 belong to the system; port 0 takes any that is free.',
        cause,
      })
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new MemoryError('invalid', `${host} is not an address of this machine.`, {
        hint: `Leave --host out for ${loopback}.`,
        cause,
      })
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
