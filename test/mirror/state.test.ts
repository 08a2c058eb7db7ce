import { createHmac } from 'node:crypto'
import { globSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { lineOf, mirroredMemory, withoutLine } from './mirrored-memory.ts'

const nothing = { corrected: 0, added: 0, retired: 0, conflicts: 0 }

/** Replaces the records of the mirror by those that format 1 would have: hashes of what was written, and no texts. */
function withFormat1(place: ReturnType<typeof mirroredMemory>): void {
  const now = JSON.parse(place.text('state/mirror/mirror.json'))
  const key = '8c5165794e5f1017b383546a0d8249d7'
  const hash = (bytes: Buffer): string => createHmac('sha256', key).update(bytes).digest('base64url').slice(0, 22)
  const files = Object.entries(now.files as Record<string, object>).map(([name, file]) => {
    const { size, mtimeNs, ctimeNs, ino } = lstatSync(place.path(name), { bigint: true })
    const bytes = readFileSync(place.path(name))
    const signature = [size, mtimeNs, ctimeNs, ino].join(':')
    return [name, { ...file, signature, hash: hash(bytes), bytes: bytes.length, outside: 'FUakn3f3n8t09fMTF8HrJy' }]
  })
  const { version, ...rest } = now
  const old = { ...rest, format: 1, key, generation: version, files: Object.fromEntries(files) }
  rmSync(place.path('state/mirror/bases'), { recursive: true, force: true })
  writeFileSync(place.path('state/mirror/key'), `${key}\n`)
  writeFileSync(place.path('state/mirror/mirror.json'), JSON.stringify(old))
  mkdirSync(place.path('state/mirror/imprints/MEMORY.md'), { recursive: true })
  writeFileSync(place.path(`state/mirror/imprints/MEMORY.md/${version}.json`), '{"items":{"b-1":"x"},"lines":["y"]}')
  // A command of the earlier version left the file that it had replaced to the next one.
  const displaced = place.path('state/mirror/displaced/17100-3e5026b1-MEMORY.md')
  const text = Buffer.from('# Memory\n\nA line that was read before the file was replaced.\n')
  writeFileSync(displaced, text)
  const seen = { hash: hash(text), bytes: text.length, skeleton: 'x', lines: [] }
  const record = { name: '17100-3e5026b1-MEMORY.md', file: 'MEMORY.md', at: 0, seen }
  writeFileSync(`${displaced}.done.json`, JSON.stringify(record))
}

describe('a mirror whose records are of the earlier format', () => {
  async function earlier() {
    const place = mirroredMemory()
    const { memory } = place
    await memory.remember({ name: 'theme', content: 'dark', aliases: ['colours'], why: 'Eyes.' })
    await memory.remember({ name: 'terms', content: '14 days', scopes: ['project:x'] })
    for (let index = 0; index < 6; index += 1)
      await memory.remember({ name: `fact ${index}`, content: `${index} ${'word '.repeat(900)}end` })
    place.edit((text) => `${text}- my PIN is 4821\nA note of mine.\n`)
    await place.sync()
    withFormat1(place)
    return place
  }

  it('is taken over without a change to store or files', async () => {
    await using place = await earlier()
    const { topicFiles } = await place.status()
    const texts = () => ['MEMORY.md', ...topicFiles].map((name) => place.text(name))
    const before = { texts: texts(), beliefs: await place.memory.list({ limit: 100 }) }

    const { outcome, written, taken } = await place.sync()

    expect(topicFiles.length).toBeGreaterThan(0)
    expect({ outcome, written, taken }).toEqual({ outcome: 'synced', written: [], taken: nothing })
    expect({ texts: texts(), beliefs: await place.memory.list({ limit: 100 }) }).toEqual(before)
    expect(readdirSync(place.dir).filter((name) => name.includes('conflict'))).toEqual([])
    expect(readdirSync(place.path('state/mirror/displaced'))).toEqual([])
    expect((await place.status()).refused).toHaveLength(1)
  })

  it('merges later edits as usual, in every file', async () => {
    await using place = await earlier()
    await place.sync()
    const [topic = ''] = (await place.status()).topicFiles

    place.edit((text) => text.replace('14 days', '30 days'))
    place.edit((text) => withoutLine(text, 'fact 3'), topic)
    const { taken } = await place.sync()

    expect(taken).toEqual({ ...nothing, corrected: 1, retired: 1 })
  })

  it('takes in an edit that was made before', async () => {
    await using place = await earlier()
    place.edit((text) => text.replace('14 days', '30 days').replace('A note of mine.', 'My note.'))

    expect((await place.sync()).taken).toEqual({ ...nothing, corrected: 1 })
    expect(place.text()).toContain('My note.')
  })

  it('keeps a late write to a displaced file', async () => {
    await using place = await earlier()
    const displaced = place.path('state/mirror/displaced/17100-3e5026b1-MEMORY.md')
    writeFileSync(displaced, `${readFileSync(displaced, 'utf8')}A late line.\n`)

    await place.sync()

    expect(place.text()).toContain('A late line.\n')
  })
})

describe('the records of a mirror', () => {
  it('hold no line of their own that a person has removed from the file', async () => {
    await using place = mirroredMemory()
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

  it('keep a refused line apart from the belief, also when the store writes the file for another reason', async () => {
    await using place = mirroredMemory()
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

describe('an old copy that is put back', () => {
  it('does not undo a correction of the store, and an edit in it of another field is merged', async () => {
    await using place = mirroredMemory()
    const { memory } = place
    await memory.remember({ name: 'theme', content: 'dark', why: 'Eyes.' })
    await memory.remember({ name: 'editor', content: 'vim' })
    const copy = place.text()
    await memory.correct('theme', { content: 'light' })
    await memory.correct('editor', { content: 'helix' })

    writeFileSync(place.path(), copy.replace('why: Eyes.', 'why: Sun.'))
    const { taken } = await place.sync()

    expect(taken).toEqual({ ...nothing, corrected: 1 })
    expect(await memory.get('theme')).toMatchObject({ content: 'light', why: 'Sun.' })
    expect(lineOf(place.text(), 'editor')).toContain('helix')
  })
})

describe('a file that another program created while ours was not in place', () => {
  async function createdMeanwhile(content: (text: string) => string) {
    const place = mirroredMemory()
    for (const name of ['a', 'b', 'c']) await place.memory.remember({ name, content: `what ${name} is` })
    await place.sync()
    const displaced = place.path('state/mirror/displaced/1-00000000-MEMORY.md')
    writeFileSync(displaced, content(place.text()))
    const record = { id: '1-00000000-MEMORY.md', file: 'MEMORY.md', at: 0, seen: '' }
    writeFileSync(`${displaced}.done.json`, JSON.stringify(record))
    return place
  }

  it('adds its lines when it was appended to', async () => {
    await using place = await createdMeanwhile(() => 'A line of theirs.\n- **d**: what d is\n')
    const before = place.text()

    const { outcome, taken, conflicts } = await place.sync()

    expect({ outcome, taken, conflicts }).toEqual({ outcome: 'synced', taken: { ...nothing, added: 1 }, conflicts: [] })
    expect(place.text()).toContain('A line of theirs.\n')
    expect(Object.keys(await place.beliefs()).sort()).toEqual(['a', 'b', 'c', 'd'])
    expect(place.text().match(/# Memory/gu)).toHaveLength(before.match(/# Memory/gu)?.length ?? 0)
  })

  it('is merged like any other save when it is a whole one', async () => {
    await using place = await createdMeanwhile((text) => text.replace('what b is', 'what b became'))

    const { taken, conflicts } = await place.sync()

    expect({ taken, conflicts }).toEqual({ taken: { ...nothing, corrected: 1 }, conflicts: [] })
    expect(place.text().match(/# Memory/gu)).toHaveLength(1)
  })
})

describe('a caller that fails while it is told of a problem', () => {
  it('neither fails the change nor stops later syncs', async () => {
    let reports = 0
    await using place = mirroredMemory({
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
