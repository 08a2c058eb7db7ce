import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aManifest, plant } from '../../../test/harness/eval-store.ts'
import { redTeamExample } from '../../../test/harness/example-documents.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { importPack, validatePack } from './import-pack.ts'

/** Every file and folder except the lock, which remains after an import. */
const tree = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name !== '.import.lock')
    .sort()

describe('importing a pack', () => {
  it('accepts a single manifest with any file name', async () => {
    using place = temporaryDirectory()
    plant(place.path, { 'in/pack.json': redTeamExample })

    const imported = await importPack(join(place.path, 'store'), join(place.path, 'in', 'pack.json'))

    expect(imported).toMatchObject({
      benchmarkId: 'poisoning-corroboration-pack',
      benchmarkType: 'memory-red-team',
      attackClass: 'provenance-spoofing',
      targetSurface: 'trust-zone-promotion',
      totalCases: 1,
      overwritten: false,
    })
    expect(tree(join(place.path, 'store', 'benchmarks'))).toEqual([
      'poisoning-corroboration-pack',
      'poisoning-corroboration-pack/manifest.json',
    ])
  })

  it('accepts a folder with all of its files', async () => {
    using place = temporaryDirectory()
    plant(place.path, {
      'in/manifest.json': aManifest({ files: { cases: 'data/cases.json' } }),
      'in/README.md': 'about',
      'in/data/cases.json': '[]',
      'in/.notes': 'kept',
      'in/.git/HEAD': 'not part of the pack',
    })

    await importPack(join(place.path, 'store'), join(place.path, 'in'))

    const target = join(place.path, 'store', 'benchmarks', 'ama-memory')
    expect(tree(target)).toEqual(['.notes', 'README.md', 'data', 'data/cases.json', 'manifest.json'])
    expect(readFileSync(join(target, 'README.md'), 'utf8')).toBe('about')
  })

  it('replaces an earlier pack only with --force, and then completely', async () => {
    using place = temporaryDirectory()
    const store = join(place.path, 'store')
    plant(place.path, { 'one/manifest.json': aManifest(), 'one/extra.txt': 'one' })
    plant(place.path, { 'two/manifest.json': aManifest({ title: 'Two' }) })
    await importPack(store, join(place.path, 'one'))

    await expect(importPack(store, join(place.path, 'two'))).rejects.toMatchObject({
      code: 'conflict',
      hint: 'Add --force to replace it.',
    })
    expect(tree(join(store, 'benchmarks'))).toContain('ama-memory/extra.txt')
    const imported = await importPack(store, join(place.path, 'two'), { force: true })

    expect(imported).toMatchObject({ title: 'Two', overwritten: true })
    expect(tree(join(store, 'benchmarks'))).toEqual(['ama-memory', 'ama-memory/manifest.json'])
  })

  it('keeps the earlier pack if the new one is refused', async () => {
    using place = temporaryDirectory()
    const store = join(place.path, 'store')
    plant(place.path, { 'one/manifest.json': aManifest(), 'two/manifest.json': aManifest({ cases: [] }) })
    await importPack(store, join(place.path, 'one'))
    const before = tree(store)

    await expect(importPack(store, join(place.path, 'two'), { force: true })).rejects.toMatchObject({
      code: 'invalid',
      message:
        'The benchmark manifest is not valid. manifest.json: cases is a list of 0; it must have at least 1 item.',
    })

    expect(tree(store)).toEqual(before)
  })

  it('leaves one complete pack after several concurrent imports', async () => {
    using place = temporaryDirectory()
    const store = join(place.path, 'store')
    for (const name of ['a', 'b', 'c', 'd']) {
      plant(place.path, { [`${name}/manifest.json`]: aManifest({ title: name }), [`${name}/${name}.txt`]: name })
    }

    await Promise.all(['a', 'b', 'c', 'd'].map((name) => importPack(store, join(place.path, name), { force: true })))

    const manifest = 'manifest.json'
    const extra = /^ama-memory\/([a-d])\.txt$/u
    const files = tree(join(store, 'benchmarks'))
    const { title } = JSON.parse(readFileSync(join(store, 'benchmarks', 'ama-memory', manifest), 'utf8'))
    expect(files).toHaveLength(3)
    expect(files.find((file) => extra.test(file))).toBe(`ama-memory/${title}.txt`)
  })

  it('skips links and pipes, and refuses a pack that needs them', async () => {
    using place = temporaryDirectory()
    plant(place.path, {
      'in/manifest.json': aManifest(),
      'needs/manifest.json': aManifest({ files: { cases: 'link' } }),
    })
    for (const folder of ['in', 'needs']) symlinkSync('/etc/hostname', join(place.path, folder, 'link'))
    spawnSync('mkfifo', [join(place.path, 'in', 'pipe')])

    await importPack(join(place.path, 'store'), join(place.path, 'in'))

    expect(tree(join(place.path, 'store', 'benchmarks', 'ama-memory'))).toEqual(['manifest.json'])
    await expect(validatePack(join(place.path, 'needs'))).rejects.toThrow('files.cases is "link"')
  })

  it.each(['../escape', 'a/b', '..', '.hidden', 'x'.repeat(129)])('refuses the id %j', async (benchmarkId) => {
    using place = temporaryDirectory()
    plant(place.path, { 'in/manifest.json': aManifest({ benchmarkId }) })

    await expect(importPack(join(place.path, 'store'), join(place.path, 'in'))).rejects.toMatchObject({
      code: 'invalid',
    })
    expect(tree(join(place.path))).toEqual(['in', 'in/manifest.json', 'store', 'store/benchmarks'])
  })

  it('refuses a pack of the wrong kind, or without a file that its manifest names', async () => {
    using place = temporaryDirectory()
    plant(place.path, {
      'lacking/manifest.json': aManifest({ files: { cases: 'cases.json' } }),
      'changed/manifest.json': aManifest({ contentHash: `sha256:${'0'.repeat(64)}` }),
    })

    await expect(validatePack(join(place.path, 'lacking'))).rejects.toThrow('files.cases is "cases.json"')
    await expect(validatePack(join(place.path, 'changed'))).rejects.toThrow('contentHash is sha256:000')
    await expect(validatePack(join(place.path, 'nowhere'))).rejects.toMatchObject({ code: 'not_found' })
    // The folder has other files but no manifest.
    symlinkSync(place.path, join(place.path, 'link'))
    await expect(validatePack(place.path)).rejects.toThrow('has no manifest.json')
    await expect(validatePack(' ')).rejects.toThrow('is empty')
  })
})

describe("a pack's hash", () => {
  it('depends only on the questions and the named files', async () => {
    using place = temporaryDirectory()
    const named = { files: { cases: 'cases.json' } }
    const hashOf = async (manifest: object, files: Readonly<Record<string, string>>) => {
      const name = `pack-${readdirSync(place.path).length}`
      plant(join(place.path, name), { 'manifest.json': manifest, ...files })
      return (await validatePack(join(place.path, name))).packHash
    }

    const hash = await hashOf(aManifest(named), { 'cases.json': '[]' })
    const retitled = await hashOf(
      { ...named, ...aManifest({ title: 'Other', tags: [] }) },
      { 'cases.json': '[]', x: 'y' },
    )
    const otherFile = await hashOf(aManifest(named), { 'cases.json': '[ ]' })
    const otherCase = await hashOf(aManifest({ ...named, cases: [{ id: 'case-1', prompt: 'Other' }] }), {
      'cases.json': '[]',
    })

    expect(retitled).toBe(hash)
    expect(new Set([hash, otherFile, otherCase]).size).toBe(3)
  })
})
