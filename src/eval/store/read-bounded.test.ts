import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { type Line, readLines } from '../../files/lines.ts'
import { readBounded } from './parse-artifact.ts'

const refusal = (message: string) => ({ ok: false, problems: [{ file: 'f', field: '(document)', message }] })

describe('reading a bounded file', () => {
  it.each([0, 1, 65_535, 65_536, 65_537, 200_000])('returns all of %i bytes', (size) => {
    using directory = temporaryDirectory()
    const bytes = Buffer.alloc(size, 'abc')
    writeFileSync(join(directory.path, 'f'), bytes)

    const read = readBounded(join(directory.path, 'f'), 'f')

    expect(read.ok && bytes.equals(read.value)).toBe(true)
  })

  it('returns bytes that a later read does not change', () => {
    using directory = temporaryDirectory()
    for (const name of ['a', 'b']) writeFileSync(join(directory.path, name), name)

    const read = readBounded(join(directory.path, 'a'), 'a')
    readBounded(join(directory.path, 'b'), 'b')

    expect(read).toMatchObject({ value: Buffer.from('a') })
  })

  it('refuses a path that is too large, missing, a link or not a file', () => {
    using directory = temporaryDirectory()
    const at = (name: string) => join(directory.path, name)
    writeFileSync(at('large'), 'x'.repeat(101))
    symlinkSync(at('large'), at('link'))
    mkdirSync(at('folder'))

    expect(readBounded(at('large'), 'f', 100)).toEqual(refusal('is larger than 100 bytes'))
    expect(readBounded(at('missing'), 'f')).toEqual(refusal('does not exist'))
    expect(readBounded(at('link'), 'f')).toEqual(refusal('is a symbolic link, which is not followed'))
    expect(readBounded(at('folder'), 'f')).toEqual(refusal('is a folder and not a file'))
  })

  it.skipIf(process.platform === 'win32')('does not block on a pipe without a writer', () => {
    using directory = temporaryDirectory()
    spawnSync('mkfifo', [join(directory.path, 'pipe')])

    expect(readBounded(join(directory.path, 'pipe'), 'f')).toMatchObject({ ok: true, value: Buffer.alloc(0) })
  })
})

describe('reading lines', () => {
  it('numbers lines, and reports an unfinished last line', async () => {
    using directory = temporaryDirectory()
    const long = 'x'.repeat(100_000)
    writeFileSync(join(directory.path, 'f'), `one\n\n${long}\ntorn`)

    const lines: Line[] = []
    for await (const line of readLines(join(directory.path, 'f'))) lines.push(line)

    expect(lines.map(({ number, bytes, isWhole }) => [number, String(bytes), isWhole])).toEqual([
      [1, 'one', true],
      [2, '', true],
      [3, long, true],
      [4, 'torn', false],
    ])
  })
})
