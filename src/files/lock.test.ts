import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { takeLock } from './lock.ts'

const module = new URL('./lock.ts', import.meta.url).href
const what = 'The run "a"'

async function withLock<Result>(path: string, work: () => Result | Promise<Result>, waitMs?: number): Promise<Result> {
  const release = await takeLock(path, what, waitMs)
  try {
    return await work()
  } finally {
    release()
  }
}

/** Starts a process that runs `body`, which can use `path` and `takeLock`. */
function otherProcess(path: string, body: string): ChildProcess {
  const script = `const { takeLock } = await import(${JSON.stringify(module)})
    const path = ${JSON.stringify(path)}
    ${body}`
  return spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['pipe', 'pipe', 'inherit'] })
}

const holdUntilReleased = `const release = await takeLock(path, 'It')
  console.log('held')
  await new Promise((resolve) => process.stdin.once('data', resolve))
  release()
  process.exit()`

describe('a lock', () => {
  it('is held by one caller at a time, and is free again afterwards', async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'lock')

    const inside = await withLock(path, async () => {
      await expect(withLock(path, () => {})).rejects.toMatchObject({
        code: 'conflict',
        message: 'The run "a" is in use by another process.',
      })
      return 'done'
    })

    expect(inside).toBe('done')
    await withLock(path, () => {})
  })

  it('is released when the work fails', async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'lock')

    await expect(withLock(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no')

    expect(await withLock(path, () => 1)).toBe(1)
  })

  it('excludes others while a process holds it, and is free as soon as that process is killed', async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'lock')
    const holder = otherProcess(path, holdUntilReleased)
    await once(holder.stdout as NonNullable<typeof holder.stdout>, 'data')

    await expect(withLock(path, () => {})).rejects.toThrow('in use')
    const waiting = withLock(path, () => 'mine', 60_000)
    holder.kill('SIGKILL')

    expect(await waiting).toBe('mine')
  })

  it('is not blocked by a lock file that a dead process left, even if its process id is in use again', async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'lock')
    for (const left of ['', `${process.pid}\n`]) {
      writeFileSync(path, left)

      expect(await withLock(path, () => 'taken')).toBe('taken')
    }
  })

  it('is released once: a second release does not end the lock of the next holder', async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'lock')
    const release = await takeLock(path, what)
    release()
    const next = await takeLock(path, what)

    release()

    await expect(takeLock(path, what)).rejects.toThrow('in use')
    next()
  })

  it('gives up after its time limit, however often the system clock is changed', async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'lock')

    await withLock(path, async () => {
      const start = performance.now()
      await expect(withLock(path, () => {}, 30)).rejects.toThrow('in use')
      expect(performance.now() - start).toBeGreaterThanOrEqual(30)
    })
  })

  it('is given to the callers in one process in order, and never to two at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }), async (failures) => {
        using directory = temporaryDirectory()
        const path = join(directory.path, 'lock')
        const order: number[] = []
        let inside = 0

        const ends = await Promise.allSettled(
          failures.map((fails, index) =>
            withLock(
              path,
              async () => {
                inside += 1
                await Promise.resolve()
                if (inside !== 1) throw new Error('two at once')
                order.push(index)
                inside -= 1
                if (fails) throw new Error('planned')
              },
              60_000,
            ),
          ),
        )

        expect(order).toEqual(failures.map((_, index) => index))
        expect(ends.map(({ status }) => status === 'rejected')).toEqual(failures)
      }),
      { numRuns: 20 },
    )
  })

  it('never lets two processes in at once, also when holders are killed', { timeout: 60_000 }, async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'lock')
    const log = join(directory.path, 'log')
    writeFileSync(log, '')
    const body = `const { appendFileSync } = await import('node:fs')
      const { setTimeout: pause } = await import('node:timers/promises')
      for (let round = 0; round < 25; round += 1) {
        const release = await takeLock(path, 'It', 60_000)
        appendFileSync(${JSON.stringify(log)}, 'in ' + process.pid + '\\n')
        await pause(1)
        appendFileSync(${JSON.stringify(log)}, 'out ' + process.pid + '\\n')
        release()
        console.log(round)
      }`
    const ends = [1, 2, 3].map(() => once(otherProcess(path, body), 'exit'))
    const victim = otherProcess(path, body)
    await once(victim.stdout as NonNullable<typeof victim.stdout>, 'data')
    victim.kill('SIGKILL')
    const exits = await Promise.all(ends)

    const lines = readFileSync(log, 'utf8').trim().split('\n')
    const killed = String(victim.pid)
    const overlaps = lines.filter((line, index) => {
      const [step, pid] = line.split(' ')
      const next = lines[index + 1]
      return step === 'in' && pid !== killed && next !== `out ${pid}`
    })
    expect(overlaps).toEqual([])
    expect(exits.map(([code]) => code)).toEqual([0, 0, 0])
    expect(lines.filter((line) => line.startsWith('out')).length).toBeGreaterThanOrEqual(75)
  })
})
