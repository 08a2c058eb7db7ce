import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { openMemory, storeFile } from '../../src/open-memory.ts'
import { createSandbox } from './sandbox.ts'

/** A sandbox with a memory of one belief, a backup of it, and a second belief added after the backup. */
async function sandboxWithBackup() {
  const place = createSandbox()
  const dir = join(place.work, 'memory')
  const file = join(place.work, 'copy.db')
  await place.json('remember', 'The rollout window is Tuesday.', '--name', 'rollout', '--dir', dir)
  const made = await place.json('backup', file, '--dir', dir)
  await place.json('remember', 'The office is in Ghent.', '--name', 'office', '--dir', dir)
  const names = async (of = dir): Promise<readonly string[]> =>
    (await place.json('beliefs', '--dir', of)).items.map(({ name }: { name: string }) => name).sort()
  return { ...place, dir, file, made, names }
}

const leftovers = (dir: string): readonly string[] =>
  readdirSync(join(dir, 'state')).filter((name) => /tmp-|replaced|corrupt|-journal/u.test(name))

describe('credence backup', () => {
  it('writes a private, complete file, and lists its contents', async () => {
    using place = await sandboxWithBackup()

    expect(place.made).toMatchObject({ file: place.file, bytes: statSync(place.file).size, head: { number: 1 } })
    expect(statSync(place.file).mode & 0o777).toBe(0o600)
    expect(readdirSync(place.work).sort()).toEqual(['copy.db', 'memory'])
  })

  it('never overwrites a file, and requires a memory', async () => {
    using place = await sandboxWithBackup()

    const again = await place.run('backup', place.file, '--dir', place.dir)
    const nothing = await place.run('backup', join(place.work, 'other.db'), '--dir', join(place.work, 'none'))

    expect([again.exitCode, nothing.exitCode]).toEqual([3, 3])
    expect(again.stderr).toContain('already exists')
    expect(nothing.stderr).toContain('There is no memory')
    expect(existsSync(join(place.work, 'none'))).toBe(false)
  })
})

describe('credence restore', () => {
  it('restores the memory of the backup, with and without an existing one', async () => {
    using place = await sandboxWithBackup()
    const elsewhere = join(place.work, 'elsewhere')

    const here = await place.json('restore', place.file, '--yes', '--dir', place.dir)
    await place.json('restore', place.file, '--dir', elsewhere)

    expect(here).toMatchObject({ restored: true, beliefs: 1, head: place.made.head, replaced: { beliefs: 2 } })
    expect(await place.names()).toEqual(['rollout'])
    expect(await place.names(elsewhere)).toEqual(['rollout'])
    expect((await place.run('doctor', '--dir', place.dir)).exitCode).toBe(0)
    expect(statSync(storeFile(elsewhere)).mode & 0o777).toBe(0o600)
    expect([...leftovers(place.dir), ...leftovers(elsewhere)]).toEqual([])
  })

  it('asks before it replaces a memory', async () => {
    using place = await sandboxWithBackup()

    const unasked = await place.run('restore', place.file, '--dir', place.dir)
    const refused = await place.runWith({ columns: 80, stdin: 'n\n' }, 'restore', place.file, '--dir', place.dir)
    expect(await place.names()).toEqual(['office', 'rollout'])
    const accepted = await place.runWith({ columns: 80, stdin: 'y\n' }, 'restore', place.file, '--dir', place.dir)

    expect([unasked.exitCode, refused.exitCode, accepted.exitCode]).toEqual([2, 0, 0])
    expect(unasked.stderr).toContain('2 beliefs')
    expect(refused.stdout).toContain('Nothing was changed.')
    expect(refused.stderr).toContain('What was forgotten since the backup stays forgotten.')
    expect(await place.names()).toEqual(['rollout'])
  })

  it('restores no text that was forgotten since, until the forgetting is undone', async () => {
    using place = await sandboxWithBackup()
    const said = ['The rollout is on Tuesday, says the zeppelin.', '--session', 'chat-1', '--dir', place.dir] as const
    await place.json('hear', ...said)
    const newer = join(place.work, 'newer.db')
    await place.json('backup', newer, '--dir', place.dir)
    await place.json('forget', '--containing', 'zeppelin', '--yes', '--dir', place.dir)
    const { event } = (await place.json('forget', 'rollout', '--yes', '--dir', place.dir)) as { event: number }

    await place.json('restore', newer, '--yes', '--dir', place.dir)

    expect(await place.names()).toEqual(['office'])
    expect(readFileSync(storeFile(place.dir), 'latin1')).not.toContain('zeppelin')
    expect(await place.json('hear', ...said)).toMatchObject({ turns: [{ outcome: 'forgotten' }] })
    expect((await place.run('doctor', '--dir', place.dir)).exitCode).toBe(0)
    const again = (await place.json('history', '--dir', place.dir)) as { events: { number: number; kind: string }[] }
    const forgetting = again.events.find(({ kind }) => kind === 'forget')?.number
    expect(forgetting).not.toBe(event)
    await place.json('forget', '--reinstate', String(forgetting), '--dir', place.dir)
    expect(await place.json('hear', ...said)).toMatchObject({ turns: [{ outcome: 'kept' }] })
    expect((await place.run('forget', '--reinstate', '999', '--dir', place.dir)).exitCode).toBe(3)
  })

  it('restores MEMORY.md with the store', async () => {
    using place = await sandboxWithBackup()
    await place.run('mirror', 'sync', '--dir', place.dir)
    const mirror = () => readFileSync(join(place.dir, 'MEMORY.md'), 'utf8')
    expect(mirror()).toContain('Ghent')

    await place.json('restore', place.file, '--yes', '--dir', place.dir)

    expect(mirror()).toContain('Tuesday')
    expect(mirror()).not.toContain('Ghent')
    expect(await place.names()).toEqual(['rollout'])
  })

  it.each<[string, (file: string) => void]>([
    ['an empty file', (file) => truncateSync(file, 0)],
    ['a truncated file', (file) => truncateSync(file, Math.floor(statSync(file).size / 2 / 4096) * 4096)],
    ['a text file', (file) => writeFileSync(file, 'precious '.repeat(2000))],
    ['a database of another program', (file) => inDatabase(file, 'PRAGMA application_id = 7')],
    ['a database of a newer version', (file) => inDatabase(file, 'PRAGMA user_version = 999')],
    ['a store without its tables', (file) => inDatabase(file, 'DROP TABLE changes')],
    [
      'an altered journal',
      (file) => inDatabase(file, "DROP TRIGGER events_are_never_updated; UPDATE events SET origin = 'somebody'"),
    ],
    [
      'a journal without its changes',
      (file) => inDatabase(file, 'DROP TRIGGER changes_are_never_deleted; DELETE FROM changes'),
    ],
  ])('refuses %s, and changes nothing', async (_what, spoil) => {
    using place = await sandboxWithBackup()
    const spoiled = join(place.work, 'spoiled.db')
    copyFileSync(place.file, spoiled)
    spoil(spoiled)

    const ending = await place.run('restore', spoiled, '--yes', '--dir', place.dir)

    expect(ending.exitCode).toBe(3)
    expect(ending.stderr).toContain('spoiled.db')
    expect(ending.stderr).not.toContain('.tmp-')
    expect(await place.names()).toEqual(['office', 'rollout'])
    expect(leftovers(place.dir)).toEqual([])
  })

  it('refuses the store itself, a store in use, and a missing file', async () => {
    using place = await sandboxWithBackup()
    const other = join(place.work, 'other')
    const open = openMemory({ dir: other })
    await open.remember({ content: 'The other memory is open.' })

    const endings = [
      await place.run('restore', storeFile(place.dir), '--yes', '--dir', place.dir),
      await place.run('restore', storeFile(other), '--yes', '--dir', place.dir),
      await place.run('restore', join(place.work, 'none.db'), '--yes', '--dir', place.dir),
    ]
    await open.close()

    expect(endings.map(({ exitCode }) => exitCode)).toEqual([3, 3, 3])
    expect(endings.map(({ stderr }) => stderr).join()).toMatch(/the store itself.*in use.*There is no file/su)
    expect(await place.names()).toEqual(['office', 'rollout'])
  })

  it('does not wait for a process that has the memory open, and then changes nothing', async () => {
    using place = await sandboxWithBackup()
    const server = openMemory({ dir: place.dir })
    await server.list()

    const ending = await place.run('restore', place.file, '--yes', '--dir', place.dir)
    await server.remember({ content: 'The server goes on.', name: 'server' })
    await server.close()

    expect(ending.exitCode).toBe(3)
    expect(ending.stderr).toContain('in use')
    expect(await place.names()).toEqual(['office', 'rollout', 'server'])
    expect(leftovers(place.dir)).toEqual([])
  })

  it('keeps a damaged store under another name', async () => {
    using place = await sandboxWithBackup()
    writeFileSync(storeFile(place.dir), 'not a database at all '.repeat(500))

    const restored = await place.json('restore', place.file, '--yes', '--dir', place.dir)

    expect(restored).toMatchObject({ replaced: 'damaged', beliefs: 1 })
    expect(readFileSync(restored.setAside, 'utf8')).toContain('not a database')
    expect(await place.names()).toEqual(['rollout'])
  })
})

function inDatabase(file: string, sql: string): void {
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
}
