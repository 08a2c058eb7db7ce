import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { listenOnLoopback } from './listen.ts'

const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'

const readToEnd = async (socket: ReturnType<typeof connect>): Promise<string> => {
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  await once(socket, 'close')
  return text
}

describe('a closing server', () => {
  it('answers requests that have arrived but were not read yet', async () => {
    const { port, close } = await listenOnLoopback(async () => new Response('here'), 0)
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')

    socket.write(request)
    const closed = close()

    expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n.*here/su)
    await closed
  })

  it('does not wait for idle connections, and accepts no new ones', async () => {
    const { port, close } = await listenOnLoopback(async () => new Response('here'), 0)
    const silent = connect(port, '127.0.0.1')
    await once(silent, 'connect')
    const heard = readToEnd(silent)

    await close()

    expect(await heard).toBe('')
    await expect(once(connect(port, '127.0.0.1'), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  it('waits for an answer that is being computed', async () => {
    let answer = (_response: Response): void => {}
    const asked = Promise.withResolvers<void>()
    const { port, close } = await listenOnLoopback(() => {
      asked.resolve()
      return new Promise<Response>((resolve) => {
        answer = resolve
      })
    }, 0)
    const socket = connect(port, '127.0.0.1')
    socket.write(request)
    await asked.promise

    const closed = close()
    answer(new Response('at last'))

    expect(await readToEnd(socket)).toContain('at last')
    await closed
  })
})

it('announces a keep-alive of 30 seconds', async () => {
  const { url, close } = await listenOnLoopback(async () => new Response('here'), 0)

  const { headers } = await fetch(url)

  expect(headers.get('keep-alive')).toBe('timeout=30')
  await close()
})
