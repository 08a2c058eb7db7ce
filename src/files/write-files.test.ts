import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { writeFiles } from './write-files.ts'

describe('writeFiles', () => {
  it('writes every file completely, and creates its directory', () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'new', 'report.json')

    writeFiles([{ file, text: 'one' }])
    writeFiles([{ file, text: 'two' }])

    expect(readFileSync(file, 'utf8')).toBe('two')
    expect(readdirSync(join(directory.path, 'new'))).toEqual(['report.json'])
  })

  it('leaves all files unchanged if one of them cannot be written', () => {
    using directory = temporaryDirectory()
    const first = join(directory.path, 'first.json')
    const blocked = join(directory.path, 'blocked')
    writeFileSync(first, 'old')
    writeFileSync(blocked, 'a file where a directory would have to be')

    const writing = () =>
      writeFiles([
        { file: first, text: 'new' },
        { file: join(blocked, 'second.json'), text: 'x' },
      ])

    expect(writing).toThrow(expect.objectContaining({ code: 'unavailable' }))
    expect(readFileSync(first, 'utf8')).toBe('old')
    expect(readdirSync(directory.path).sort()).toEqual(['blocked', 'first.json'])
  })

  it('does not replace a directory with a file', () => {
    using directory = temporaryDirectory()
    const taken = join(directory.path, 'taken')
    mkdirSync(taken)

    expect(() => writeFiles([{ file: taken, text: 'x' }])).toThrow(expect.objectContaining({ code: 'unavailable' }))
    expect(readdirSync(directory.path)).toEqual(['taken'])
  })
})
