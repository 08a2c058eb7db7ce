import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Asked = { readonly method: string; readonly path: string; readonly body: unknown }
/** Answers one request. A request that it does not answer stays pending until the server closes. */
export type Script = (asked: Asked, response: ServerResponse) => void

/** A real local server that answers from a script and records its requests. */
export async function scriptedServer(script: Script) {
  const asked: Asked[] = []
  const server = createServer(async (incoming, response) => {
    let text = ''
    for await (const chunk of incoming) text += chunk
    const { method = '', url: path = '' } = incoming
    const request = { method, path, body: text === '' ? null : JSON.parse(text) }
    asked.push(request)
    script(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

export const answer = (response: ServerResponse, body: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}
