import { chmodSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { lineOf, nothingTaken, personalMemory, withoutLine } from './mirrored-memory.ts'

const names = ['a', 'b', 'c', 'd']

async function memoryWithFourBeliefs() {
  const place = personalMemory()
  for (const name of names) await place.memory.remember({ name, content: `what ${name} is` })
  return place
}

type Place = Awaited<ReturnType<typeof memoryWithFourBeliefs>>

/** Ways in which a file is unreliable, each with its repair. */
const faults: readonly (readonly [reason: string, damage: (place: Place) => () => void])[] = [
  ['it is empty', (place) => replaced(place, '')],
  ['it is empty', (place) => replaced(place, ' \n\n\t')],
  ['it is not UTF-8 text', (place) => replaced(place, Buffer.from([0x23, 0x20, 0xff, 0xfe, 0x0a]))],
  ['it is not UTF-8 text', (place) => replaced(place, Buffer.from(`\ufeff${place.text()}`, 'utf16le'))],
  ['at most 4194304 are read', (place) => replaced(place, 'x'.repeat(5 * 1024 * 1024))],
  ['4 of 4 items are gone', (place) => replaced(place, '# Memory\n\nSomething else.\n')],
  ['2 of 4 items are gone', (place) => replaced(place, withoutLine(withoutLine(place.text(), 'a'), 'b'))],
  [
    'it is a symbolic link',
    (place) => {
      renameSync(place.path(), place.path('elsewhere'))
      symlinkSync(place.path('elsewhere'), place.path())
      return () => renameSync(place.path('elsewhere'), place.path())
    },
  ],
  [
    'it is a hard link',
    (place) => {
      linkSync(place.path(), place.path('other-name'))
      return () => rmSync(place.path('other-name'))
    },
  ],
  [
    'it is a directory',
    (place) => {
      renameSync(place.path(), place.path('elsewhere'))
      mkdirSync(place.path())
      return () => {
        rmSync(place.path(), { recursive: true })
        renameSync(place.path('elsewhere'), place.path())
      }
    },
  ],
]

function replaced(place: Place, content: string | Buffer): () => void {
  const before = place.text()
  writeFileSync(place.path(), content)
  return () => writeFileSync(place.path(), before)
}

describe('an unreliable file', () => {
  it.each(faults)('is held, and nothing is changed anywhere: %s', async (reason, damage) => {
    await using place = await memoryWithFourBeliefs()
    const events = (await place.memory.events({ limit: 100 })).length
    const repair = damage(place)

    const { outcome, held, written } = await place.sync()

    expect({ outcome, written }).toEqual({ outcome: 'held', written: [] })
    expect(held?.reason).toContain(reason)
    expect(await place.memory.events({ limit: 100 })).toHaveLength(events)
    expect((await place.status()).held?.reason).toContain(reason)

    // The store still works and reports that the file is paused.
    await place.memory.remember({ name: 'e', content: 'what e is' })
    expect(place.problems).toEqual([expect.stringContaining(reason)])

    repair()
    expect(await place.sync()).toMatchObject({ outcome: 'synced', held: null })
    expect(Object.keys(await place.beliefs()).sort()).toEqual([...names, 'e'])
    for (const name of [...names, 'e']) expect(lineOf(place.text(), name)).toContain(`what ${name} is`)
    expect((await place.status()).isInSync).toBe(true)
  })

  it.skipIf(process.getuid?.() === 0)('is held if it may not be read', async () => {
    await using place = await memoryWithFourBeliefs()
    chmodSync(place.path(), 0)

    expect(await place.sync()).toMatchObject({ outcome: 'held', held: { reason: 'it may not be read' } })

    chmodSync(place.path(), 0o600)
    expect(await place.sync()).toMatchObject({ outcome: 'synced', written: [] })
  })

  it('is accepted if a person confirms that the lines are meant to be gone', async () => {
    await using place = await memoryWithFourBeliefs()
    place.edit((text) => withoutLine(withoutLine(text, 'a'), 'b'))
    expect((await place.sync()).outcome).toBe('held')

    const { outcome, taken } = await place.sync({ accept: true })

    expect({ outcome, retired: taken.retired }).toEqual({ outcome: 'synced', retired: 2 })
    expect(Object.keys(await place.beliefs()).sort()).toEqual(['c', 'd'])

    await place.memory.undo()

    expect(Object.keys(await place.beliefs()).sort()).toEqual(names)
  })

  it('is held if a large part of many items is gone, and not if a few are', async () => {
    await using place = personalMemory()
    for (let index = 0; index < 50; index += 1)
      await place.memory.remember({ name: `n${index}`, content: `is ${index}` })

    place.edit((text) => Array.from({ length: 11 }, (_, index) => `n${index}`).reduce(withoutLine, text))
    expect((await place.sync()).held?.reason).toBe('11 of 50 items are gone from it')
    place.edit((text) => text.replace('### Facts\n\n', '### Facts\n\n- **n0**: is 0\n'))

    expect(await place.sync()).toMatchObject({ outcome: 'synced', taken: { retired: 10, added: 0, corrected: 0 } })
  })

  it('is written again if it is missing, unlike an empty file', async () => {
    await using place = await memoryWithFourBeliefs()
    rmSync(place.path())

    await place.sync()

    for (const name of names) expect(lineOf(place.text(), name)).toContain(`what ${name} is`)
    expect(Object.keys(await place.beliefs()).sort()).toEqual(names)
  })

  it('is read again if the records of the mirror are damaged, and no word of it is lost', async () => {
    await using place = await memoryWithFourBeliefs()
    place.edit((text) => withoutLine(text, 'a').replace('what b is', 'what b became'))
    writeFileSync(place.path('state/mirror/mirror.json'), '{"format": 1, "us')
    expect((await place.status()).problem).toContain('cannot be read')

    expect((await place.sync()).taken).toEqual({ ...nothingTaken, corrected: 1, retired: 1 })
    expect(await place.beliefs()).toEqual({ b: 'what b became', c: 'what c is', d: 'what d is' })
  })

  it('deletes nothing if the records of the mirror are gone, because its earlier contents are unknown', async () => {
    await using place = await memoryWithFourBeliefs()
    place.edit((text) => withoutLine(text, 'a').replace('what b is', 'what b became'))
    rmSync(place.path('state/mirror'), { recursive: true })

    expect((await place.sync()).taken).toEqual({ ...nothingTaken, corrected: 1 })
    expect(await place.beliefs()).toMatchObject({ a: 'what a is', b: 'what b became', c: 'what c is' })
    expect(lineOf(place.text(), 'a')).toContain('what a is')
    expect(place.text().match(/credence:b-/gu)).toHaveLength(4)
  })
})
