import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { openAt, postgresPrograms, sharedCluster, undurable } from '../../src/store/postgres/cluster.contract.ts'
import { commitOf, present, sample } from '../../src/store/sample-beliefs.contract.ts'
import { recalled } from '../recall/recalled.contract.ts'

/** Passes connections on to a port, and counts how often the client speaks after the server has answered. */
async function countingProxy(port: number) {
  const counted = { roundTrips: 0, connections: 0 }
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    counted.connections += 1
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {}).setNoDelay(true)
    }
    let hasAnswered = true
    client.on('data', (data) => {
      if (hasAnswered) counted.roundTrips += 1
      hasAnswered = false
      upstream.write(data)
    })
    upstream.on('data', (data) => {
      hasAnswered = true
      client.write(data)
    })
    client.on('close', () => upstream.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { port: (server.address() as AddressInfo).port, counted, close }
}

describe.skipIf(postgresPrograms === null)('A recall on PostgreSQL', () => {
  const cluster = sharedCluster(undurable)
  const closing: (() => unknown)[] = []
  afterAll(async () => {
    for (const close of closing) await close()
  })

  async function opened() {
    const address = await (await cluster()).newDatabase()
    const proxy = await countingProxy((await cluster()).port)
    const direct = openAt(address)
    const beliefs = ['Redis', 'release train', 'kubernetes cluster'].map((name, at) =>
      sample({ id: `b${at}`, name, scopes: ['project:ledger'], pinned: at === 1 }),
    )
    await direct.commit(commitOf(beliefs.map((belief) => present(belief))))
    const store = openAt(address.replace(/:\d+\//u, `:${proxy.port}/`), { connections: 1 })
    closing.push(
      () => store.close(),
      () => direct.close(),
      proxy.close,
    )
    const trips = async (message: string): Promise<number> => {
      // Answered after the COMMIT of the recall before, which nobody waits for, on the same connection.
      await store.scopes('ada')
      const before = proxy.counted.roundTrips
      const context = await recalled(store, message, null, false)
      expect(context.relevant).toHaveLength(1)
      return proxy.counted.roundTrips - before
    }
    return { trips }
  }

  it('takes two round trips', { timeout: 120_000 }, async () => {
    const { trips } = await opened()
    await trips('Where is Redis?')

    expect(await trips('Which kubernetes cluster?')).toBeLessThanOrEqual(2)
  })
})
