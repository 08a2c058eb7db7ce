import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { memoryDirectory, userConfigFile } from './memory-directory.ts'

describe('memoryDirectory', () => {
  const home = '/home/ada'

  it('is what was given, else the environment, both from the working directory', () => {
    using directory = temporaryDirectory()
    const here = { cwd: () => directory.path, home }

    expect(memoryDirectory({ ...here, given: 'a', env: { CREDENCE_DIR: 'b' } })).toBe(join(directory.path, 'a'))
    expect(memoryDirectory({ ...here, given: undefined, env: { CREDENCE_DIR: 'b' } })).toBe(join(directory.path, 'b'))
    expect(memoryDirectory({ ...here, given: '/m', env: {} })).toBe('/m')
  })

  it('is ./memory only where that is a memory', () => {
    using directory = temporaryDirectory()
    const found = () => memoryDirectory({ given: undefined, env: {}, cwd: () => directory.path, home })

    mkdirSync(join(directory.path, 'memory'))
    const before = found()
    writeFileSync(join(directory.path, 'memory', 'MEMORY.md'), '')
    const after = found()

    expect(before).toBe('/home/ada/.local/share/credence')
    expect(after).toBe(join(directory.path, 'memory'))
  })

  it("is in the user's data directory otherwise, where a relative path is ignored", () => {
    using directory = temporaryDirectory()
    const here = { given: undefined, cwd: () => directory.path, home }

    expect(memoryDirectory({ ...here, env: { XDG_DATA_HOME: '/data', CREDENCE_DIR: '' } })).toBe('/data/credence')
    expect(memoryDirectory({ ...here, env: { XDG_DATA_HOME: 'data' } })).toBe('/home/ada/.local/share/credence')
  })
})

it('finds the settings of the user', () => {
  expect(userConfigFile({}, '/home/ada')).toBe('/home/ada/.config/credence/config.json')
  expect(userConfigFile({ XDG_CONFIG_HOME: '/etc/ada' }, '/home/ada')).toBe('/etc/ada/credence/config.json')
})
