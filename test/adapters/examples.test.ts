import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../temporary-directory.ts'

it.each([
  ['ai-sdk', /<memory>.*staging port is 5433/u],
  ['anthropic', /\n {5}1\tThe staging port is 5434\.\n$/u],
  ['langgraph', /^tea \{ text: 'Ana drinks black tea.' \}\n$/u],
])('the example of %s runs', (name, output) => {
  using directory = temporaryDirectory()
  const example = join(import.meta.dirname, '..', '..', 'examples', `${name}.ts`)
  const ran = spawnSync(process.execPath, ['--conditions=credence-source', '--no-warnings', example], {
    cwd: directory.path,
    encoding: 'utf8',
  })
  expect(ran.stderr).toBe('')
  expect(ran.stdout).toMatch(output)
})
