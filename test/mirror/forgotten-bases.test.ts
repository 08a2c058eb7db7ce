import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { mirrorPaths } from '../../src/memory/mirror/state/state.ts'
import { mirroredMemory } from './mirrored-memory.ts'

/** A mirror with several topic files: more beliefs of one scope than one file holds. */
async function manyFiles() {
  const place = mirroredMemory({ scopes: ['project:a'] })
  const records = Array.from({ length: 450 }, (_, index) =>
    JSON.stringify({ name: `thing ${index}`, content: `Said of ${index}.`, type: 'entity', scopes: ['project:a'] }),
  )
  await place.memory.import(records.join('\n'), { trusted: true })
  await place.sync()
  return { ...place, bases: mirrorPaths(place.dir).bases }
}

const basesWith = (bases: string, text: string): readonly string[] =>
  readdirSync(bases, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile() && readFileSync(join(entry.parentPath, entry.name), 'utf8').includes(text))
    .map((entry) => entry.parentPath.slice(bases.length + 1))

it('a forgotten belief leaves the bases of every file that it was ever in', async () => {
  const place = await manyFiles()
  const { memory, bases } = place
  const { id } = await memory.get('thing 7')
  const before = basesWith(bases, 'Said of 7.')
  await memory.edit(id, { scopes: ['project:b'] })
  await place.sync()
  await memory.edit(id, { scopes: ['project:a'] })
  await place.sync()
  expect(new Set(basesWith(bases, 'Said of 7.')).size).toBeGreaterThan(1)

  await memory.forget(id)
  await place.sync()

  expect(before).toHaveLength(1)
  expect(basesWith(bases, 'Said of 7.')).toEqual([])
  expect(basesWith(bases, 'Said of 8.').length).toBeGreaterThan(0)
  await place[Symbol.asyncDispose]()
})

it('forgetting reads no base of a file that the belief was never in', async () => {
  const place = await manyFiles()
  const { memory, bases } = place
  const [own] = basesWith(bases, 'Said of 7.')
  const other = readdirSync(bases).find((name) => name !== own && name !== 'MEMORY.md') as string
  // Reading a directory as a file fails.
  for (const version of readdirSync(join(bases, other))) {
    rmSync(join(bases, other, version))
    mkdirSync(join(bases, other, version))
  }

  await memory.forget('thing 7')
  const synced = await place.sync()

  expect([synced.outcome, place.problems]).toEqual(['synced', []])
  expect(basesWith(bases, 'Said of 7.')).toEqual([])
  await place[Symbol.asyncDispose]()
})

it('forgetting reads every base where it is not recorded what file a belief was in', async () => {
  const place = await manyFiles()
  const { memory, dir, bases } = place
  rmSync(mirrorPaths(dir).where, { recursive: true })

  await memory.forget('thing 7')
  await place.sync()

  expect(basesWith(bases, 'Said of 7.')).toEqual([])
  await place[Symbol.asyncDispose]()
})
