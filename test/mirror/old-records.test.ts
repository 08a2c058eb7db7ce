import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { nothingTaken, personalMemory } from './mirrored-memory.ts'

it('removes the topic files of version 0.2 and their records, except a file that was edited', async () => {
  await using place = personalMemory()
  await place.memory.remember({ name: 'theme', content: 'dark' })
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(place.path(path)), { recursive: true, mode: 0o700 })
    writeFileSync(place.path(path), text)
  }
  for (const name of ['project-a.md', 'project-b.md', 'project-c.md'])
    write(`state/mirror/bases/${name}/2.md`, 'As written.\n')
  write('project-a.md', 'As written.\n')
  write('project-b.md', 'As written.\nMine.\n')
  write('mine.md', 'Mine.\n')
  write('state/mirror/where/7.json', '{}')
  write('state/mirror/displaced/1-00000000-MEMORY.md', 'Earlier.\n')

  const { taken } = await place.sync()

  expect(taken).toEqual(nothingTaken)
  expect(['project-a.md', 'project-b.md', 'mine.md'].map((name) => existsSync(place.path(name)))).toEqual([
    false,
    true,
    true,
  ])
  for (const name of ['where', 'displaced', 'bases/project-a.md', 'bases/project-b.md', 'bases/project-c.md'])
    expect(existsSync(place.path(`state/mirror/${name}`)), name).toBe(false)
  expect(await place.beliefs()).toEqual({ theme: 'dark' })
})
