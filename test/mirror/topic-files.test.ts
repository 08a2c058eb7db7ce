import { copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { signatureAt } from '../../src/memory/mirror/parse/read-file.ts'
import { mirrorPaths } from '../../src/memory/mirror/state/state.ts'
import { mirroredMemory } from './mirrored-memory.ts'

const beliefsOf = (scope: string, count: number): string =>
  Array.from({ length: count }, (_, index) =>
    JSON.stringify({ name: `${scope} ${index}`, content: `Said of ${index}.`, scopes: [scope] }),
  ).join('\n')

it('the second file of a scope is neither that of another scope nor that of a person', async () => {
  await using place = mirroredMemory()
  const { memory } = place
  await memory.import(beliefsOf('project:a-2', 160), { trusted: true })
  writeFileSync(place.path('project-a-3.md'), 'mine\n')
  await memory.import(beliefsOf('project:a', 250), { trusted: true })
  await place.sync()

  const { topicFiles, items } = await place.status()

  expect(topicFiles).toEqual(['project-a-2.md', 'project-a-4.md', 'project-a.md'])
  expect(place.text('project-a-3.md')).toBe('mine\n')
  expect(place.text('project-a-2.md').match(/^- /gmu)).toHaveLength(160)
  expect(place.text('project-a-4.md').match(/^- /gmu)).toHaveLength(50)
  expect(place.text()).toContain('[project:a](project-a.md): 250 beliefs in 2 files, up to [part 4](project-a-4.md)')
  expect(items).toBe(410)
  expect((await place.sync()).written).toEqual([])
})

it('a copied file is read once more, and then recognised without reading', async () => {
  await using place = mirroredMemory()
  await place.memory.import(beliefsOf('project:a', 200), { trusted: true })
  await place.sync()
  const names = ['MEMORY.md', 'project-a.md']
  for (const name of names) {
    copyFileSync(place.path(name), place.path(`${name}.copy`))
    renameSync(place.path(`${name}.copy`), place.path(name))
  }

  const { written } = await place.sync()

  const { files } = JSON.parse(readFileSync(join(mirrorPaths(place.dir).state, 'mirror.json'), 'utf8'))
  expect(written).toEqual([])
  for (const name of names) expect(files[name].signature).toBe(signatureAt(place.path(name)))
})
