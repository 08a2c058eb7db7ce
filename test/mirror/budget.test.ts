import { rmSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { nothingTaken, personalMemory, withoutLine } from './mirrored-memory.ts'

type Place = ReturnType<typeof personalMemory>

/** Imports beliefs in one change, so that the mirror writes its file once. */
async function fill({ memory }: Place, count: number, scope: string, fields: object = {}, length = 60): Promise<void> {
  const records = Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      name: `${scope} ${index}q`,
      content: `${index} ${'x'.repeat(length)}`,
      scopes: [scope],
      ...fields,
    }),
  )
  await memory.import(records.join('\n'), { trusted: true })
}

const shownIn = (text: string): readonly string[] =>
  [...text.matchAll(/credence:(b-\w+)/gu)].map(([, id]) => id as string)

function expectSmall(text: string): void {
  expect(text.split('\n').length).toBeLessThan(200)
  expect(Buffer.byteLength(text)).toBeLessThan(25_000)
}

const total = async ({ memory }: Place): Promise<number> => (await memory.list({ current: true, limit: 1 })).total

describe('a file that cannot show every belief', () => {
  it('stays below 200 lines and 25 KB, shows pinned, standing and latest beliefs, and names the place of the others', async () => {
    await using place = personalMemory()
    await fill(place, 3, 'project:old', { pinned: true })
    await fill(place, 4, 'user:universal', { type: 'preference' })
    await fill(place, 450, 'project:ledger')
    await fill(place, 60, 'domain:code', {}, 100)
    await place.memory.remember({ name: 'newest', content: 'the last one', scopes: ['project:z'] })

    const text = place.text()

    expectSmall(text)
    for (let index = 0; index < 60; index += 1) expect(text).toContain(`**domain:code ${index}q**`)
    for (const name of ['project:old 2q', 'user:universal 3q', 'newest']) expect(text).toContain(`**${name}**`)
    expect(shownIn(text).length).toBeGreaterThan(100)
    expect(text).toContain('`credence beliefs` lists all of them. <!-- credence:topic more -->')
    expect(await place.status()).toMatchObject({ items: shownIn(text).length, isPartial: true, isInSync: true })
    expect(await place.sync()).toMatchObject({ written: [], taken: nothingTaken })
    expect(await total(place)).toBe(518)
  })

  it('retires no belief that it does not show, however it is edited, deleted or saved again', async () => {
    await using place = personalMemory()
    await fill(place, 300, 'project:a')
    const copy = place.text()
    const name = /\*\*(project:a \d+q)\*\*/u.exec(copy)?.[1] as string

    place.edit((text) => withoutLine(text, name))
    const { taken } = await place.sync()

    expect(taken).toEqual({ ...nothingTaken, retired: 1 })
    expect(await total(place)).toBe(299)

    // Newer beliefs replace older ones in the file, but an editor then saves the text it had read before.
    const before = place.text()
    await fill(place, 100, 'project:b')
    expect(shownIn(before).filter((id) => !place.text().includes(id)).length).toBeGreaterThan(50)
    writeFileSync(place.path(), `${before}A note of mine.\n`)
    expect((await place.sync()).taken).toEqual(nothingTaken)
    rmSync(place.path())
    expect((await place.sync()).taken).toEqual(nothingTaken)
    rmSync(place.path('state/mirror'), { recursive: true })
    expect((await place.sync()).taken).toEqual(nothingTaken)
    expect(await total(place)).toBe(399)
    expectSmall(place.text())
  })

  it('retires a belief whose line is removed from a copy that showed it, even if the file no longer shows it', async () => {
    await using place = personalMemory()
    await fill(place, 170, 'project:a')
    const before = place.text()
    const [id = ''] = shownIn(before)
    const { name } = await place.memory.get(id)
    await fill(place, 175, 'project:b')
    expect(place.text()).not.toContain(id)

    writeFileSync(place.path(), withoutLine(before, name))

    expect((await place.sync()).taken).toEqual({ ...nothingTaken, retired: 1 })
    expect(await total(place)).toBe(344)
  })

  it('corrects a belief that it does not show by a new line with its name', async () => {
    await using place = personalMemory()
    await fill(place, 300, 'project:a')
    const { items } = await place.memory.list({ current: true, limit: 300 })
    const hidden = items.find(({ id }) => !place.text().includes(id))

    place.edit((text) => text.replace('### Facts\n\n', `### Facts\n\n- **${hidden?.name}**: said in the file\n`))
    const { taken } = await place.sync()

    expect(taken).toEqual({ ...nothingTaken, corrected: 1 })
    expect(await place.memory.get(hidden?.name ?? '')).toMatchObject({ content: 'said in the file' })
    expect(await total(place)).toBe(300)
    expect(place.text()).toContain('said in the file')
  })

  it('shows the others again, and no note, once they fit', async () => {
    await using place = personalMemory()
    await fill(place, 150, 'project:a', {}, 150)
    const { items } = await place.memory.list({ current: true, limit: 200 })
    const hidden = items.filter(({ id }) => !place.text().includes(id))
    expect(hidden.length).toBeGreaterThan(10)
    expect(place.text()).toContain('## More')

    for (const { id } of items.filter((one) => !hidden.includes(one)).slice(0, 80)) await place.memory.forget(id)

    for (const { id } of hidden) expect(place.text()).toContain(id)
    expect(place.text()).not.toMatch(/## More|credence:topic/u)
    expect((await place.status()).isPartial).toBe(false)
  })

  it('leaves out a statement that is too long for it, and shows the others', async () => {
    await using place = personalMemory()
    await place.memory.remember({ name: 'long', content: 'word '.repeat(1_999).trim() })
    await place.memory.remember({ name: 'longer', content: 'line\n'.repeat(1_900).trim() })
    await place.memory.remember({ name: 'short', content: 'a word' })

    expectSmall(place.text())
    expect(place.text()).toMatch(/\*\*long\*\*[\s\S]*\*\*short\*\*/u)
    expect(place.text()).not.toContain('**longer**')
    expect((await place.sync()).taken).toEqual(nothingTaken)
    expect(await total(place)).toBe(3)
  })

  it('counts the lines of the person, and keeps all of them', async () => {
    await using place = personalMemory()
    await fill(place, 100, 'project:a')
    const notes = Array.from({ length: 150 }, (_, index) => `Note ${index}.\n`).join('')
    place.edit((text) => `${notes}${text}`)

    await place.sync()
    await place.memory.remember({ name: 'newest', content: 'the last one', scopes: ['project:a'] })

    expect(place.text().startsWith(notes)).toBe(true)
    expect(place.text()).toContain('**newest**')
    expectSmall(place.text())
    expect(await total(place)).toBe(101)
  })

  it('exceeds its limits one belief at a time, and shows each belief once', async () => {
    await using place = personalMemory()
    for (let index = 0; index < 90; index += 1) {
      const scopes = [['user:universal'], ['project:a'], ['project:b']][index % 3] as string[]
      await place.memory.remember({ name: `fact ${index}q`, content: `${index} ${'word '.repeat(70)}end`, scopes })
      expectSmall(place.text())
      expect(place.text()).toContain(`**fact ${index}q**`)
    }

    const shown = shownIn(place.text())
    expect(new Set(shown).size).toBe(shown.length)
    expect(shown.length).toBeLessThan(90)
    expect(await total(place)).toBe(90)
  })
})
