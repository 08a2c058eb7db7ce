import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { type HostNames, loopbackNames, sameOriginOnly } from './same-origin.ts'

const statusOf = async (hosts: HostNames, headers: Record<string, string>): Promise<number> => {
  const app = new Hono()
  app.use(sameOriginOnly(hosts))
  app.get('/', (context) => context.text('here'))
  return (await app.request('/', { headers })).status
}

describe('a server that others can reach', () => {
  const everywhere: HostNames = { ...loopbackNames, anyAddress: true }

  it('is addressed by an IP address, so that no foreign page can reach it through a host name', async () => {
    for (const host of ['192.0.2.7:4777', '[2001:db8::7]:4777', 'localhost:4777']) {
      expect(await statusOf(everywhere, { host })).toBe(200)
    }
    for (const host of ['evil.example', '192.0.2.7.evil.example', '192.0.2.7@evil.example']) {
      expect(await statusOf(everywhere, { host })).toBe(403)
    }
  })

  it('answers pages of its own address, and no others', async () => {
    const host = '192.0.2.7:4777'

    expect(await statusOf(everywhere, { host, origin: `http://${host}` })).toBe(200)
    expect(await statusOf(everywhere, { host, origin: 'http://192.0.2.8:4777' })).toBe(403)
  })
})

it('accepts any port in its address, because a tunnel may use another one', async () => {
  const host = 'localhost:9000'

  expect(await statusOf(loopbackNames, { host, origin: 'http://localhost:9000' })).toBe(200)
  expect(await statusOf(loopbackNames, { host, origin: 'http://localhost:4777' })).toBe(403)
  expect(await statusOf(loopbackNames, { host: '192.0.2.7' })).toBe(403)
})
