import { listen } from '../../src/http/listen.ts'
import { serverAtHand } from '../http/server-at-hand.ts'

// Serves a dashboard in a separate process until standard input ends, so that a lock on its store does not block the test.
const server = await serverAtHand({ webDirectory: process.argv[2] as string, pollEveryMs: 60, busyTimeoutMs: 600_000 })
const { url, close } = await listen((request) => server.app.fetch(request), { host: '127.0.0.1', port: 0 })
process.stdin.resume().on('end', async () => {
  await close()
  await server[Symbol.asyncDispose]()
})
console.log(JSON.stringify({ url, dir: server.dir }))
