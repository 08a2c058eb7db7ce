import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { httpSystem } from '../../../src/eval/system/outside/http-system.ts'
import { belief, question } from './sample-records.ts'

const entry = fileURLToPath(new URL('../../../bin/credence.js', import.meta.url))

/** `credence eval serve` in a separate process that ends with the block. */
function serving(...args: readonly string[]) {
  const child = spawn(process.execPath, [entry, 'eval', 'serve', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    line: async (): Promise<string> => (await lines.next()).value ?? '',
    ended: async () => ({ code: await endOf(child), stderr }),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await endOf(child)
    },
  }
}

async function endOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode
}

const tea = belief('m-1', { name: 'tea_time', aliases: ['brew'] })

describe('credence eval serve', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('answers until %s, then exits with 0', async (signal) => {
    await using service = serving('--port', '0')
    const [url = ''] = (await service.line()).match(/http:\/\/127\.0\.0\.1:\d+/u) ?? []
    const system = httpSystem({ url })
    await system.reset()
    await system.ingest([tea])

    const { relevant } = await system.recall(question('a brew?'))
    service.child.kill(signal)

    expect(relevant).toMatchObject([{ id: 'm-1', clauses: [{ path: 'aliases', term: 'brew' }] }])
    expect(await service.ended()).toEqual({ code: 0, stderr: '' })
    await expect(system.reset()).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('immediately prints its address as JSON', async () => {
    await using service = serving('--port', '0', '--json')
    let text = ''
    while (!text.endsWith('}')) text += await service.line()

    const { url, port } = JSON.parse(text)

    expect(url).toBe(`http://127.0.0.1:${port}`)
    await httpSystem({ url }).reset()
  })

  it('finishes a pending request before it exits', async () => {
    await using service = serving('--port', '0')
    const [, port] = (await service.line()).match(/127\.0\.0\.1:(\d+)/u) ?? []
    const body = JSON.stringify({ query: 'tea', user_id: 'ada' })
    const socket = connect(Number(port), '127.0.0.1')
    const head = ['POST /search HTTP/1.1', 'host: localhost', 'connection: close', `content-length: ${body.length}`]
    socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`)
    // The same process answers this reset, so the request above has arrived by then.
    await httpSystem({ url: `http://127.0.0.1:${port}` }).reset()

    service.child.kill('SIGTERM')
    socket.write(body.slice(5))
    let answered = ''
    for await (const chunk of socket) answered += chunk

    expect(answered).toContain('200 OK')
    expect(answered).toContain('{"results":[]}')
    expect(await service.ended()).toEqual({ code: 0, stderr: '' })
  })

  it('suggests a free port if the requested one is in use', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const address = holder.address()
    const port = typeof address === 'object' ? String(address?.port) : ''
    try {
      await using service = serving('--port', port)

      const { code, stderr } = await service.ended()

      expect(code).toBe(3)
      expect(stderr).toContain(`Port ${port} of 127.0.0.1 is in use.`)
      expect(stderr).toMatch(/Try --port \d+/u)
    } finally {
      holder.close()
    }
  })

  it('refuses an invalid port', async () => {
    await using service = serving('--port', '65536')

    expect(await service.ended()).toMatchObject({ code: 2, stderr: expect.stringContaining('from 0 to 65535') })
  })
})
