import { spawnSync } from 'node:child_process'
import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { watchMirror } from '../../src/memory/mirror/watch.ts'
import { count } from '../full-counts.ts'
import { personalMemory } from './mirrored-memory.ts'

type Editor = {
  readonly name: string
  /** The required program. */
  readonly program: string | null
  /** Replaces `old` by `now` on every line. */
  readonly save: (file: string, old: string, now: string) => void
}

const run = (program: string, argv: readonly string[], input = ''): void => {
  const { status, stderr } = spawnSync(program, argv, {
    input,
    encoding: 'utf8',
    env: { ...process.env, TERM: 'xterm' },
  })
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`)
}

const changed = (file: string, old: string, now: string): string => readFileSync(file, 'utf8').replaceAll(old, now)

/** How editors and tools save: in place, by renaming a new file, by removing the old one first, by appending. */
const editors: readonly Editor[] = [
  { name: 'vim', program: 'vim', save: vim('set backupcopy=auto') },
  { name: 'vim that writes in place', program: 'vim', save: vim('set backupcopy=yes') },
  { name: 'vim that renames', program: 'vim', save: vim('set backupcopy=no') },
  { name: 'ed', program: 'ed', save: (file, old, now) => run('ed', ['-s', file], `,s/${old}/${now}/g\nw\nq\n`) },
  { name: 'sed -i', program: 'sed', save: (file, old, now) => run('sed', ['-i', `s/${old}/${now}/g`, file]) },
  {
    name: 'a tool that writes the whole file',
    program: null,
    save: (file, old, now) => writeFileSync(file, changed(file, old, now)),
  },
  {
    name: 'a tool that removes the file and writes it anew',
    program: null,
    save: (file, old, now) => {
      const text = changed(file, old, now)
      rmSync(file)
      writeFileSync(file, text)
    },
  },
]

function vim(setting: string): Editor['save'] {
  return (file, old, now) =>
    run('vim', ['-u', 'NONE', '-es', '-c', setting, '-c', `%s/${old}/${now}/g`, '-c', 'wq', file])
}

/** Waits for a condition, however slow the machine is; fails when the test times out. */
async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isSo())) await pause(20)
}

/** A memory whose file is watched, as by `credence serve`. */
async function watched(work: (place: ReturnType<typeof personalMemory>, written: () => number) => Promise<void>) {
  await using place = personalMemory()
  await place.memory.remember({ name: 'harbour', content: 'The harbour has pier0000.' })
  const stop = new AbortController()
  let writes = 0
  const problems: unknown[] = []
  const watching = (async () => {
    const request = { dir: place.dir, user: 'local', authority: 'person', signal: stop.signal } as const
    for await (const event of watchMirror(place.ports, request)) {
      if (event instanceof Error) problems.push(event)
      else writes += event.written.length
    }
  })()
  try {
    await work(place, () => writes)
  } finally {
    stop.abort()
    await watching
  }
  expect(problems).toEqual([])
  expect(place.problems).toEqual([])
}

const isHere = (program: string | null): boolean =>
  program === null || spawnSync(program, ['--version']).error === undefined

const saves = count(30)

describe('a person who edits MEMORY.md', () => {
  it.for(editors)(
    `$name: ${saves} saves reach the store, and Credence writes nothing in return`,
    { timeout: 600_000 },
    async (editor, { skip }) => {
      if (!isHere(editor.program)) skip(`${editor.program} is not installed.`)
      await watched(async (place, written) => {
        const content = async (): Promise<string> => (await place.beliefs()).harbour ?? ''
        const before = written()
        for (let save = 1; save <= saves; save += 1) {
          const [old, now] = [save - 1, save].map((number) => `pier${String(number).padStart(4, '0')}`)
          editor.save(place.path(), old ?? '', now ?? '')
          // Every second save is detected separately, the others together with the next one.
          if (save % 2 === 0) await until(async () => (await content()).includes(now ?? ''))
        }
        const last = `pier${String(saves).padStart(4, '0')}`
        await until(async () => (await content()).includes(last))
        await until(async () => (await place.status()).isInSync)

        expect(written() - before).toBeLessThanOrEqual(saves)
        expect(await place.beliefs()).toEqual({ harbour: `The harbour has ${last}.` })
        expect(place.text()).toContain(last)
        // When in sync, two more rounds of the watcher leave the file unchanged.
        const { mtimeMs, ino } = statSync(place.path())
        const syncs = written()
        for (let round = 0; round < 2; round += 1) await place.sync()
        expect([statSync(place.path()).mtimeMs, statSync(place.path()).ino, written()]).toEqual([mtimeMs, ino, syncs])
      })
    },
  )

  it(`${count(200)} saves in a row end in one state, with at most two writes of ours for each`, {
    timeout: 600_000,
  }, async () => {
    await watched(async (place, written) => {
      const before = written()
      const total = count(200)
      for (let save = 0; save < total; save += 1) {
        await until(() => place.has('MEMORY.md'))
        appendFileSync(place.path(), `- **buoy ${save}**: It lies at ${save}.\n`)
        if (save % 10 === 9) await pause(1)
      }
      const known = async (): Promise<number> => Object.keys(await place.beliefs()).length
      await until(async () => (await known()) === total + 1)
      await until(async () => (await place.status()).isInSync)

      const writes = written() - before
      console.log(`${total} saves, ${writes} files written by us`)
      expect(writes).toBeLessThanOrEqual(2 * total)
    })
  })
})
