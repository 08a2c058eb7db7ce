import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/open-memory.ts'
import { createSandbox, endOf } from '../cli/sandbox.ts'
import { call } from './served-memory.ts'
import { stdioClient } from './stdio-clients.ts'

const servers = 4
// Below the limit of 500 beliefs that all agents together may store in an hour.
const callsEach = 100
const overHttp = 80
const byCommandLine = 40

describe('one store', () => {
  it('has every write once that several servers and the command line acknowledge at the same time', {
    timeout: 120_000,
  }, async () => {
    using place = createSandbox()
    const dir = `${place.path}/memory`
    const scope = 'project:shared'
    const options = ['--dir', dir, '--scope', scope]
    const clients = await Promise.all(
      Array.from({ length: servers }, (_, index) =>
        stdioClient(place, { mode: index % 2 === 0 ? 'legacy' : 'modern', name: `agent-${index}`, options }),
      ),
    )
    // Stored beforehand, so that the server has a memory to serve.
    await place.json('init', '--dir', dir)
    const server = await servedOverHttp(place, options)
    const acknowledged = new Map<string, string>()

    const byMcp = clients.flatMap((client, index) =>
      Array.from({ length: callsEach }, async (_, turn) => {
        const name = `item ${index} of ${turn}q`
        const { isError, text, value } = await call(client, 'memory_remember', {
          names: [name],
          statement: `Said by ${index}.`,
        })
        if (isError) throw new Error(text)
        acknowledged.set(name, (value.belief as { id: string }).id)
      }),
    )
    const byHttp = Array.from({ length: overHttp }, async (_, turn) => {
      const name = `posted ${turn}q`
      acknowledged.set(name, await server.remember(name))
    })
    const byHand = (async () => {
      for (let turn = 0; turn < byCommandLine; turn += 1) {
        const name = `hand ${turn}q`
        const { belief } = await place.json('remember', 'By hand.', '--name', name, ...options)
        acknowledged.set(name, belief.id)
      }
    })()
    await Promise.all([...byMcp, ...byHttp, byHand])
    await Promise.all([...clients.map((client) => client.close()), server.end()])

    const memory = openMemory({ dir, scopes: [scope] })
    const kept = new Map<string, string>()
    for await (const { name, id } of memory.export()) {
      expect(kept.has(name), name).toBe(false)
      kept.set(name, id)
    }
    const origins = new Set((await memory.events({ limit: 2_000 })).map(({ origin }) => origin))
    await memory.close()
    expect(acknowledged.size).toBe(servers * callsEach + overHttp + byCommandLine)
    expect(kept).toEqual(acknowledged)
    expect([...origins].sort()).toEqual(['cli', 'http', 'mcp:agent-0', 'mcp:agent-1', 'mcp:agent-2', 'mcp:agent-3'])
  })
})

async function servedOverHttp(place: ReturnType<typeof createSandbox>, options: readonly string[]) {
  const child = place.start(['serve', ...options, '--port', '0', '--json'])
  const ending = endOf(child)
  let printed = ''
  for await (const chunk of child.stdout) {
    printed += chunk
    if (printed.trimEnd().endsWith('}')) break
  }
  const { url, link } = JSON.parse(printed) as { readonly url: string; readonly link: string }
  const headers = {
    authorization: `Bearer ${new URL(link).hash.replace('#token=', '')}`,
    'content-type': 'application/json',
  }
  return {
    remember: async (name: string): Promise<string> => {
      const body = JSON.stringify({ name, content: 'Posted.' })
      const response = await fetch(`${url}/api/v1/beliefs`, { method: 'POST', headers, body })
      const { belief } = (await response.json()) as { readonly belief: { readonly id: string } }
      if (response.status !== 201) throw new Error(`${response.status}`)
      return belief.id
    },
    end: async () => {
      child.kill('SIGTERM')
      expect((await ending).exitCode).toBe(0)
    },
  }
}
