import { spawn } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { storeFile } from '../../src/open-memory.ts'
import { bin, createSandbox, endOf } from '../cli/sandbox.ts'
import { count } from '../full-counts.ts'
import { complaintsOf, openStore, temporaryDirectory } from './durable-store.ts'
import { isTracerHere, tracing } from './tracer.ts'

const calls = ['openat', 'write', 'fsync', 'rename', 'link'] as const
const errors = ['ENOSPC', 'EIO', 'EACCES'] as const
const compiled = join(tmpdir(), 'credence-compiled-commands')

/** Runs a command, optionally with a fault in one of its calls, and returns the record of its calls. */
async function traced(argv: readonly string[], cwd: string, ...faults: readonly string[]) {
  const record = join(cwd, '..', 'record')
  const [tracer = '', ...options] = tracing(calls.join(), record, ...faults)
  // One thread for files, so that the calls have the same numbers in every run.
  const env = { PATH: process.env.PATH, HOME: cwd, XDG_CACHE_HOME: compiled, UV_THREADPOOL_SIZE: '1' }
  const child = spawn(tracer, [...options, process.execPath, bin, ...argv], { cwd, env, stdio: 'pipe' })
  return { ...(await endOf(child)), record: readFileSync(record, 'utf8').split('\n') }
}

type Aim = { readonly call: string; readonly number: number; readonly about: string }

/** Whether a call concerns the directory, or a file in it that is not the store's. */
const isIn = (cwd: string, values: string): boolean =>
  values.includes(realpathSync(cwd)) && !values.includes('credence.db')

const isWrite = (call: string, values: string): boolean => call !== 'openat' || /O_(?:WRONLY|RDWR)/u.test(values)

/**
 * The calls that write to a file in the working directory, except the files of the store. `number` counts the calls of
 * this name in the thread.
 */
function writesIn(record: readonly string[], cwd: string): readonly Aim[] {
  const numbers = new Map<string, number>()
  return record.flatMap((line) => {
    const [, thread, call = '', values = ''] = /^(\d+) +(\w+)\((.*)/u.exec(line) ?? []
    const number = (numbers.get(`${thread} ${call}`) ?? 0) + 1
    numbers.set(`${thread} ${call}`, number)
    return isIn(cwd, values) && isWrite(call, values) ? [{ call, number, about: values }] : []
  })
}

/** Runs a command once for every error of every call that writes a file, on a fresh copy of the directory. */
async function faultEverywhere(
  template: string,
  argv: readonly string[],
  check: (cwd: string, ending: Awaited<ReturnType<typeof traced>>, at: string) => Promise<'failed' | 'written'>,
) {
  const sums = { injected: 0, missed: 0, failed: 0, written: 0 }
  using warm = temporaryDirectory()
  for (const round of ['compiles', 'is recorded']) cpSync(template, join(warm.path, round, 'work'), { recursive: true })
  await traced(argv, join(warm.path, 'compiles', 'work'))
  const known = join(warm.path, 'is recorded', 'work')
  const aims = writesIn((await traced(argv, known)).record, known).flatMap((aim) =>
    errors.map((error) => ({ ...aim, error })),
  )
  const step = count(10) === 10 ? 1 : 3
  for (let index = 0; index < aims.length; index += step) {
    const { call, number, error, about } = aims[index] as (typeof aims)[number]
    // Calls are numbered per thread. Depending on load, the call with this number in another thread may get the fault
    // instead, or as well, so a fault that missed is retried.
    for (let tries = 0; tries < 4; tries += 1) {
      using trial = temporaryDirectory()
      const cwd = join(trial.path, 'work')
      cpSync(template, cwd, { recursive: true })

      const ending = await traced(argv, cwd, `${call}:error=${error}:when=${number}`)

      const hits = ending.record.filter((line) => line.includes('INJECTED'))
      // The call with this number may also be a read, which a full disk does not affect.
      if (hits.length === 1 && isIn(cwd, hits[0] ?? '') && isWrite(call, hits[0] ?? '')) {
        sums[await check(cwd, ending, `${error} of ${call} ${number}: ${about.slice(0, 200)}`)] += 1
        sums.injected += 1
        break
      }
      sums.missed += 1
    }
  }
  expect(sums.injected).toBeGreaterThan(aims.length / step / 2)
  expect(sums.failed).toBeGreaterThan(0)
  return JSON.stringify(sums)
}

async function headOf(dir: string): Promise<string> {
  const store = openStore(storeFile(dir))
  const { hash } = await store.head()
  await store.close()
  return hash
}

const timeout = 1_800_000

describe.skipIf(!isTracerHere)('a disk that refuses a file', () => {
  it('leaves the old or the new exported file, and does not affect the store', { timeout }, async () => {
    using place = createSandbox()
    const dir = join(place.work, 'memory')
    await place.run('remember', 'The office is in Ghent.', '--name', 'office', '--dir', dir)
    await place.run('export', '--out', join(place.work, 'new.jsonl'), '--dir', dir)
    const fresh = readFileSync(join(place.work, 'new.jsonl'), 'utf8')
    writeFileSync(join(place.work, 'out.jsonl'), 'old\n')
    const head = await headOf(dir)

    const sums = await faultEverywhere(
      place.work,
      ['export', '--out', 'out.jsonl', '--dir', 'memory'],
      async (cwd, { exitCode, stderr }, at) => {
        const text = readFileSync(join(cwd, 'out.jsonl'), 'utf8')
        expect(['old\n', fresh], at).toContain(text)
        expect([exitCode, text], `${at} ${stderr}`).toEqual(exitCode === 0 ? [0, fresh] : [3, text])
        if (exitCode !== 0)
          expect(stderr, at).toMatch(/^error: .*out\.jsonl cannot be written \(E\w+\)\.\nhint: .*\n$/u)
        expect(readdirSync(cwd).sort(), at).toEqual(['memory', 'new.jsonl', 'out.jsonl'])
        expect(await headOf(join(cwd, 'memory')), at).toBe(head)
        return exitCode === 0 ? 'written' : 'failed'
      },
    )

    console.log(`Faults in an export: ${sums}.`)
  })

  it('leaves the old or the new MEMORY.md, and the belief in the store', { timeout }, async () => {
    using place = createSandbox()
    const dir = join(place.work, 'memory')
    await place.run('remember', 'The office is in Ghent.', '--name', 'office', '--dir', dir)
    await place.run('mirror', 'sync', '--dir', dir)
    const old = readFileSync(join(dir, 'MEMORY.md'), 'utf8')

    const sums = await faultEverywhere(
      place.work,
      ['remember', 'The harbour is in Ostend.', '--name', 'harbour', '--dir', 'memory'],
      async (cwd, { exitCode, stderr }, at) => {
        const memory = join(cwd, 'memory')
        const file = join(memory, 'MEMORY.md')
        const isNew = existsSync(file) && /Ghent[\s\S]*Ostend|Ostend[\s\S]*Ghent/u.test(readFileSync(file, 'utf8'))
        if (!isNew)
          expect(existsSync(file) ? readFileSync(file, 'utf8') : 'MEMORY.md is missing', `${at} ${stderr}`).toBe(old)
        expect(exitCode, `${at} ${stderr}`).toBe(0)
        if (!isNew) expect(stderr, at).toContain('MEMORY.md could not be updated')
        expect(await complaintsOf(storeFile(memory)), at).toEqual([])
        expect((await place.json('list', '--dir', memory)).total, at).toBe(2)
        expect(await place.run('mirror', 'sync', '--dir', memory), at).toMatchObject({ exitCode: 0 })
        expect(readFileSync(file, 'utf8'), at).toMatch(/Ghent[\s\S]*Ostend|Ostend[\s\S]*Ghent/u)
        return isNew ? 'written' : 'failed'
      },
    )

    console.log(`Faults in writing MEMORY.md: ${sums}.`)
  })
})
