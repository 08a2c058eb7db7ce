import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { makeDirectory } from './make-directory.ts'

const root = mkdtempSync(join(tmpdir(), 'credence-make-directory-'))
afterAll(() => rmSync(root, { recursive: true }))

describe('makeDirectory', () => {
  it('creates missing parents for the owner alone, and accepts an existing directory', () => {
    const path = join(root, 'a', 'b', 'c')

    makeDirectory(path)
    makeDirectory(path)

    for (const directory of [path, join(root, 'a')]) expect(statSync(directory).mode & 0o777).toBe(0o700)
  })

  it.each(['file', 'file/below'])('refuses %s if `file` is a file', (path) => {
    writeFileSync(join(root, 'file'), '')

    expect(() => makeDirectory(join(root, path))).toThrow(/EEXIST|ENOTDIR/u)
  })

  it.runIf(process.platform === 'linux')('fails below a file system that refuses new entries', () => {
    expect(() => makeDirectory('/proc/credence/a/b')).toThrow('ENOENT')
  })
})
