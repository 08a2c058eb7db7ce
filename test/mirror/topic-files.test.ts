import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Belief } from '../../src/beliefs/belief.ts'
import { correct } from '../../src/memory/change/correct.ts'
import { lineKey } from '../../src/memory/mirror/merge/waiting.ts'
import { renderItem } from '../../src/memory/mirror/parse/item.ts'
import { contentHashOf } from '../../src/memory/mirror/parse/read-file.ts'
import { MirrorDocument } from '../../src/memory/mirror/write/document.ts'
import { mirroredMemory, nothingTaken, withoutLine } from './mirrored-memory.ts'

/** A mirror as version 0.2 left it: the beliefs of project:a are in two files of their own. */
async function olderMirror(mirrorAuthority: 'person' | 'document' = 'person') {
  const place = mirroredMemory({ mirror: false, mirrorAuthority, scopes: ['project:a'] })
  await place.memory.remember({ name: 'theme', content: 'dark', scopes: ['user:universal'] })
  const records = Array.from({ length: 60 }, (_, index) =>
    JSON.stringify({
      name: `a ${index}q`,
      content: `Said of ${index}.`,
      aliases: [`alias${index}`],
      scopes: ['project:a'],
    }),
  )
  await place.memory.import(records.join('\n'), { trusted: true })
  for (const name of ['a 3q', 'a 4q']) await place.memory.confirm(name)
  const { items } = await place.memory.list({ current: true, limit: 100 })
  const numberOf = ({ name }: Belief): number => Number.parseInt(name.slice(2), 10)
  const ofProject = items.filter(({ name }) => name !== 'theme').sort((a, b) => numberOf(a) - numberOf(b))
  const section = (scope: string, beliefs: readonly Belief[]): string =>
    `## ${scope}\n\n### Facts\n\n${beliefs.flatMap((one) => renderItem(one)).join('\n')}\n`
  const topic = (title: string, beliefs: readonly Belief[]): string =>
    `# ${title}\n\nA part of [MEMORY.md](MEMORY.md); lines here count like lines there.\n\n<!-- credence:mirror 2 -->\n\n${section('project:a', beliefs)}`
  const theme = items.filter(({ name }) => name === 'theme')
  const texts: Readonly<Record<string, string>> = {
    'MEMORY.md': `# Memory\n\nMine.\n\n<!-- credence:mirror 2 -->\n\n${section('user:universal', theme)}\n## More <!-- credence:topics -->\n\n- [project:a](project-a.md): 60 beliefs in 2 files, up to [part 2](project-a-2.md) <!-- credence:topic project:a -->\n\n## New <!-- credence:new -->\n`,
    'project-a.md': topic('project:a', ofProject.slice(0, 40)),
    'project-a-2.md': topic('project:a, part 2', ofProject.slice(40)),
  }
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(place.path(path)), { recursive: true, mode: 0o700 })
    writeFileSync(place.path(path), text)
  }
  const files: Record<string, object> = {}
  for (const [name, text] of Object.entries(texts)) {
    write(name, text)
    write(`state/mirror/bases/${name}/2.md`, text)
    const scope = name === 'MEMORY.md' ? null : 'project:a'
    files[name] = { scope, signature: '', hash: contentHashOf(text), items: new MirrorDocument(text).ids().length }
  }
  write('state/mirror/where/complete', '')
  write('state/mirror/where/7.json', JSON.stringify({ 'b-1': ['project-a.md'] }))
  mkdirSync(place.path('state/mirror/displaced'), { mode: 0o700 })
  const watermark = (await place.memory.events({ limit: 1 }))[0]?.number
  const lists = { topics: { 'project:a': { slug: 'project-a', parts: 2 } }, held: null, conflicts: [], refused: [] }
  const state = { format: 2, user: 'local', version: 2, watermark, syncedAt: null, files, ...lists, waiting: [] }
  const saveState = (more: object = {}): void =>
    write('state/mirror/mirror.json', JSON.stringify({ ...state, ...more }))
  saveState()
  return Object.assign(place, { saveState })
}

const filesIn = (dir: string): readonly string[] =>
  readdirSync(dir)
    .filter((name) => name.endsWith('.md'))
    .sort()

describe('a mirror of version 0.2 with topic files', () => {
  it('becomes one file: the edits of its files are imported, and its own files removed', async () => {
    await using place = await olderMirror()
    writeFileSync(place.path('project-b.md'), 'Of somebody else.\n<!-- credence:mirror 2 -->\n')
    place.edit((text) => text.replace('Said of 3.', 'Changed in the topic file.'), 'project-a.md')
    place.edit((text) => `${withoutLine(text, 'a 50q')}- **new one**: added in the second part\n`, 'project-a-2.md')
    place.edit((text) => text.replace(': dark', ': light'))

    const { taken, outcome } = await place.sync()

    expect({ taken, outcome }).toEqual({
      outcome: 'synced',
      taken: { ...nothingTaken, corrected: 2, added: 1, retired: 1 },
    })
    expect(await place.memory.get('a 3q')).toMatchObject({ content: 'Changed in the topic file.', aliases: ['alias3'] })
    expect(await place.memory.get('new one')).toMatchObject({ scopes: ['project:a'], type: 'entity' })
    expect(filesIn(place.dir)).toEqual(['MEMORY.md', 'project-b.md'])
    expect(place.text('project-b.md')).toContain('Of somebody else.')
    expect(place.text().startsWith('# Memory\n\nMine.\n')).toBe(true)
    expect(place.text()).toContain('Changed in the topic file.')
    expect(place.text()).not.toMatch(/project-a|alias50/u)
    expect(place.text().match(/^## project:a$/gmu)).toHaveLength(1)
    expect(readdirSync(place.path('state/mirror/bases'))).toEqual(['MEMORY.md'])
    for (const name of ['where', 'displaced']) expect(existsSync(place.path(join('state/mirror', name)))).toBe(false)
    expect(Object.keys(await place.beliefs())).toHaveLength(61)
    expect(await place.sync()).toMatchObject({ written: [], taken: nothingTaken })
  })

  it('changes no belief when nobody edited it, and brings no belief back that was forgotten meanwhile', async () => {
    await using place = await olderMirror()
    await place.memory.forget('a 7q')

    expect((await place.sync()).taken).toEqual(nothingTaken)
    expect(Object.keys(await place.beliefs())).toHaveLength(60)
    expect(place.text()).not.toContain('Said of 7.')
  })

  it('leaves a person’s own text where it is', async () => {
    await using place = await olderMirror()
    place.edit((text) => `Above.\t\n${text}\n## My own heading\n\n- mine\n`, 'project-a.md')

    await place.sync()

    expect(filesIn(place.dir)).toEqual(['MEMORY.md', 'project-a.md'])
    expect(place.text('project-a.md')).toMatch(/^Above\.\t\n[\s\S]*## My own heading\n\n- mine\n$/u)
    expect(place.text('project-a.md')).not.toMatch(/credence|Said of/u)
    expect(Object.keys(await place.beliefs())).toHaveLength(61)
  })

  it('retires nothing because a topic file is missing or empty', async () => {
    await using place = await olderMirror()
    rmSync(place.path('project-a.md'))
    writeFileSync(place.path('project-a-2.md'), '')

    expect((await place.sync()).taken).toEqual(nothingTaken)
    expect(Object.keys(await place.beliefs())).toHaveLength(61)
    expect(place.text()).toContain('Said of 1.')
    expect(filesIn(place.dir)).toEqual(['MEMORY.md'])
  })

  it('is held while many items are gone from one of its files, or one cannot be read', async () => {
    await using place = await olderMirror()
    const before = place.text('project-a-2.md')
    const cut = Array.from({ length: 10 }, (_, index) => `a ${40 + index}q`).reduce(withoutLine, before)
    writeFileSync(place.path('project-a-2.md'), cut)
    expect((await place.sync()).held).toMatchObject({
      file: 'project-a-2.md',
      reason: '10 of 20 items are gone from it',
    })
    writeFileSync(place.path('project-a-2.md'), Buffer.from([0xff, 0xfe]))
    expect((await place.sync()).held).toMatchObject({ file: 'project-a-2.md', reason: 'it is not UTF-8 text' })
    expect(place.has('project-a.md')).toBe(true)

    writeFileSync(place.path('project-a-2.md'), cut)
    const { taken } = await place.sync({ accept: true })

    expect(taken).toEqual({ ...nothingTaken, retired: 10 })
    expect(filesIn(place.dir)).toEqual(['MEMORY.md'])
  })

  it('keeps an edit of a topic file that waits for a person, in MEMORY.md', async () => {
    await using place = await olderMirror('document')
    const stated = await place.memory.get('a 3q')
    place.edit(
      (text) => text.replace('Said of 3.', 'Waits already.').replace('Said of 4.', 'Is to wait.'),
      'project-a.md',
    )
    const author = { actor: 'document', origin: 'file' } as const
    const request = { user: 'local', author, reference: stated.id, content: 'Waits already.' }
    const { belief: proposal } = await correct(place.ports, request)
    const [block] = new MirrorDocument(place.text('project-a.md')).items().filter(({ item }) => item.id === stated.id)
    if (block === undefined) throw new Error('There is no such line.')
    const waiting = { id: proposal.id, target: stated.id, inPlace: true, file: 'project-a.md', version: 2 }
    place.saveState({ waiting: [{ ...waiting, line: lineKey(block) }] })

    const { taken, undecided } = await place.sync()

    expect(taken).toEqual({ ...nothingTaken, proposed: 1 })
    expect(undecided.map((edit) => edit.proposal.content).sort()).toEqual(['Is to wait.', 'Waits already.'])
    expect((await place.memory.get('a 4q')).content).toBe('Said of 4.')
    for (const text of ['Waits already.', 'Is to wait.']) expect(place.text()).toContain(text)
    expect(filesIn(place.dir)).toEqual(['MEMORY.md'])

    await place.memory.accept(proposal.id)
    await place.sync()

    expect(place.text().match(/Waits already\./gu)).toHaveLength(1)
    expect(await place.sync()).toMatchObject({ written: [], undecided: { length: 1 } })
  })

  it('keeps a late save that its last process did not read as a conflict file, and restores a missing MEMORY.md', async () => {
    await using place = await olderMirror()
    const displaced = (number: number, text: string, seen: unknown): void => {
      const path = place.path(`state/mirror/displaced/${number}-00000000-MEMORY.md`)
      writeFileSync(path, text)
      writeFileSync(`${path}.done.json`, JSON.stringify({ file: 'MEMORY.md', at: 0, seen }))
    }
    displaced(1, place.text(), place.text())
    displaced(2, place.text(), { hash: 'of an earlier version' })
    displaced(3, `${place.text()}A late line.\n`, place.text())

    const { conflicts } = await place.sync()

    expect(conflicts).toHaveLength(1)
    expect(place.text(conflicts[0]?.file)).toContain('A late line.')
    expect(existsSync(place.path('state/mirror/displaced'))).toBe(false)

    mkdirSync(place.path('state/mirror/displaced'), { mode: 0o700 })
    displaced(4, `${place.text()}My own note.\n`, 'x')
    rmSync(place.path())
    await place.sync()
    expect(place.text()).toContain('My own note.')
  })
})
