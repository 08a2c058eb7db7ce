import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../test/temporary-directory.ts'
import { openMemory } from './open-memory.ts'
import { shadowRecall } from './shadow-recall.ts'

it('keeps one record of every recall of the library, without a word of the message or of the memory', async () => {
  using directory = temporaryDirectory()
  const dir = join(directory.path, 'memory')
  const memory = shadowRecall(openMemory({ dir, scopes: ['domain:code'] }), { dir })
  const { belief } = await memory.remember({ name: 'redis cache', content: 'Sessions live in Redis.' })

  const context = await memory.recall('Why is the redis cache cold?')
  await memory.recall('Nothing to do with it.')
  await memory.close()

  const records = globSync(join(dir, 'state/evals/shadow/*/*.json')).map((file) => readFileSync(file, 'utf8'))
  expect(context.relevant.map((relevant) => relevant.belief.id)).toEqual([belief.id])
  expect(records).toHaveLength(2)
  expect(records.filter((record) => record.includes(belief.id))).toHaveLength(1)
  for (const word of ['redis', 'cache', 'Sessions', 'Nothing']) expect(records.join()).not.toContain(word)
})
