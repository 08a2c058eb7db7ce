import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import {
  checkOwn,
  checkPlain,
  examineFiles,
  prepareOwnDirectory,
  prepareOwnPath,
  shellWord,
  writePrivate,
} from './own-files.ts'

const refusal = (message: string) => expect.objectContaining({ code: 'unavailable', message })

describe('prepareOwnPath', () => {
  it('creates the directories of a file for its owner alone, and the memory directory too', () => {
    using directory = temporaryDirectory()
    const root = join(directory.path, 'memory')

    const path = prepareOwnPath(root, join(root, 'state', 'mirror', 'lock'))

    expect(path).toBe(join(root, 'state', 'mirror', 'lock'))
    for (const name of ['', 'state', 'state/mirror']) expect(lstatSync(join(root, name)).mode & 0o777).toBe(0o700)
    expect(existsSync(path)).toBe(false)
  })

  it('creates nothing through a link', () => {
    using directory = temporaryDirectory()
    const root = join(directory.path, 'memory')
    const elsewhere = join(directory.path, 'elsewhere')
    for (const path of [root, elsewhere]) mkdirSync(path)
    symlinkSync(elsewhere, join(root, 'state'))

    const wanted = refusal(`${join(root, 'state')} is a symbolic link, and a memory contains no links.`)
    expect(() => prepareOwnPath(root, join(root, 'state', 'mirror', 'lock'))).toThrow(wanted)
    expect(() => prepareOwnDirectory(root, join(root, 'state', 'mirror'))).toThrow(wanted)
    expect(existsSync(join(elsewhere, 'mirror'))).toBe(false)
  })

  it('refuses a link that leads nowhere, and a path outside', () => {
    using directory = temporaryDirectory()
    symlinkSync('nowhere', join(directory.path, 'log'))

    expect(() => prepareOwnPath(directory.path, join(directory.path, 'log'))).toThrow('is a symbolic link')
    expect(() => prepareOwnPath(directory.path, join(directory.path, '..', 'log'))).toThrow('is outside of')
  })

  it('accepts a memory directory that is itself a link, because the person chose it', () => {
    using directory = temporaryDirectory()
    mkdirSync(join(directory.path, 'real'))
    symlinkSync('real', join(directory.path, 'memory'))
    const root = join(directory.path, 'memory')

    checkOwn(root, root)
    expect(prepareOwnPath(root, join(root, 'state', 'id'))).toBe(join(root, 'state', 'id'))
  })

  it.each([0o770, 0o702, 0o1777])('refuses a directory with the mode %o, at every depth', (mode) => {
    using directory = temporaryDirectory()
    const state = join(directory.path, 'state')
    mkdirSync(state)

    chmodSync(state, mode)
    expect(() => prepareOwnPath(directory.path, join(state, 'id'))).toThrow(
      expect.objectContaining({ code: 'unavailable', hint: `Run: chmod 700 ${state}` }),
    )
    chmodSync(state, 0o755)
    chmodSync(directory.path, mode)
    expect(() => prepareOwnPath(directory.path, join(state, 'id'))).toThrow('Other users may write to the directory')
    chmodSync(directory.path, 0o755)
    prepareOwnPath(directory.path, join(state, 'id'))
  })
})

it('checkPlain refuses links, and leaves permissions to the person', () => {
  using directory = temporaryDirectory()
  chmodSync(directory.path, 0o777)
  symlinkSync('nowhere', join(directory.path, 'runs'))

  checkPlain(directory.path, join(directory.path, 'baselines', 'main.json'))
  expect(() => checkPlain(directory.path, join(directory.path, 'runs', 'one.json'))).toThrow('is a symbolic link')
})

describe('writePrivate', () => {
  it('appends or replaces', () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'log')

    writePrivate(file, 'one', 'append')
    writePrivate(file, ' two', 'append')
    const appended = readFileSync(file, 'utf8')
    writePrivate(file, 'x', 'replace')

    expect([appended, readFileSync(file, 'utf8')]).toEqual(['one two', 'x'])
    expect(lstatSync(file).mode & 0o777).toBe(0o600)
  })

  it.each(['append', 'replace'] as const)('does not %s through a link', (how) => {
    using directory = temporaryDirectory()
    const victim = join(directory.path, 'victim')
    const link = join(directory.path, 'link')
    writeFileSync(victim, 'mine')
    symlinkSync(victim, link)

    expect(() => writePrivate(link, 'x', how)).toThrow(expect.objectContaining({ code: 'ELOOP' }))
    expect(readFileSync(victim, 'utf8')).toBe('mine')
  })
})

it('examineFiles finds links and open permissions', () => {
  using directory = temporaryDirectory()
  const state = join(directory.path, 'state')
  mkdirSync(state, { mode: 0o700 })
  writeFileSync(join(state, 'open'), '', { mode: 0o644 })
  writeFileSync(join(state, 'closed'), '', { mode: 0o600 })
  symlinkSync('closed', join(state, 'link'))
  writeFileSync(join(directory.path, 'MEMORY.md'), '', { mode: 0o644 })

  expect(examineFiles(directory.path, state)).toEqual({
    links: [join(state, 'link')],
    foreign: [],
    loose: [join(state, 'open')],
  })
})

it.each([
  ['/home/ada/memory', '/home/ada/memory'],
  ['/home/ada lovelace/memory', "'/home/ada lovelace/memory'"],
  ["/it's; rm -rf", "'/it'\\''s; rm -rf'"],
])('shellWord of %s is one word', (path, word) => {
  expect(shellWord(path)).toBe(word)
})
