import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { storeFile } from '../../src/open-memory.ts'
import { bin, createSandbox } from '../cli/sandbox.ts'
import { count } from '../full-counts.ts'
import { complaintsOf, openStore, temporaryDirectory } from './durable-store.ts'
import { isTracerHere } from './tracer.ts'

/** The calls that change a file or make a change durable. */
const calls = 'write,pwrite64,fsync,fdatasync,rename,ftruncate,unlink,link,copy_file_range,sendfile,mkdir,chmod'
/** A full run kills at every point, other runs at every tenth, with a different first point for each command. */
const step = count(10) === 10 ? 1 : 10

/** The compile cache of the commands: hundreds of them are started, but their code is compiled only once. */
const compiled = join(tmpdir(), 'credence-compiled-commands')

/** Runs a command and kills it at the call with this number; false if it made fewer calls and succeeded. */
async function isKilledAt(point: number, argv: readonly string[], cwd: string): Promise<boolean> {
  const inject = `inject=${calls}:signal=KILL:when=${point}`
  const tracer = ['-f', '-qq', '-e', `trace=${calls}`, '-e', 'signal=none', '-e', inject, '-o', '/dev/null']
  const env = { PATH: process.env.PATH, HOME: cwd, XDG_CACHE_HOME: compiled }
  const child = spawn('strace', [...tracer, process.execPath, bin, ...argv], { cwd, env, stdio: 'pipe' })
  let complaints = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      complaints += String(data)
    })
  }
  const [code, signal] = await once(child, 'close')
  if (signal === 'SIGKILL' || code === 137) return true
  if (code !== 0) throw new Error(`credence ${argv.join(' ')} ended with ${code}: ${complaints}`)
  return false
}

const secret = 'The vault opens with 48213-kestrel.'

/** A memory of some beliefs, a turn and a mirror, a backup of an earlier state, and a file to import. */
async function prepared() {
  const place = createSandbox()
  const dir = join(place.work, 'memory')
  const old = join(place.work, 'old.db')
  const at = ['--dir', dir] as const
  await place.run('remember', 'The office is in Ghent.', '--name', 'office', ...at)
  await place.json('backup', old, ...at)
  await place.run('remember', secret, '--name', 'vault code', ...at)
  await place.run('hear', 'We moved the office.', ...at)
  const records = Array.from({ length: 30 }, (_, index) => ({
    name: `fact ${index}`,
    content: `Fact number ${index}.`,
  }))
  writeFileSync(join(place.work, 'facts.jsonl'), records.map((record) => JSON.stringify(record)).join('\n'))
  return { ...place, template: place.work }
}

type Trial = { readonly dir: string; readonly cwd: string }
type State = { readonly head: string; readonly beliefs: number; readonly complaints: readonly string[] }

async function stateOf(dir: string): Promise<State> {
  const file = storeFile(dir)
  const store = openStore(file)
  const { hash } = await store.head()
  const { total } = await store.list({ user: 'local' }, { limit: 1, offset: 0 })
  await store.close()
  // Text that was being forgotten when the process was killed may remain in the file until the command is repeated, so
  // that complaint is ignored.
  const complaints = (await complaintsOf(file)).filter((complaint) => !complaint.startsWith('forgotten'))
  return { head: hash, beliefs: total, complaints }
}

const leftovers = (directory: string): readonly string[] =>
  readdirSync(directory).filter((name) => /^\.tmp-|-journal$|corrupt|replaced/u.test(name))

/** The files below a directory that contain a word in UTF-8. */
const filesWith = (word: string, directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((file) => statSync(file).isFile() && readFileSync(file).includes(word))

/** Kills `argv` at every point, each on a fresh copy of the memory, and checks the result. Returns the number of kills. */
async function killEverywhere(
  place: Awaited<ReturnType<typeof prepared>>,
  { argv, first, check }: { argv: readonly string[]; first: number; check: (trial: Trial) => Promise<void> },
): Promise<number> {
  for (let point = first, kills = 0; ; point += step) {
    using trial = temporaryDirectory()
    const cwd = join(trial.path, 'work')
    // Unlike `cpSync`, `cp` keeps the mode of every directory; the doctor complains about a memory that others can read.
    execFileSync('cp', ['-a', place.template, cwd])
    const location = argv[0] === 'store' ? [] : ['--dir', 'memory']
    const isKilled = await isKilledAt(point, [...argv, ...location], cwd)
    await check({ dir: join(cwd, 'memory'), cwd })
    if (!isKilled) return kills
    kills += 1
  }
}

const timeout = 1_800_000

describe.skipIf(!isTracerHere)('a process that is killed at every call that writes', () => {
  it('during a backup leaves no file, or a complete one', { timeout }, async () => {
    using place = await prepared()
    const before = await stateOf(join(place.template, 'memory'))

    const kills = await killEverywhere(place, {
      argv: ['backup', 'new.db'],
      first: 1,
      check: async ({ dir, cwd }) => {
        expect(await stateOf(dir)).toEqual({ ...before, complaints: [] })
        const made = join(cwd, 'new.db')
        if (!existsSync(made)) await place.json('backup', made, '--dir', dir)
        const copy = join(cwd, 'copy')
        await place.json('restore', made, '--dir', copy)
        expect(await stateOf(copy)).toEqual({ ...before, complaints: [] })
        await place.json('backup', join(cwd, 'again.db'), '--dir', dir)
        expect(leftovers(cwd)).toEqual([])
      },
    })

    expect(kills).toBeGreaterThan(0)
  })

  it('during a restore leaves the old memory or the new one', { timeout }, async () => {
    using place = await prepared()
    const before = await stateOf(join(place.template, 'memory'))
    await place.json('restore', join(place.template, 'old.db'), '--dir', join(place.path, 'restored'))
    const after = await stateOf(join(place.path, 'restored'))
    const seen = new Set<string>()

    const kills = await killEverywhere(place, {
      argv: ['restore', 'old.db', '--yes'],
      first: 2,
      check: async ({ dir, cwd }) => {
        const state = await stateOf(dir)
        expect([before, after]).toContainEqual(state)
        seen.add(state.head)
        await place.json('restore', join(cwd, 'old.db'), '--yes', '--dir', dir)
        expect(await stateOf(dir)).toEqual(after)
        expect(leftovers(join(dir, 'state'))).toEqual([])
      },
    })

    expect(kills).toBeGreaterThan(0)
    expect(seen.size).toBe(2)
  })

  it('during an import leaves all of it or nothing', { timeout }, async () => {
    using place = await prepared()
    const before = await stateOf(join(place.template, 'memory'))

    const kills = await killEverywhere(place, {
      argv: ['import', '--trusted', 'facts.jsonl'],
      first: 3,
      check: async ({ dir, cwd }) => {
        const state = await stateOf(dir)
        expect(state.complaints).toEqual([])
        expect([before.beliefs, before.beliefs + 30]).toContain(state.beliefs)
        await place.json('import', '--trusted', join(cwd, 'facts.jsonl'), '--dir', dir)
        expect((await stateOf(dir)).beliefs).toBe(before.beliefs + 30)
      },
    })

    expect(kills).toBeGreaterThan(0)
  })

  it('during a rebuild leaves every event and every belief', { timeout }, async () => {
    using place = await prepared()
    const before = await stateOf(join(place.template, 'memory'))

    const kills = await killEverywhere(place, {
      argv: ['doctor', '--rebuild'],
      first: 4,
      check: async ({ dir }) => expect(await stateOf(dir)).toMatchObject({ beliefs: before.beliefs, complaints: [] }),
    })

    expect(kills).toBeGreaterThan(0)
  })

  it('during the first sync of the mirror leaves no partly written file', { timeout }, async () => {
    using place = await prepared()
    const before = await stateOf(join(place.template, 'memory'))

    const kills = await killEverywhere(place, {
      argv: ['mirror', 'sync'],
      first: 5,
      check: async ({ dir }) => {
        const file = join(dir, 'MEMORY.md')
        if (existsSync(file))
          expect(readFileSync(file, 'utf8')).toMatch(/Ghent[\s\S]*kestrel[\s\S]*credence:new[\s\S]*\n$/u)
        await place.run('mirror', 'sync', '--dir', dir)
        expect(readFileSync(file, 'utf8')).toContain('kestrel')
        expect(await stateOf(dir)).toEqual(before)
        expect(leftovers(dir)).toEqual([])
      },
    })

    expect(kills).toBeGreaterThan(0)
  })

  it('during a forget leaves the belief or nothing of it, and a second forget removes every byte', {
    timeout,
  }, async () => {
    using place = await prepared()
    await place.run('mirror', 'sync', '--dir', join(place.template, 'memory'))
    await place.json(
      'benchmark',
      'capture',
      'vault code?',
      '--expect',
      'vault code',
      '--dir',
      join(place.template, 'memory'),
    )
    const before = await stateOf(join(place.template, 'memory'))

    const kills = await killEverywhere(place, {
      argv: ['forget', 'vault code', '--yes'],
      first: 6,
      check: async ({ dir }) => {
        const state = await stateOf(dir)
        expect(state.complaints).toEqual([])
        expect([before.beliefs, before.beliefs - 1]).toContain(state.beliefs)
        const proof = ['--containing', 'kestrel', '--yes', '--verify', '--dir', dir]
        expect(await place.run('forget', ...proof)).toMatchObject({ exitCode: 0 })
        expect((await stateOf(dir)).beliefs).toBe(before.beliefs - 1)
      },
    })

    expect(kills).toBeGreaterThan(0)
  })

  it.each([
    [['backup', 'new.db'], []],
    [['backup', 'memory/new.db'], []],
    [['restore', 'full.db', '--yes'], []],
    [['import', '--trusted', 'secrets.jsonl'], []],
    [['store', 'copy', 'memory', 'other'], ['other']],
  ])(
    'during `credence %j` leaves no text that a forget neither erases nor reports',
    { timeout },
    async (argv, others) => {
      using place = await prepared()
      const memory = join(place.template, 'memory')
      writeFileSync(join(place.template, 'secrets.jsonl'), JSON.stringify({ name: 'vault code 2', content: secret }))
      await place.json('backup', join(place.template, 'full.db'), '--dir', memory)
      const known = ['full.db', 'secrets.jsonl', ...others]

      const kills = await killEverywhere(place, {
        argv,
        first: 1,
        check: async ({ dir, cwd }) => {
          const { stdout } = await place.run(
            'forget',
            '--containing',
            'kestrel',
            '--yes',
            '--verify',
            '--json',
            '--dir',
            dir,
          )
          const { proof, backups } = JSON.parse(stdout)
          const named = [...proof.found, ...backups].map(({ file }) => file)
          const left = filesWith('kestrel', cwd).filter((file) => !named.includes(file))
          expect(left.filter((file) => !known.some((name) => file.startsWith(join(cwd, name))))).toEqual([])
          expect(proof.found).toEqual([])
        },
      })

      expect(kills).toBeGreaterThan(0)
    },
  )
})
