import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createSandbox, endOf } from './sandbox.ts'

const zone = process.env.TZ
afterEach(() => {
  process.env.TZ = zone
})

const zones = ['UTC', 'America/Halifax', 'Pacific/Auckland'] as const
const message = 'My kayak is stored in the shed of Anselm.'
const question = 'Where is my kayak stored?'

/** A memory with one turn, said at this time. */
async function placeWith(at: string) {
  const place = createSandbox()
  await place.run('hear', message, '--at', at, '--session', 'evening')
  return place
}

/** All dates that the commands show for the turn. */
async function shownDays(place: ReturnType<typeof createSandbox>): Promise<readonly (string | undefined)[]> {
  const [turn] = (await place.json('conversations', 'show', 'evening')).turns
  const commands = [
    ['recall', question],
    ['recall', question, '--render'],
    ['search', question],
    ['conversations'],
    ['conversations', 'show', 'evening'],
    ['why', 'What is for dinner?', turn.id],
    ['forget', '--session', 'evening', '--dry-run'],
  ]
  const days: (string | undefined)[] = []
  for (const argv of commands) {
    const { stdout, stderr } = await place.run(...argv)
    days.push(/2026-05-\d\d(?: \d\d:\d\d)?/.exec(stdout)?.[0] ?? `${argv[0]}: ${stdout}${stderr}`)
  }
  return days
}
const everywhere = (day: string, minute: string) => [day, day, day, day, minute, day, day]

describe('a turn', () => {
  it.each(zones)('of the 8th at 20:15-04:00 is shown as the 8th in %s', async (name) => {
    process.env.TZ = name
    using place = await placeWith('2026-05-08T20:15:00-04:00')

    expect(await shownDays(place)).toEqual(everywhere('2026-05-08', '2026-05-08 20:15'))
  })

  it.each([
    ['UTC', '2026-05-09', '2026-05-09 00:15'],
    ['America/Halifax', '2026-05-08', '2026-05-08 21:15'],
    ['Pacific/Auckland', '2026-05-09', '2026-05-09 12:15'],
  ])('without an offset is shown in the time zone of the process: %s', async (name, day, minute) => {
    process.env.TZ = name
    using place = await placeWith('2026-05-09T00:15:00Z')

    expect(await shownDays(place)).toEqual(everywhere(day, minute))
  })

  it('is shown in the time zone of TZ', async () => {
    using place = await placeWith('2026-05-09T00:15:00Z')

    const { stdout } = await endOf(place.start(['conversations'], { env: { TZ: 'America/Halifax' } }))

    expect(stdout).toMatch(/^2026-05-08 /m)
  })

  it('keeps its time in UTC and its offset in JSON', async () => {
    using place = await placeWith('2026-05-08T20:15:00-04:00')

    const { turns } = await place.json('conversations', 'show', 'evening')
    const { items } = await place.json('conversations')
    const { quotes } = await place.json('search', question)

    expect(turns).toMatchObject([{ at: '2026-05-09T00:15:00.000Z', utcOffset: -240 }])
    expect(items).toMatchObject([{ lastAt: '2026-05-09T00:15:00.000Z', utcOffset: -240 }])
    expect(quotes).toMatchObject([{ at: '2026-05-09T00:15:00.000Z', utcOffset: -240 }])
  })

  it('keeps its offset in an export and an import, and the journal verifies', async () => {
    using place = await placeWith('2026-05-08T20:15:00-04:00')
    using other = createSandbox()
    const file = join(other.work, 'turns.jsonl')
    const { stdout } = await place.run('export', '--turns')
    writeFileSync(file, stdout)

    await other.run('import', 'chats', file)

    expect(JSON.parse(stdout)).toMatchObject({ at: '2026-05-08T20:15:00.000-04:00' })
    expect((await other.json('conversations', 'show', 'evening')).turns).toMatchObject([{ utcOffset: -240 }])
    expect((await other.run('export', '--turns')).stdout).toBe(stdout)
    expect((await place.run('doctor')).exitCode).toBe(0)
  })

  it('keeps the offset of a file from another program', async () => {
    using place = createSandbox()
    const file = join(place.work, 'session.jsonl')
    const record = { type: 'user', sessionId: 'evening', timestamp: '2026-05-08T20:15:00-04:00' }
    writeFileSync(file, JSON.stringify({ ...record, uuid: 'm-1', message: { role: 'user', content: message } }))

    await place.run('import', 'chats', file, '--from', 'claude-code')

    const [turn] = (await place.json('conversations', 'show', 'evening')).turns
    expect(turn).toMatchObject({ at: '2026-05-09T00:15:00.000Z', utcOffset: -240 })
  })
})

describe.each([
  ['UTC', '2026-05-08T00:00:00Z', '2026-05-08T23:59:59.999Z'],
  ['America/Halifax', '2026-05-08T03:00:00Z', '2026-05-09T02:59:59.999Z'],
  ['Pacific/Auckland', '2026-05-07T12:00:00Z', '2026-05-08T11:59:59.999Z'],
])('a day without a time in %s', (name, start, end) => {
  it('covers the day from its first to its last moment there', async () => {
    process.env.TZ = name
    using place = createSandbox()
    const beside = (time: string, ms: number) => new Date(Date.parse(time) + ms).toISOString()
    for (const at of [beside(start, -1), start, end, beside(end, 1)])
      await place.run('hear', `My kayak was there, I noted at ${at}.`, '--at', at, '--session', at)
    const found = async (...options: readonly string[]): Promise<readonly string[]> => {
      const { items } = await place.json('conversations', ...options)
      const times: string[] = items.map(({ lastAt }: { lastAt: string }) => lastAt)
      return times.sort()
    }
    const before = beside(start, -1)
    const first = beside(start, 0)
    const last = end
    const after = beside(end, 1)

    expect(await found('--since', '2026-05-08')).toEqual([first, last, after])
    expect(await found('--until', '2026-05-08')).toEqual([before, first, last])
    expect(await found('--since', '2026-05-08', '--until', '2026-05-08')).toEqual([first, last])
    const { quotes } = await place.json('search', 'Where was my kayak?', '--as-of', '2026-05-08')
    expect(quotes.map(({ at }: { at: string }) => at).sort()).toEqual([before, first, last])
  })
})

it('a belief that was remembered in the evening belongs to that day', async () => {
  process.env.TZ = 'America/Halifax'
  using place = createSandbox()
  const file = join(place.work, 'beliefs.jsonl')
  const evening = '2026-05-09T00:15:00.000Z'
  const belief = { name: 'kayak', content: 'It is in the shed.', createdAt: evening, updatedAt: evening }
  writeFileSync(file, JSON.stringify({ ...belief, provenance: { actor: 'person', origin: 'cli', at: evening } }))
  await place.run('import', file)

  const { stdout } = await place.run('show', 'kayak')

  expect(stdout).toContain('2026-05-08 21:15\n')
  expect(stdout).not.toContain('UTC')
})

it('a statement of an evening gets dates relative to that evening', async () => {
  using place = createSandbox()
  const said = 'Remember that the dentist comes tomorrow.'
  await place.run('hear', said, '--at', '2026-05-08T20:15:00-04:00', '--session', 'a')
  process.env.TZ = 'America/Halifax'
  await place.run('hear', said.replace('dentist', 'plumber'), '--at', '2026-05-09T00:15:00Z', '--session', 'b')

  const { items } = await place.json('list')

  expect(items.map(({ content }: { content: string }) => content).sort()).toEqual([
    'the dentist comes tomorrow [2026-05-09].',
    'the plumber comes tomorrow [2026-05-09].',
  ])
})

it('a benchmark is run in UTC, regardless of the time zone', async () => {
  process.env.TZ = 'Pacific/Auckland'
  using place = createSandbox()

  await place.run('benchmark', 'run', 'unknown-pack')

  expect(new Date(0).getHours()).toBe(0)
})
