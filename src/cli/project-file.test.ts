import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { MemoryError } from '../errors.ts'
import { findProjectFile, parseProjectFile, projectFileName } from './project-file.ts'

describe('findProjectFile', () => {
  it('finds the nearest file upwards, and nothing where there is none', () => {
    using directory = temporaryDirectory()
    const deep = join(directory.path, 'a', 'b')
    mkdirSync(deep, { recursive: true })

    const before = findProjectFile(deep)
    writeFileSync(join(directory.path, projectFileName), '{"scope": "project:outer"}')
    const outer = findProjectFile(deep)
    writeFileSync(join(directory.path, 'a', projectFileName), '{"scope": "project:inner", "dir": "../memory"}')
    const inner = findProjectFile(deep)

    expect(before).toBeNull()
    expect(outer).toMatchObject({ scope: 'project:outer', dir: null, enabled: true })
    expect(inner).toMatchObject({ scope: 'project:inner', dir: join(directory.path, 'memory') })
  })

  it('takes no directory for a file', () => {
    using directory = temporaryDirectory()
    mkdirSync(join(directory.path, projectFileName))
    symlinkSync('nowhere', join(directory.path, 'dangling'))

    expect(findProjectFile(directory.path)).toBeNull()
  })
})

describe('a project file', () => {
  it('keeps the scope first that new beliefs go to', () => {
    const { scopes } = parseProjectFile('{"scopes": ["project:z", "user:universal", "domain:a", "project:z"]}', 'f')

    expect(scopes).toEqual(['project:z', 'domain:a', 'user:universal'])
  })

  it.each([
    ['{"scpoe": "project:x"}', 'Did you mean "scope"?'],
    ['{"scope": "project:x", "scopes": ["project:y"]}', 'Give one.'],
    ['{"scopes": []}', 'Write a list of scopes.'],
    ['{"scope": "x"}', 'Write kind:path'],
    ['{"enabled": "no"}', 'Write true or false.'],
    ['{"dir": ""}', 'Write a text that is not empty.'],
    ['[]', 'Write {"scope"'],
    ['{', 'Write {"scope"'],
  ])('%s is refused with a word on what to write', (text, hint) => {
    const parse = () => parseProjectFile(text, 'f')

    expect(parse).toThrow(MemoryError)
    expect(parse).toThrow(expect.objectContaining({ hint: expect.stringContaining(hint) }))
  })

  it('of whatever text is read or refused, never half read', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        try {
          const { scope, scopes } = parseProjectFile(text, 'f')
          expect(scope === null || scopes === null).toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(MemoryError)
        }
      }),
    )
  })
})
