import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isAlive, program, startsStubbornChild } from '../../../test/tasks/program.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { type Program, runInGroup } from './process-group.ts'

const never = new AbortController().signal
const nodeWith = (source: string, cwd: string, more: Partial<Program> = {}) =>
  runInGroup({ program: process.execPath, args: ['-e', source], cwd, env: {}, signal: never, graceMs: 100, ...more })

describe.skipIf(process.platform === 'win32')('a process group', () => {
  it('returns output, errors and exit code, with its own environment', async () => {
    using directory = temporaryDirectory()
    const source =
      'process.stdin.on("data", (d) => console.log(String(d), process.env.A, process.env.HOME)); console.error("no"); process.exitCode = 3'

    const ending = await nodeWith(source, directory.path, { env: { A: 'b' }, input: 'hello' })

    expect(ending.stdout.toString()).toBe('hello b undefined\n')
    expect(ending).toMatchObject({ stderr: 'no\n', exitCode: 3, killedBy: null, exceeded: null })
  })

  it('ends with its program, including processes that ignore SIGTERM', async () => {
    using directory = temporaryDirectory()
    const path = program(directory.path, 'parent', `${startsStubbornChild}\nwhenThere(() => process.exit(0))`)

    await runInGroup({ program: path, args: [], cwd: directory.path, env: {}, signal: never, graceMs: 100 })

    expect(isAlive(pidIn(directory.path))).toBe(false)
  })

  it('ends when the signal is raised, including processes that ignore SIGTERM', async () => {
    using directory = temporaryDirectory()
    const path = program(
      directory.path,
      'parent',
      `${startsStubbornChild}\nwhenThere(() => { console.log('ready'); setInterval(() => {}, 1000) })`,
    )
    const controller = new AbortController()
    const running = runInGroup({
      program: path,
      args: [],
      cwd: directory.path,
      env: {},
      signal: controller.signal,
      graceMs: 100,
    })
    await until(() => hasPid(directory.path))
    const pid = pidIn(directory.path)
    expect(isAlive(pid)).toBe(true)

    controller.abort()
    const ending = await running

    expect(ending.killedBy).toBe('SIGTERM')
    expect(isAlive(pid)).toBe(false)
  })

  it('does not outlive a process that is interrupted twice', async () => {
    using directory = temporaryDirectory()
    const path = program(
      directory.path,
      'parent',
      `${startsStubbornChild}\nwhenThere(() => { process.on('SIGTERM', () => {}); setInterval(() => {}, 1000) })`,
    )
    const source = `
import { runInGroup } from ${JSON.stringify(new URL('./process-group.ts', import.meta.url).href)}
const controller = new AbortController()
process.once('SIGINT', () => { controller.abort(); console.log('ending') })
const running = runInGroup({ program: ${JSON.stringify(path)}, args: [], cwd: ${JSON.stringify(directory.path)}, env: {}, signal: controller.signal, graceMs: 600_000 })
console.log('running')
await running`
    const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
    })
    const ended = once(child, 'exit')
    await until(() => hasPid(directory.path))
    const pid = pidIn(directory.path)

    child.kill('SIGINT')
    await until(() => said.includes('ending'))
    expect(isAlive(pid)).toBe(true)
    child.kill('SIGINT')
    const [, by] = await ended

    expect(by).toBe('SIGINT')
    await until(() => !isAlive(pid))
  })

  it('is ended if it writes without end', async () => {
    using directory = temporaryDirectory()

    const ending = await nodeWith('for (;;) console.log("x".repeat(1000))', directory.path, { maxOutput: 10_000 })

    expect(ending.exceeded).toBe('output')
    expect(ending.stdout.length).toBeLessThanOrEqual(10_000)
  })

  it('reports a missing program', async () => {
    using directory = temporaryDirectory()

    await expect(
      runInGroup({ program: 'no-such-program', args: [], cwd: directory.path, env: {}, signal: never }),
    ).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

/** Also checks the content, because the file exists for a moment before it has any. */
const hasPid = (folder: string): boolean => existsSync(join(folder, 'stubborn.pid')) && pidIn(folder) > 0

const pidIn = (folder: string): number => Number(readFileSync(join(folder, 'stubborn.pid'), 'utf8'))

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}
