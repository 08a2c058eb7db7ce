import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/**
 * A local proxy that forwards requests to a port. If `loses` returns true, it cuts the connection instead of returning the answer, after
 * the server has done the work. Without a server, the connection is cut too.
 */
export async function losingProxy(loses: () => boolean) {
  let target: number | null = null
  let lost = 0
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method, url, headers } = incoming
    const passed = request({ host: '127.0.0.1', port: target ?? 0, method, path: url, headers, agent: false })
    passed.end(await buffer(incoming))
    const [answer] = (await once(passed, 'response')) as [IncomingMessage]
    const body = await buffer(answer)
    if (loses()) {
      lost += 1
      outgoing.destroy()
    } else outgoing.writeHead(answer.statusCode ?? 0, answer.headers).end(body)
  }
  const server = createServer((incoming, outgoing) => {
    if (target === null) outgoing.destroy()
    else pass(incoming, outgoing).catch(() => outgoing.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passTo: (port: number | null): void => {
      target = port
    },
    lost: () => lost,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
