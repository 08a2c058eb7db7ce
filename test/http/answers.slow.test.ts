import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

it('describes the answers of operations and tools by the types that they return', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/types.ts', '--check'], {
    cwd: root,
    encoding: 'utf8',
  })

  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
}, 120_000)
