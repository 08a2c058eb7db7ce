import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { mirroredMemory } from './mirrored-memory.ts'

const program = fileURLToPath(new URL('remembering-process.ts', import.meta.url))

type Child = ChildProcessByStdio<null, Readable, Readable>

const start = (dir: string, label: string, count: number): Child =>
  spawn(process.execPath, [program, dir, label, String(count)], { stdio: ['ignore', 'pipe', 'pipe'] })

/** The output of a process. */
async function endOf(child: Child): Promise<{ readonly said: readonly string[]; readonly problems: string }> {
  let out = ''
  let problems = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    problems += chunk
  })
  await new Promise((resolve) => child.on('close', resolve))
  return { said: out.split('\n').filter((line) => line !== ''), problems }
}

const shownIn = (text: string): readonly string[] =>
  [...text.matchAll(/^- \*\*(.+?)\*\*: /gmu)].map(([, name]) => name as string)

describe('several processes with one mirror', () => {
  it('show every belief of each process, once', { timeout: 60_000 }, async () => {
    await using place = mirroredMemory()
    const labels = ['codex', 'cursor', 'claude']

    const ends = await Promise.all(labels.map((label) => endOf(start(place.dir, label, 15))))
    await place.sync()

    expect(ends.map(({ problems }) => problems)).toEqual(['', '', ''])
    const said = ends.flatMap((end) => end.said)
    expect(said).toHaveLength(45)
    expect([...shownIn(place.text())].sort()).toEqual([...said].sort())
    expect((await place.status()).isInSync).toBe(true)
  })

  it('that are killed at any moment leave a complete file, and the next sync catches up', {
    timeout: 120_000,
  }, async () => {
    await using place = mirroredMemory()
    const acknowledged = new Set<string>()
    for (let round = 0; round < 8; round += 1) {
      const child = start(place.dir, `round${round}`, 1_000)
      const end = endOf(child)
      let heard = 0
      child.stdout.on('data', () => {
        heard += 1
        if (heard > round * 2) child.kill('SIGKILL')
      })
      for (const name of (await end).said) acknowledged.add(name)
      // The file may be gone for a moment, but is never incomplete.
      if (existsSync(place.path())) expect(place.text()).toMatch(/^# Memory\n.*<!-- Lines added here[^>]*-->\n$/su)
      expect((await place.sync()).outcome).toBe('synced')
    }

    const shown = new Set(shownIn(place.text()))
    expect([...acknowledged].filter((name) => !shown.has(name))).toEqual([])
    expect([...shown].sort()).toEqual(Object.keys(await place.beliefs()).sort())
    expect(readdirSync(place.dir).filter((name) => name.startsWith('.'))).toEqual([])
    expect(place.has('state/mirror/replaced.md')).toBe(false)
  })
})
