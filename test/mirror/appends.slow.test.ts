import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../temporary-directory.ts'
import { mirroredMemory } from './mirrored-memory.ts'

const writer = fileURLToPath(new URL('outside-writer.ts', import.meta.url))
const lineCount = 300
const tokensOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `outside${String(index).padStart(4, '0')}`)

/** Starts another program that writes to the file; resolves when it is done. */
function outsideWriter(
  file: string,
  manner: string,
  kind: 'line' | 'item',
  count: number,
): { readonly done: Promise<void>; isDone: boolean } {
  const child = spawn(process.execPath, [writer, file, manner, String(count), kind], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const state = {
    isDone: false,
    done: new Promise<void>((resolve, reject) => {
      child.on('error', reject).on('close', (code) => {
        state.isDone = true
        if (code === 0) resolve()
        else reject(new Error(`The other program ended with ${code}.`))
      })
    }),
  }
  return state
}

describe('concurrent writes of other programs', () => {
  it.each([
    [lineCount, 'append', 'line', 'document'],
    [100, 'append', 'item', 'document'],
    [100, 'append', 'item', 'person'],
    [50, 'held', 'line', 'document'],
    [lineCount, 'editor', 'line', 'document'],
    [100, 'editor', 'item', 'document'],
    [100, 'editor', 'item', 'person'],
  ] as const)(
    'are never lost: %i times %s of a %s, with the authority of a %s, during as many writes of ours',
    { timeout: 120_000 },
    async (count, manner, kind, mirrorAuthority) => {
      await using place = mirroredMemory({ mirrorAuthority })
      await place.memory.remember({ name: 'first', content: 'so that there is a file' })
      const other = outsideWriter(place.path(), manner, kind, count)

      let ours = 0
      while (ours < count || !other.isDone) {
        await place.memory.remember({ name: `ours ${ours % count}`, content: `said ${ours}`, scopes: ['project:x'] })
        ours += 1
        // Yields, because a change may finish without a turn of the event loop; the other program's exit would then go unnoticed.
        await turn()
      }
      await other.done
      await place.sync()

      const text = place.text()
      const known = new Set(Object.keys(await place.beliefs()))
      const waiting = JSON.stringify(await place.memory.candidates())
      const isKept = (token: string): boolean => text.includes(token) || known.has(token) || waiting.includes(token)
      const lost = tokensOf(count).filter((token) => !isKept(token))
      expect(ours).toBeGreaterThanOrEqual(count)
      expect(lost).toEqual([])
      const isWaiting = kind === 'item' && mirrorAuthority === 'document'
      // At most twenty edits wait at a time; the other lines stay in the file until there is room.
      expect(await place.memory.candidates()).toHaveLength(isWaiting ? 20 : 0)
      expect(
        place.problems.filter((problem) => !isWaiting || !/of MEMORY.md wait|wait for a person/u.test(problem)),
      ).toEqual([])
    },
  )
})

describe('simpler ways to write the file', () => {
  /** Adds a line 300 times, in a way that other programs write. */
  async function lostBy(write: (file: string, line: string) => Promise<void>): Promise<number> {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'MEMORY.md')
    writeFileSync(file, '# Memory\n')
    const other = outsideWriter(file, 'append', 'line', lineCount)
    for (let ours = 0; ours < lineCount || !other.isDone; ours += 1) await write(file, `ours ${ours}\n`)
    await other.done
    const text = readFileSync(file, 'utf8')
    return tokensOf(lineCount).filter((token) => !text.includes(token)).length
  }

  const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

  it('lose lines if the file is rewritten from an earlier read', { timeout: 60_000 }, async () => {
    const lost = await lostBy(async (file, line) => {
      const text = readFileSync(file, 'utf8')
      await pause(1)
      writeFileSync(`${file}.tmp`, text + line)
      renameSync(`${file}.tmp`, file)
    })

    expect(lost).toBeGreaterThan(0)
  })

  it('lose lines even if the file is compared once more before it is replaced', { timeout: 60_000 }, async () => {
    const lost = await lostBy(async (file, line) => {
      for (;;) {
        const text = readFileSync(file, 'utf8')
        await pause(1)
        writeFileSync(`${file}.tmp`, text + line)
        if (hash(readFileSync(file, 'utf8')) !== hash(text)) continue
        // Simulates the scheduler: the other program runs at this point.
        await pause(1)
        renameSync(`${file}.tmp`, file)
        return
      }
    })

    expect(lost).toBeGreaterThan(0)
  })
})
