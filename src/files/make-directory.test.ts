import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { makeDirectory } from './make-directory.ts'

vi.mock('node:fs', async (actual) => {
  const fs = await actual<typeof import('node:fs')>()
  return { ...fs, existsSync: vi.fn(fs.existsSync) }
})

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

  it('ends if not even the root exists, such as a drive of Windows', () => {
    let looks = 0
    vi.mocked(existsSync).mockImplementation(() => {
      looks += 1
      if (looks > 100) throw new Error('endless')
      return false
    })

    expect(() => makeDirectory(join(root, 'file', 'below'))).toThrow(/EEXIST|ENOTDIR/u)
  })
})
