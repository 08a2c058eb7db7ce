import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { endOf, workplace } from '../cli/workplace.ts'

/** Adds to a file until the disk takes nothing more. */
function fill(file: string): void {
  for (let size = 1 << 20; size >= 1; size >>= 1)
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size, 1))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
}

describe('forgetting on a full disk', () => {
  it.each([5, 8])('of %i MB removes the text from the store and from MEMORY.md', { timeout: 300_000 }, async (size) => {
    using place = workplace()
    const disk = join(place.path, 'disk')
    mkdirSync(disk)
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}m`, 'tmpfs', disk], { encoding: 'utf8' })
    if (mounted.status !== 0) {
      console.log(`Skipped: a small disk cannot be mounted here: ${mounted.error?.message ?? mounted.stderr}`)
      return
    }
    try {
      const dir = join(disk, 'memory')
      const credence = async (...argv: readonly string[]) => endOf(place.start([...argv, '--dir', dir]))
      await credence('remember', 'The vault opens with 48213-kestrel.', '--name', 'vault code')
      for (let index = 0; index < 10; index += 1)
        await credence(
          'remember',
          `Fact ${index} is about gardening. ${'Leaf. '.repeat(100)}`,
          '--name',
          `fact ${index}`,
        )
      await credence('mirror', 'sync')
      fill(join(disk, 'filler'))
      expect(statfsSync(disk).bavail).toBe(0)

      const refused = await credence('import', '--trusted', hugeFile(place.path))
      const recalled = await credence('recall', 'How does the vault code work?')
      const forgotten = await credence('forget', 'vault code', '--yes', '--verify')

      expect([refused.exitCode, refused.stderr]).toEqual([3, expect.stringContaining('full')])
      expect(recalled.stdout).toContain('48213-kestrel')
      expect([forgotten.exitCode, forgotten.stderr]).toEqual([0, ''])
      expect(forgotten.stdout).toContain('Nothing is left')
      expect(holding(dir, 'kestrel')).toEqual([])
      fill(join(disk, 'filler'))
      expect((await credence('doctor')).exitCode).toBe(0)
      // Others take the room at once that a forget or a recall has made, as often as they can.
      for (const index of [0, 1, 2, 3, 4, 5]) {
        fill(join(disk, 'filler'))
        const again = await credence('forget', `fact ${index}`, '--yes')
        fill(join(disk, 'filler'))
        const kept = await credence('recall', 'What is fact 9 about?')

        expect([again.exitCode, again.stderr, kept.exitCode, kept.stderr]).toEqual([0, '', 0, ''])
        expect(kept.stdout).toContain('gardening')
      }
      const copied = await credence('backup', join(disk, 'copy.db'))
      expect([copied.exitCode, copied.stderr]).toEqual([3, expect.stringContaining(join(disk, 'copy.db'))])
      rmSync(join(disk, 'filler'))
      expect((await credence('remember', 'There is room again.')).exitCode).toBe(0)
      expect(readdirSync(join(dir, 'state'))).toContain('credence.db-reserve')
    } finally {
      spawnSync('umount', ['--lazy', disk])
    }
  })
})

function hugeFile(directory: string): string {
  const file = join(directory, 'huge.jsonl')
  for (let index = 0; index < 300; index += 1) {
    const record = { name: `import ${index}`, content: `${index} ${'x'.repeat(8000)}`, type: 'entity' }
    appendFileSync(file, `${JSON.stringify(record)}\n`)
  }
  return file
}

const holding = (dir: string, text: string): readonly string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).toString('latin1').toLowerCase().includes(text))
