import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../../../test/cli/sandbox.ts'

const bin = fileURLToPath(new URL('../../../bin/credence.js', import.meta.url))
const canMount = spawnSync('unshare', ['--mount', '--map-root-user', 'true']).status === 0

/** Runs commands in a namespace in which the memory is mounted read-only, also for root. */
function runReadOnly(place: ReturnType<typeof createSandbox>, dir: string, commands: readonly (readonly string[])[]) {
  const env = { PATH: process.env.PATH, HOME: place.home }
  return commands.map((argv) => {
    const program = `mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"`
    const words = ['-c', program, 'sh', dir, process.execPath, bin, ...argv, '--dir', dir]
    return spawnSync('unshare', ['--mount', '--map-root-user', 'sh', ...words], {
      env,
      cwd: place.work,
      encoding: 'utf8',
    })
  })
}

/** All files below a directory with permissions, modification times and bytes. */
const filesIn = (dir: string): readonly string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const file = join(parentPath, name)
      const { mode, mtimeMs } = statSync(file)
      return `${file} ${mode} ${mtimeMs} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`
    })
    .sort()

it('a reading command changes no file', async () => {
  using place = createSandbox()
  const dir = join(place.path, 'memory')
  await place.run('remember', 'Invoices are due in 14 days.', '--name', 'payment terms', '--dir', dir)
  await place.run('hear', 'The cache was moved to Redis.', '--session', 's1', '--dir', dir)
  const reading = [
    ['status'],
    ['doctor'],
    ['beliefs'],
    ['search', 'invoices'],
    ['why', 'payment terms', 'payment terms'],
    ['history', 'payment terms'],
    ['history'],
    ['show', 'payment terms'],
    ['conversations'],
    ['conversations', 'show', 's1'],
    ['export'],
    ['export', '--turns'],
    ['review'],
    ['mirror', 'status'],
  ]
  const before = filesIn(dir)

  for (const argv of reading) {
    const env = { PATH: process.env.PATH, HOME: place.home }
    const { status } = spawnSync(process.execPath, [bin, ...argv, '--dir', dir], { env, cwd: place.work })
    expect([argv, status, filesIn(dir)]).toEqual([argv, 0, before])
  }
  // Guards the test: a recall on a writable memory counts the beliefs that it showed, so it changes files.
  await place.run('recall', 'What are our payment terms?', '--dir', dir)
  expect(filesIn(dir)).not.toEqual(before)
})

describe('a memory on a read-only mount', () => {
  it('is read by every reading command, and refuses writing ones', async (context) => {
    if (!canMount) return context.skip('Linux namespaces are missing.')
    using place = createSandbox()
    const dir = join(place.path, 'memory')
    mkdirSync(dir, { mode: 0o700 })
    await place.run('remember', 'Invoices are due in 14 days.', '--name', 'payment terms', '--dir', dir)
    const reading = [
      ['recall', 'What are our payment terms?'],
      ['search', 'invoices'],
      ['list'],
      ['show', 'payment terms'],
      ['history', 'payment terms'],
      ['status'],
      ['doctor'],
      ['backup', join(place.path, 'copy.db')],
    ]
    const writing = [
      ['remember', 'Another.', '--name', 'other'],
      ['forget', 'payment terms', '--yes'],
      ['mirror', 'sync'],
      ['serve', '--port', '0'],
      ['restore', join(place.path, 'copy.db'), '--yes'],
      ['pause'],
    ]

    const answers = runReadOnly(place, dir, reading)
    const refused = runReadOnly(place, dir, writing)

    for (const [index, { status, stderr }] of answers.entries())
      expect([reading[index]?.[0], status, stderr]).toEqual([
        reading[index]?.[0],
        0,
        reading[index]?.[0] === 'backup' ? expect.stringContaining('restore') : '',
      ])
    for (const { stdout } of answers.slice(0, 5)) expect(stdout).toContain('14 days')
    for (const [index, { status, stderr }] of refused.entries())
      expect([writing[index]?.[0], status, stderr]).toEqual([
        writing[index]?.[0],
        3,
        expect.stringMatching(/read-only|reading only|cannot be created/u),
      ])
    const files = ['credence.db', 'credence.db-head', 'id']
    expect(readdirSync(join(dir, 'state')).sort()).toEqual(files)
  })

  it('is read with the changes that are still in its log', async (context) => {
    if (!canMount) return context.skip('Linux namespaces are missing.')
    using place = createSandbox()
    const dir = join(place.path, 'memory')
    await place.run('remember', 'Invoices are due in 14 days.', '--name', 'payment terms', '--dir', dir)
    // Kept open, so that the log remains.
    const { openSqliteStore } = await import('./sqlite-store.ts')
    const open = openSqliteStore({ file: join(dir, 'state', 'credence.db'), random: (bytes) => new Uint8Array(bytes) })
    await open.population({ user: 'local', agent: null, scopes: [] })
    await place.run('correct', 'payment terms', 'Invoices are due in 30 days.', '--dir', dir)

    const [answer] = runReadOnly(place, dir, [['recall', 'What are our payment terms?']])

    expect(answer).toMatchObject({ status: 0, stdout: expect.stringContaining('30 days') })
    await open.close()
  })
})
