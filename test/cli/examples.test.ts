import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../temporary-directory.ts'

const example = fileURLToPath(new URL('../../examples/first-recall.ts', import.meta.url))

describe('examples/first-recall.ts', () => {
  it('runs in a clone as its comment says, and recalls only the named beliefs', () => {
    using directory = temporaryDirectory()

    const { status, stdout, stderr } = spawnSync(process.execPath, ['--conditions=credence-source', example], {
      cwd: directory.path,
      encoding: 'utf8',
    })

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(/^payment terms scored \d\.\d\d for "due date"\n<memory>\n/)
    expect(stdout).toContain('- payment terms: Invoices are due after 14 days.')
    expect(stdout).not.toContain('Redis')
  })
})
