import { readdirSync, rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { remember } from '../../src/memory/change/remember.ts'
import { nothingTaken, personalMemory, withoutLine } from './mirrored-memory.ts'

const person = { actor: 'person', origin: 'test' } as const

type Place = ReturnType<typeof personalMemory>

/** Remembers without the mirror looking on, so that it has much to catch up with. */
async function fill({ ports }: Place, count: number, scopes: readonly string[], length = 60): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const draft = { name: `fact ${scopes[0]} ${index}`, content: `${index} ${'x'.repeat(length)}`, scopes }
    await remember(ports, { user: 'local', author: person, draft })
  }
}

const sizeOf = (text: string) => ({ lines: text.split('\n').length, bytes: Buffer.byteLength(text) })

describe('MEMORY.md', () => {
  it('stays below 200 lines and 25 KB: a scope that is too large has files of its own, linked with counts', async () => {
    await using place = personalMemory()
    await fill(place, 450, ['project:ledger'])
    await fill(place, 20, ['user:universal'])
    await fill(place, 60, ['domain:code'], 300)

    await place.sync()

    const text = place.text()
    expect(sizeOf(text).lines).toBeLessThan(200)
    expect(sizeOf(text).bytes).toBeLessThan(25_000)
    expect(text).toContain(
      '- [project:ledger](project-ledger.md): 450 beliefs in 3 files, up to [part 3](project-ledger-3.md)',
    )
    expect(text).toContain('fact user:universal 19')
    expect((await place.status()).items).toBe(530)
    const everything = readdirSync(place.dir)
      .filter((name) => name.endsWith('.md'))
      .map((name) => place.text(name))
      .join('')
    expect(everything.match(/credence:b-/gu)).toHaveLength(530)
    expect((await place.sync()).written).toEqual([])
  })

  it('grows out of its limits one belief at a time, and each belief stands in one place', async () => {
    await using place = personalMemory()
    const { memory } = place
    for (let index = 0; index < 120; index += 1) {
      const scopes = [['user:universal'], ['project:a'], ['project:b']][index % 3] as string[]
      await memory.remember({ name: `fact ${index}`, content: `${index} ${'word '.repeat(60)}end`, scopes })
      const { lines, bytes } = sizeOf(place.text())
      expect(lines).toBeLessThan(200)
      expect(bytes).toBeLessThan(25_000)
    }

    const files = ['MEMORY.md', ...(await place.status()).topicFiles]
    const shown = files.flatMap((name) => [...place.text(name).matchAll(/credence:(b-\w+)/gu)].map(([, id]) => id))
    expect(shown).toHaveLength(120)
    expect(new Set(shown).size).toBe(120)
  })

  it('is followed by its other files: they can be edited, corrected and deleted just the same', async () => {
    await using place = personalMemory()
    const { memory } = place
    await fill(place, 210, ['project:ledger'])
    await place.sync()
    const [, part] = ['project-ledger.md', 'project-ledger-2.md']

    place.edit((text) => withoutLine(text, 'fact project:ledger 205').replace('206 xx', '206 yy'), part)
    place.edit((text) => `${text}- **new one**: in the second part\n`, part)
    const { taken } = await place.sync()

    expect(taken).toEqual({ ...nothingTaken, corrected: 1, added: 1, retired: 1 })
    expect(await memory.get('new one')).toMatchObject({ scopes: ['project:ledger'] })
    expect(place.text()).toContain('210 beliefs in 2 files')

    await memory.correct('fact project:ledger 207', { content: 'otherwise' })
    await memory.forget('fact project:ledger 208')
    expect(place.text(part)).toContain('otherwise')
    expect(place.text(part)).not.toContain('fact project:ledger 208')

    rmSync(place.path(part))
    await place.sync()
    expect(place.text(part)).toContain('otherwise')
    expect((await memory.list({ current: true })).total).toBe(209)
  })

  it('does not take over a file of the same name that is somebody else’s', async () => {
    await using place = personalMemory()
    const { writeFileSync } = await import('node:fs')
    await place.memory.remember({ name: 'a', content: 'b' })
    writeFileSync(place.path('project-ledger.md'), 'mine\n')

    await fill(place, 200, ['project:ledger'])
    await place.sync()

    expect(place.text('project-ledger.md')).toBe('mine\n')
    expect((await place.status()).topicFiles).toEqual([expect.stringMatching(/^project-ledger-[0-9a-f]{6}\.md$/u)])
  })

  it('links to the first of a great many scopes, and counts the others', async () => {
    await using place = personalMemory()
    for (let index = 0; index < 90; index += 1) await fill(place, 2, [`project:p${index}`], 150)

    await place.sync()

    expect(sizeOf(place.text()).lines).toBeLessThan(200)
    expect(sizeOf(place.text()).bytes).toBeLessThan(25_000)
    const everything = readdirSync(place.dir)
      .filter((name) => name.endsWith('.md'))
      .map((name) => place.text(name))
      .join('')
    expect(everything.match(/credence:b-/gu)).toHaveLength(180)
    const links = place.text().match(/\(project-p\d+\.md\)/gu) ?? []
    const { topicFiles } = await place.status()
    expect(links).toHaveLength(39)
    expect(place.text()).toContain(`- ${topicFiles.length - 39} more scopes have files of their own beside this one`)
    expect((await place.sync()).written).toEqual([])
  })

  it('holds a statement of any length', async () => {
    await using place = personalMemory()
    await place.memory.remember({ name: 'long', content: 'word '.repeat(1_999).trim() })
    await place.memory.remember({ name: 'longer', content: 'line\n'.repeat(1_900).trim() })

    expect(sizeOf(place.text()).lines).toBeLessThan(200)
    expect(sizeOf(place.text()).bytes).toBeLessThan(25_000)
    expect((await place.sync()).taken).toEqual(nothingTaken)
  })

  it('links to files that are there, also after the first of a scope was deleted', async () => {
    await using place = personalMemory()
    await fill(place, 250, ['project:ledger'])
    await place.sync()
    const half = place.text('project-ledger.md').split('\n').slice(0, 40).join('\n')
    place.edit(() => half, 'project-ledger.md')
    await place.sync({ accept: true })
    rmSync(place.path('project-ledger.md'))

    await place.sync()

    const links = [...place.text().matchAll(/\]\(([^)]+\.md)\)/gu)].map(([, name = '']) => name)
    expect(links.filter((name) => !place.has(name))).toEqual([])
    expect(links).toContain('project-ledger-2.md')
  })
})
