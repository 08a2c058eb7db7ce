// One filled system in a separate process, so that it shares its memory and garbage collector with no other system.
// Reports when it is ready and how much memory it uses, then answers lists of messages with the milliseconds of each.
import { recall } from '../../src/memory/recall/recall.ts'
import { openPorts } from '../../src/open-memory.ts'
import { benchScope, generateBeliefs } from '../corpus.ts'
import { formIndexPeers } from '../peers/form-indexes.ts'

const [system = '', size = '', dir = ''] = process.argv.slice(2)
const before = settledBytes()
const started = performance.now()
const search = await opened()
process.send?.({ readyMs: performance.now() - started, bytes: settledBytes() - before })

process.on('message', async (messages: readonly string[]) => {
  const tookMs: number[] = []
  for (const message of messages) {
    const start = performance.now()
    await search(message)
    tookMs.push(performance.now() - start)
  }
  process.send?.(tookMs)
})

async function opened(): Promise<(message: string) => unknown> {
  const peer = formIndexPeers.find(({ name }) => name === system)
  if (peer !== undefined) {
    const index = await peer.build(generateBeliefs({ count: Number(size), seed: 1 }))
    return (message) => index.search(message)
  }
  const ports = openPorts(dir)
  return (message) => recall(ports, { user: 'local', scopes: [benchScope], message })
}

/** Resident memory after garbage collection. */
function settledBytes(): number {
  for (let time = 0; time < 3; time += 1) globalThis.gc?.()
  return process.memoryUsage.rss()
}
