import { listen } from '../../src/http/listen.ts'
import { startTestServer } from '../http/test-server.ts'

// Serves a dashboard in a separate process until standard input ends, so that a lock on its store does not block the test.
const server = await startTestServer({
  webDirectory: process.argv[2] as string,
  pollEveryMs: 60,
  busyTimeoutMs: 600_000,
})
const { url, close } = await listen((request) => server.app.fetch(request), { host: '127.0.0.1', port: 0 })
process.stdin.resume().on('end', async () => {
  await close()
  await server[Symbol.asyncDispose]()
})
console.log(JSON.stringify({ url, dir: server.dir }))
