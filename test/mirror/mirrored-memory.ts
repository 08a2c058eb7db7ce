import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { takeLock } from '../../src/files/lock.ts'
import type { MemoryOptions } from '../../src/library.ts'
import type { Memory } from '../../src/memory/memory.ts'
import { mirrorPaths } from '../../src/memory/mirror/state/state.ts'
import { mirrorStatus } from '../../src/memory/mirror/status.ts'
import { type MirrorRequest, syncMirror } from '../../src/memory/mirror/sync.ts'
import { openMemory, openPorts } from '../../src/open-memory.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

/** A memory in a separate directory with its mirror, and functions that edit the file like other programs. */
export function mirroredMemory(options: Partial<MemoryOptions> = {}) {
  const directory = temporaryDirectory()
  const dir = join(directory.path, 'memory')
  const problems: string[] = []
  const authority = options.mirrorAuthority ?? 'document'
  const onMirrorProblem = (problem: Error): void => {
    problems.push(problem.message)
  }
  const memory: Memory = openMemory({ dir, mirror: true, onMirrorProblem, ...options })
  const ports = openPorts(dir)
  const path = (name = 'MEMORY.md'): string => join(dir, name)
  const text = (name?: string): string => readFileSync(path(name), 'utf8')
  return {
    dir,
    memory,
    ports,
    problems,
    path,
    text,
    has: (name: string): boolean => existsSync(path(name)),
    /** Changes the current text and writes it in place, like an editor that has just read the file. */
    edit: (change: (text: string) => string, name?: string): void => {
      const before = text(name)
      const after = change(before)
      if (after === before) throw new Error('The edit changed nothing.')
      writeFileSync(path(name), after)
    },
    /**
     * Syncs, and then waits for the lock, so that a background sync runs now: the memory checks the file shortly after
     * each change, and a late check would apply the test's next edit before its next call.
     */
    sync: async (request: Partial<MirrorRequest> = {}) => {
      const synced = await syncMirror(ports, { dir, user: 'local', settle: true, authority, ...request })
      const release = await takeLock(mirrorPaths(dir).lock, 'The mirror', 10_000)
      release()
      return synced
    },
    status: async () => {
      const status = await mirrorStatus(ports, dir)
      if (!status.exists) throw new Error('There is no mirror.')
      return status
    },
    /** The current beliefs by name. */
    beliefs: async (): Promise<Readonly<Record<string, string>>> => {
      const { items } = await memory.list({ current: true, proposals: false, limit: 1_000 })
      return Object.fromEntries(items.map(({ name, content }) => [name, content]))
    },
    [Symbol.asyncDispose]: async () => {
      await memory.close()
      await ports.store.close()
      directory[Symbol.dispose]()
    },
  }
}

/** Like `mirroredMemory`, but edits have the authority of the person, so every edit applies immediately. */
export const personalMemory = (options: Partial<MemoryOptions> = {}) =>
  mirroredMemory({ mirrorAuthority: 'person', ...options })

/** The result of a sync without edits. */
export const nothingTaken = { corrected: 0, added: 0, retired: 0, conflicts: 0, proposed: 0 }

/** The line on which the item called `name` begins. */
export const lineOf = (text: string, name: string): string =>
  text.split('\n').find((line) => line.includes(`**${name}**`)) ?? ''

export const withoutLine = (text: string, name: string): string =>
  text
    .split('\n')
    .filter((line) => !line.includes(`**${name}**`))
    .join('\n')
