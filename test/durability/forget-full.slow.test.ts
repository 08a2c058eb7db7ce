import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox, endOf } from '../cli/sandbox.ts'

/** Appends to a file until the disk is full. */
function fill(file: string): void {
  for (let size = 1 << 20; size >= 1; size >>= 1)
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size, 1))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
}

const secret = 'The vault opens with 48213-kestrel.'

/** A memory on a disk of this many MB; null if none can be mounted here. */
async function onDisk(place: ReturnType<typeof createSandbox>, size: number) {
  const disk = join(place.path, 'disk')
  mkdirSync(disk)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}m`, 'tmpfs', disk], { encoding: 'utf8' })
  if (mounted.status !== 0) return null
  const dir = join(disk, 'memory')
  const credence = async (...argv: readonly string[]) => endOf(place.start([...argv, '--dir', dir]))
  await credence('remember', secret, '--name', 'vault code')
  for (let index = 0; index < 10; index += 1)
    await credence('remember', `Fact ${index} is about gardening. ${'Leaf. '.repeat(100)}`, '--name', `fact ${index}`)
  await credence('mirror', 'sync')
  return {
    disk,
    dir,
    credence,
    filler: join(disk, 'filler'),
    [Symbol.dispose]: () => void spawnSync('umount', ['--lazy', disk]),
  }
}

describe('forgetting on a full disk', () => {
  it.each([5, 8])(
    'of %i MB is refused with a clear error, reading still works, and forgetting works again with free space',
    {
      timeout: 300_000,
    },
    async (size) => {
      using place = createSandbox()
      using mounted = await onDisk(place, size)
      if (mounted === null) return console.log('Skipped: a small disk cannot be mounted here.')
      const { disk, dir, credence, filler } = mounted
      fill(filler)
      expect(statfsSync(disk).bavail).toBe(0)

      const refused = await credence('import', '--trusted', hugeFile(place.path))
      const forgotten = await credence('forget', 'vault code', '--yes')
      const recalled = await credence('recall', 'How does the vault code work?')
      const doctor = await credence('doctor')
      const copied = await credence('backup', join(disk, 'copy.db'))

      expect([refused.exitCode, refused.stderr]).toEqual([3, expect.stringContaining('full')])
      expect([forgotten.exitCode, forgotten.stderr]).toEqual([3, expect.stringMatching(/full[\s\S]*Free some space/u)])
      expect([recalled.exitCode, recalled.stderr]).toEqual([0, ''])
      expect(recalled.stdout).toContain('48213-kestrel')
      expect(doctor.exitCode).toBe(0)
      expect([copied.exitCode, copied.stderr]).toEqual([3, expect.stringContaining(join(disk, 'copy.db'))])
      rmSync(filler)
      const again = await credence('forget', 'vault code', '--yes', '--verify')
      expect([again.exitCode, again.stderr]).toEqual([0, ''])
      expect(again.stdout).toContain('Nothing is left')
      expect(filesContaining(dir, 'kestrel')).toEqual([])
    },
  )

  it('with space for the change only erases the text, and reports that `credence doctor` removes its last bytes', {
    timeout: 300_000,
  }, async () => {
    using place = createSandbox()
    using mounted = await onDisk(place, 8)
    if (mounted === null) return console.log('Skipped: a small disk cannot be mounted here.')
    const { dir, credence, filler } = mounted
    await credence('import', '--trusted', hugeFile(place.path, 100))
    fill(filler)
    truncateSync(filler, statSync(filler).size - 600_000)

    const forgotten = await credence('forget', 'vault code', '--yes')
    const recalled = await credence('recall', 'How does the vault code work?')

    expect([forgotten.exitCode, forgotten.stderr]).toEqual([0, expect.stringContaining('`credence doctor` removes')])
    expect(recalled.stdout).not.toContain('kestrel')
    rmSync(filler)
    const doctor = await credence('doctor')
    expect(doctor.stdout).toMatch(/^ok +forgotten .*is removed now$/mu)
    expect(filesContaining(dir, 'kestrel').filter((file) => file.includes('credence.db'))).toEqual([])
    // The disk was also too full to write the mirror, so the forget is repeated.
    const rest = await credence('forget', '--containing', 'kestrel', '--yes', '--verify')
    expect([rest.exitCode, filesContaining(dir, 'kestrel')]).toEqual([0, []])
  })
})

function hugeFile(directory: string, records = 300): string {
  const file = join(directory, 'huge.jsonl')
  for (let index = 0; index < records; index += 1) {
    const record = { name: `import ${index}`, content: `${index} ${'x'.repeat(8000)}`, type: 'entity' }
    appendFileSync(file, `${JSON.stringify(record)}\n`)
  }
  return file
}

const filesContaining = (dir: string, text: string): readonly string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).toString('latin1').toLowerCase().includes(text))
