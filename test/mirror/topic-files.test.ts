import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
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
