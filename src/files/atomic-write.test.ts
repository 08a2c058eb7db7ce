import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { writeAtomically } from './atomic-write.ts'
import { sweepLeftovers } from './leftovers.ts'

/** An id that no process has: operating systems assign only far smaller ids. */
const deadPid = 2 ** 30

describe('writing a file', () => {
  it('makes a private directory, and leaves no other files behind', async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'runs', 'a.json')

    expect(await writeAtomically(path, 'one', { existing: 'replace' })).toBe(true)
    expect(await writeAtomically(path, 'two', { existing: 'replace' })).toBe(true)

    expect(readFileSync(path, 'utf8')).toBe('two')
    expect(readdirSync(join(directory.path, 'runs'))).toEqual(['a.json'])
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('is synced before it gets its name, and its directory afterwards', async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'a.json')
    writeFileSync(path, 'old')
    await using handle = await open(path)
    /** The content of the file at each synchronisation. */
    const seen: string[] = []
    using _spy = vi.spyOn(Object.getPrototypeOf(handle), 'sync').mockImplementation(async () => {
      seen.push(readFileSync(path, 'utf8'))
    })

    await writeAtomically(path, 'new', { existing: 'replace' })

    expect(seen).toEqual(process.platform === 'win32' ? ['old'] : ['old', 'new'])
    await writeAtomically(path, 'newer', { existing: 'replace', durable: false })
    expect(seen.slice(2)).toEqual([])
  })

  it('does not replace an existing file with `keep`', async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'a.json')

    const answers = await Promise.all(
      ['one', 'two', 'three'].map((text) => writeAtomically(path, text, { existing: 'keep' })),
    )

    expect(answers.filter((isWritten) => isWritten)).toHaveLength(1)
    expect(['one', 'two', 'three'][answers.indexOf(true)]).toBe(readFileSync(path, 'utf8'))
    expect(readdirSync(directory.path)).toEqual(['a.json'])
  })

  it('is never seen half written, even if writers are killed', async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'a.json')
    const module = new URL('./atomic-write.ts', import.meta.url).href
    const script = `
      const { writeAtomically } = await import(${JSON.stringify(module)})
      for (let round = 0; ; round += 1) {
        await writeAtomically(${JSON.stringify(path)}, JSON.stringify(Array(50_000).fill(round)), { existing: 'replace' })
        if (round === 2) console.log('going')
      }`
    const writers = [1, 2].map(() =>
      spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] }),
    )
    await Promise.all(writers.map(({ stdout }) => once(stdout, 'data')))
    const rounds = Array.from({ length: 50 }, () => JSON.parse(readFileSync(path, 'utf8')) as number[])
    for (const writer of writers) {
      const exit = once(writer, 'exit')
      writer.kill('SIGKILL')
      await exit
    }

    for (const round of [...rounds, JSON.parse(readFileSync(path, 'utf8')) as number[]]) {
      expect(round).toHaveLength(50_000)
      expect(new Set(round).size).toBe(1)
    }
    await sweepLeftovers(directory.path)
    expect(readdirSync(directory.path)).toEqual(['a.json'])
  })
})

describe('sweeping', () => {
  it('removes only temporary files of dead processes', async () => {
    using directory = temporaryDirectory()
    const names = [
      `.tmp-${deadPid}-0a0b0c0d-run.json`,
      `.tmp-${process.pid}-0a0b0c0d-run.json`,
      '.tmp-note',
      '.gitkeep',
      'run.json',
    ]
    for (const name of names) writeFileSync(join(directory.path, name), '')

    await sweepLeftovers(directory.path)

    expect(readdirSync(directory.path).sort()).toEqual(names.slice(1).sort())
  })

  it('restores a file that a killed replacement had moved aside, unless the replacement is complete', async () => {
    using directory = temporaryDirectory()
    const put = (folder: string) => {
      mkdirSync(join(directory.path, folder))
      writeFileSync(join(directory.path, folder, 'content'), folder)
    }
    put(`.replaced-${deadPid}-00000000-lost`)
    put(`.replaced-${deadPid}-00000000-arrived`)
    put('arrived')
    put(`.staged-${deadPid}-00000000-pack`)

    await sweepLeftovers(directory.path)

    expect(readdirSync(directory.path).sort()).toEqual(['arrived', 'lost'])
    expect(readFileSync(join(directory.path, 'arrived', 'content'), 'utf8')).toBe('arrived')
  })

  it('does nothing in an empty directory', async () => {
    using directory = temporaryDirectory()

    await expect(sweepLeftovers(join(directory.path, 'missing'))).resolves.toBeUndefined()
  })
})
