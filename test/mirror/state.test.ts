import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeRecord } from '../../src/memory/mirror/state/state.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { lineOf, nothingTaken, personalMemory } from './mirrored-memory.ts'

describe('the records of a mirror', () => {
  it('contain no line that a person has removed from the file', async () => {
    await using place = personalMemory()
    await place.memory.remember({ name: 'a', content: 'what a is' })
    place.edit((text) => `${text}\nMy private xyzzy note.\n`)
    await place.sync()
    await place.memory.remember({ name: 'b', content: 'what b is' })
    place.edit((text) => text.replace('\nMy private xyzzy note.\n', ''))

    await place.sync()

    const files = globSync(`${place.dir}/**/*`, { withFileTypes: true }).filter(
      (entry) => entry.isFile() && !entry.name.startsWith('credence.db') && !entry.name.startsWith('lock'),
    )
    const holding = files.filter(({ parentPath, name }) =>
      readFileSync(`${parentPath}/${name}`, 'utf8').includes('xyzzy'),
    )
    expect(holding.map(({ name }) => name)).toEqual([])
  })

  it('separate a refused line from its belief, even if the store writes the file for another reason', async () => {
    await using place = personalMemory()
    const { memory } = place
    await memory.remember({ name: 'bank', content: 'ING' })
    place.edit((text) => text.replace('ING', 'my PIN is 4821'))
    await place.sync()

    await memory.remember({ name: 'other', content: 'something' })
    await memory.setWhy('bank', 'It matters.')
    place.edit((text) => text.replace('something', 'something else'))
    const { refused } = await place.sync()

    expect(place.text()).toContain('my PIN is 4821')
    expect(refused).toHaveLength(1)
    expect(place.text().split('\n')[(refused[0]?.line ?? 0) - 1]).toContain('4821')
    expect(await place.beliefs()).toEqual({ bank: 'ING', other: 'something else' })
  })
})

it('a record that cannot be written leaves no temporary file', () => {
  using directory = temporaryDirectory()
  const path = join(directory.path, 'record.json')
  mkdirSync(path)

  expect(() => writeRecord({ dir: directory.path }, path, '{}')).toThrow('EISDIR')

  expect(readdirSync(directory.path)).toEqual(['record.json'])
})

describe('an old copy that is put back', () => {
  it('does not undo a correction of the store, and its edit of another field is merged', async () => {
    await using place = personalMemory()
    const { memory } = place
    await memory.remember({ name: 'theme', content: 'dark', why: 'Eyes.' })
    await memory.remember({ name: 'editor', content: 'vim' })
    const copy = place.text()
    await memory.correct('theme', { content: 'light' })
    await memory.correct('editor', { content: 'helix' })

    writeFileSync(place.path(), copy.replace('why: Eyes.', 'why: Sun.'))
    const { taken } = await place.sync()

    expect(taken).toEqual({ ...nothingTaken, corrected: 1 })
    expect(await memory.get('theme')).toMatchObject({ content: 'light', why: 'Sun.' })
    expect(lineOf(place.text(), 'editor')).toContain('helix')
  })
})

describe('a file that a killed process was replacing', () => {
  async function leftBehind(content: (text: string) => string) {
    const place = personalMemory()
    for (const name of ['a', 'b', 'c']) await place.memory.remember({ name, content: `what ${name} is` })
    await place.sync()
    writeFileSync(place.path('state/mirror/replaced.md'), content(place.text()))
    return place
  }

  it('adds its lines if another program created it while ours was not in place', async () => {
    await using place = await leftBehind(() => 'A line of theirs.\n- **d**: what d is\n')
    const before = place.text()

    const { outcome, taken, conflicts } = await place.sync()

    expect({ outcome, taken, conflicts }).toEqual({
      outcome: 'synced',
      taken: { ...nothingTaken, added: 1 },
      conflicts: [],
    })
    expect(place.text()).toContain('A line of theirs.\n')
    expect(Object.keys(await place.beliefs()).sort()).toEqual(['a', 'b', 'c', 'd'])
    expect(place.text().match(/# Memory/gu)).toHaveLength(before.match(/# Memory/gu)?.length ?? 0)
    expect(place.has('state/mirror/replaced.md')).toBe(false)
  })

  it('is merged like any other save if it is complete', async () => {
    await using place = await leftBehind((text) => text.replace('what b is', 'what b became'))

    const { taken, conflicts } = await place.sync()

    expect({ taken, conflicts }).toEqual({ taken: { ...nothingTaken, corrected: 1 }, conflicts: [] })
    expect(place.text().match(/# Memory/gu)).toHaveLength(1)
  })

  it('changes nothing if it is as written', async () => {
    await using place = await leftBehind((text) => text)

    expect(await place.sync()).toMatchObject({ taken: nothingTaken, conflicts: [], written: [] })
    expect(place.has('state/mirror/replaced.md')).toBe(false)
  })

  it('is restored if its successor was not in place yet', async () => {
    await using place = await leftBehind((text) => `${text}My own note.\n`)
    rmSync(place.path())

    expect(await place.sync()).toMatchObject({ taken: nothingTaken, conflicts: [] })
    expect(place.text()).toContain('My own note.\n')
    expect(Object.keys(await place.beliefs()).sort()).toEqual(['a', 'b', 'c'])
    expect(place.has('state/mirror/replaced.md')).toBe(false)
  })

  it('is kept as a conflict file if its version is unknown and it has other lines', async () => {
    await using place = await leftBehind((text) => text.replace('what a is', 'an edit of a'))
    rmSync(place.path('state/mirror/bases'), { recursive: true })

    const { conflicts } = await place.sync()

    expect(conflicts).toHaveLength(1)
    expect(place.text(conflicts[0])).toContain('an edit of a')
  })
})

describe('a caller whose problem handler throws', () => {
  it('does not make the change fail, or stop later syncs', async () => {
    let reports = 0
    await using place = personalMemory({
      onMirrorProblem: () => {
        reports += 1
        throw new Error('not now')
      },
    })
    await place.memory.remember({ name: 'a', content: 'what a is' })
    const before = place.text()
    writeFileSync(place.path(), '')
    await place.memory.remember({ name: 'b', content: 'what b is' })
    writeFileSync(place.path(), before)

    await place.memory.remember({ name: 'c', content: 'what c is' })

    expect(reports).toBe(1)
    for (const name of ['a', 'b', 'c']) expect(lineOf(place.text(), name)).toContain(`what ${name} is`)
  })
})
