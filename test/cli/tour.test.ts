import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createSandbox } from './sandbox.ts'

describe('tour', () => {
  it('shows real results, in 80 columns, and leaves no files', async () => {
    using place = createSandbox()

    const { exitCode, stdout, stderr } = await place.run('tour')

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout.split('\n').filter((line) => [...line].length > 80)).toEqual([])
    expect(stdout).toContain('"reedis" (read as "redis") means its name "Redis"')
    expect(stdout).toMatch(/superseded +Invoices are due in 14 days\./)
    expect(stdout).toMatch(/"colour palette" \(b-\w+\): it belongs to project:website/)
    expect([place.home, place.work, place.temporary].flatMap((path) => readdirSync(path))).toEqual([])
  })

  it('has different beliefs every time, because nothing in it is prepared', async () => {
    using place = createSandbox()
    const ids = async () => [...new Set((await place.run('tour')).stdout.match(/b-[0-9a-z]{12}/g))]

    const first = await ids()
    const second = await ids()

    expect(first.length).toBeGreaterThan(5)
    expect(first.filter((id) => second.includes(id))).toEqual([])
  })

  it('as a document recalls correctly for every message', async () => {
    using place = createSandbox()

    const scenes: { steps: { command: string | null; result: { relevant?: { belief: { name: string } }[] } }[] }[] =
      await place.json('tour')

    const recalls = scenes.flatMap(({ steps }) => steps).filter(({ result }) => result.relevant !== undefined)
    expect(recalls.map(({ result }) => result.relevant?.map(({ belief }) => belief.name))).toEqual([
      ['payment terms'],
      ['Redis'],
      [],
      ['Ada Okafor'],
      ['payment terms'],
      ['release day'],
    ])
  })
})
