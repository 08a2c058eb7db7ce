import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { mirrorPaths } from '../../src/memory/mirror/state/state.ts'
import { mirroredMemory } from './mirrored-memory.ts'

const basesWith = (bases: string, text: string): readonly string[] =>
  readdirSync(bases, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile() && readFileSync(join(entry.parentPath, entry.name), 'utf8').includes(text))
    .map(({ name }) => name)

it('a forgotten belief is erased from every stored version, even if the file no longer showed it', async () => {
  await using place = mirroredMemory({ scopes: ['project:a'] })
  const { memory } = place
  const { bases } = mirrorPaths(place.dir)
  const record = (index: number): string =>
    JSON.stringify({ name: `thing ${index}q`, content: `Said of ${index}.`, scopes: ['project:a'] })
  await memory.remember({ name: 'secret', content: 'The word is xyzzy.' })
  await memory.edit('secret', { scopes: ['project:b'] })
  await memory.import(Array.from({ length: 250 }, (_, index) => record(index)).join('\n'), { trusted: true })
  expect(place.text()).not.toContain('xyzzy')
  expect(basesWith(bases, 'xyzzy').length).toBeGreaterThan(1)

  await memory.forget('secret')

  expect(basesWith(bases, 'xyzzy')).toEqual([])
  expect(basesWith(bases, 'Said of ').length).toBeGreaterThan(0)
})
