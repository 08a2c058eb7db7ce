// A minimal proxy: reads a request, forwards it over a persistent connection, and returns the response.
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
