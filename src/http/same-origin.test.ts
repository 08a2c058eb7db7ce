import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { type HostNames, loopbackNames, sameOriginOnly } from './same-origin.ts'

const statusOf = async (hosts: HostNames, headers: Record<string, string>): Promise<number> => {
  const app = new Hono()
  app.use(sameOriginOnly(hosts))
  app.get('/', (context) => context.text('here'))
  return (await app.request('/', { headers })).status
}

describe('a server that others may reach', () => {
  const everywhere: HostNames = { ...loopbackNames, anyAddress: true }

  it('is asked for by an address in digits, which no page elsewhere can be led to by a name', async () => {
    for (const host of ['192.0.2.7:4777', '[2001:db8::7]:4777', 'localhost:4777']) {
      expect(await statusOf(everywhere, { host })).toBe(200)
    }
    for (const host of ['evil.example', '192.0.2.7.evil.example', '192.0.2.7@evil.example']) {
      expect(await statusOf(everywhere, { host })).toBe(403)
    }
  })

  it('answers pages of the address it is asked for by, and no other', async () => {
    const host = '192.0.2.7:4777'

    expect(await statusOf(everywhere, { host, origin: `http://${host}` })).toBe(200)
    expect(await statusOf(everywhere, { host, origin: 'http://192.0.2.8:4777' })).toBe(403)
  })
})

it('is asked for on any port, since a tunnel may have another one', async () => {
  const host = 'localhost:9000'

  expect(await statusOf(loopbackNames, { host, origin: 'http://localhost:9000' })).toBe(200)
  expect(await statusOf(loopbackNames, { host, origin: 'http://localhost:4777' })).toBe(403)
  expect(await statusOf(loopbackNames, { host: '192.0.2.7' })).toBe(403)
})
