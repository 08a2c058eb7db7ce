import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { writeFileWhole } from './commands/memory/transfer.ts'

async function* chunks(...texts: readonly (string | Error)[]): AsyncGenerator<string> {
  for (const text of texts) {
    if (text instanceof Error) throw text
    yield text
  }
}

/** Records the registered clean-ups, and whether they are still active. */
function interruptions() {
  const cleanUps = new Set<() => void>()
  const whenInterrupted = (cleanUp: () => void) => {
    cleanUps.add(cleanUp)
    return () => void cleanUps.delete(cleanUp)
  }
  return { cleanUps, whenInterrupted }
}

describe('writeFileWhole', () => {
  it('writes a private file in place of the old one', async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'out')
    writeFileSync(file, 'old', { mode: 0o666 })
    const { whenInterrupted, cleanUps } = interruptions()

    await writeFileWhole(file, chunks('a', 'é', 'b'), whenInterrupted)

    expect(readFileSync(file, 'utf8')).toBe('aéb')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(directory.path)).toEqual(['out'])
    expect(cleanUps.size).toBe(0)
  })

  it('leaves the old file and nothing else when writing ends in the middle', async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'out')
    writeFileSync(file, 'old')
    const { whenInterrupted, cleanUps } = interruptions()

    const failed = writeFileWhole(file, chunks('a', new Error('no more')), whenInterrupted)

    await expect(failed).rejects.toThrow('no more')
    expect(readFileSync(file, 'utf8')).toBe('old')
    expect(readdirSync(directory.path)).toEqual(['out'])
    expect(cleanUps.size).toBe(0)
  })

  it('cleans up its draft when interrupted', async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'out')
    const { whenInterrupted, cleanUps } = interruptions()
    const seen: string[][] = []
    async function* interrupted() {
      yield 'half'
      seen.push(readdirSync(directory.path))
      for (const cleanUp of cleanUps) cleanUp()
      seen.push(readdirSync(directory.path))
      throw new Error('interrupted')
    }

    await expect(writeFileWhole(file, interrupted(), whenInterrupted)).rejects.toThrow('interrupted')

    expect(seen).toEqual([[expect.stringMatching(/^\.out\.\d+\.tmp$/)], []])
  })
})
