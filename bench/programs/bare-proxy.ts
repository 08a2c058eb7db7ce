// The least a proxy can do: read a request, send it on over a kept connection, and send the answer back.
import { Agent, createServer, request } from 'node:http'

const { hostname: host, port } = new URL(process.argv[2] ?? '')
const agent = new Agent({ keepAlive: true })
const server = createServer((incoming, outgoing) => {
  const { method, url: path, headers } = incoming
  const asked = request({ agent, host, port, method, path, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(outgoing)
  })
  incoming.pipe(asked)
})
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify(server.address())))
