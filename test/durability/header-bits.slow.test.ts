import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../cli/sandbox.ts'
import { count } from '../full-counts.ts'

const names = ['payment terms', 'release day', 'staging server']

/** A memory with three beliefs, and the bytes of its closed store. */
async function memoryWithBeliefs(place: ReturnType<typeof createSandbox>) {
  const dir = join(place.path, 'memory')
  for (const name of names) {
    await place.run('remember', `What is true of the ${name}.`, '--name', name, '--dir', dir)
  }
  const file = join(dir, 'state', 'credence.db')
  return { dir, file, bytes: readFileSync(file) }
}

/** Commands, each with a check that an answer with exit code 0 is complete. */
const commands: readonly (readonly [argv: readonly string[], isWhole: (document: never) => boolean])[] = [
  [
    ['recall', `Ask about ${names.join(', ')}.`],
    ({ relevant }: { relevant: readonly { belief: { content: string } }[] }) =>
      names.every((name) => relevant.some(({ belief }) => belief.content === `What is true of the ${name}.`)),
  ],
  [['list'], ({ items }: { items: readonly unknown[] }) => items.length === names.length],
  [['search', 'release'], (document: object) => JSON.stringify(document).includes('What is true of the release day.')],
  [['history', 'release day'], ({ revisions }: { revisions: readonly unknown[] }) => revisions.length === 1],
  [['status'], ({ beliefs }: { beliefs: number }) => beliefs === names.length],
  [['doctor'], ({ ok }: { ok: boolean }) => ok],
  [
    ['remember', 'A fourth one.', '--name', 'fourth'],
    ({ belief }: { belief: { name: string } }) => belief.name === 'fourth',
  ],
]

const bits = 800

describe('a flipped bit in the header of the store', () => {
  it('never makes a command hang, crash, or return an incomplete answer', { timeout: 600_000 }, async () => {
    using place = createSandbox()
    const { dir, file, bytes } = await memoryWithBeliefs(place)
    const outcomes = new Map<number | null, number>()
    const wrong: string[] = []
    const write = (damaged: Buffer): void => {
      rmSync(join(dir, 'state'), { recursive: true })
      mkdirSync(join(dir, 'state'))
      writeFileSync(file, damaged, { mode: 0o600 })
    }

    for (let bit = 0; bit < bits; bit += 1) {
      const damaged = Buffer.from(bytes)
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      for (const [at, [argv, isWhole]] of commands.entries()) {
        // Runs recall for every bit. Runs the other commands for every bit in a full run, otherwise for every tenth.
        if (at > 0 && (bit + at) % (bits / count(bits)) !== 0) continue
        write(damaged)
        const { exitCode, stdout, stderr } = await place.run(...argv, '--dir', dir, '--json')
        outcomes.set(exitCode, (outcomes.get(exitCode) ?? 0) + 1)
        const error = exitCode === 3 ? JSON.parse(stdout).error : null
        const isRight =
          exitCode === 0
            ? isWhole(JSON.parse(stdout) as never)
            : exitCode === 3
              ? error.code === 'invalid' && /doctor|backup/u.test(error.hint)
              : exitCode === 5 && argv[0] === 'doctor'
        if (!isRight) wrong.push(`byte ${bit >> 3} bit ${bit & 7}, ${argv[0]}: ${exitCode} ${stderr || stdout}`)
        if (argv[0] !== 'doctor' || exitCode !== 0) continue
        write(damaged)
        const remembered = await place.run('remember', 'A fourth one.', '--name', 'fourth', '--dir', dir)
        if (remembered.exitCode !== 0) wrong.push(`byte ${bit >> 3} bit ${bit & 7}: sound for the doctor, not writable`)
      }
    }

    console.log('exit codes:', Object.fromEntries(outcomes))
    expect(wrong).toEqual([])
    expect(outcomes.get(0)).toBeGreaterThan(100)
    expect(outcomes.get(3)).toBeGreaterThan(100)
  })
})

describe('a store whose schema was damaged', () => {
  const broken: readonly (readonly [name: string, damage: (file: string) => void])[] = [
    ['a negative schema version', (file) => execute(file, 'PRAGMA user_version = -2147483648')],
    ['a huge schema version', (file) => execute(file, 'PRAGMA user_version = 2147483647')],
    ['schema 0, with tables', (file) => execute(file, 'PRAGMA user_version = 0')],
    ['an older schema than its tables', (file) => execute(file, 'PRAGMA user_version = 2')],
    ['no table of events', (file) => execute(file, 'PRAGMA foreign_keys = OFF; DROP TABLE events')],
    ['no table of beliefs', (file) => execute(file, 'DROP TABLE beliefs')],
    ['no table of forms', (file) => execute(file, 'DROP TABLE forms')],
    ['no list of migrations', (file) => execute(file, 'DROP TABLE migrations')],
    ['an index that is missing', (file) => execute(file, 'DROP INDEX beliefs_by_name')],
    ['text in place of a database', (file) => writeFileSync(file, 'Dear diary, '.repeat(2_000))],
    ['a short text', (file) => writeFileSync(file, 'hi')],
  ]

  it.for(broken)('is refused by every command, with advice: %s', async ([, damage]) => {
    using place = createSandbox()
    const { dir, file } = await memoryWithBeliefs(place)
    damage(file)
    const before = readFileSync(file)

    for (const [argv] of commands) {
      const { exitCode, stdout, stderr } = await place.run(...argv, '--dir', dir, '--json')
      if (argv[0] === 'doctor') expect([exitCode, JSON.parse(stdout).ok]).toEqual([5, false])
      else {
        expect([argv[0], exitCode, stderr]).toEqual([argv[0], 3, expect.any(String)])
        expect(JSON.parse(stdout).error).toMatchObject({
          code: 'invalid',
          hint: expect.stringMatching(/doctor|backup/u),
        })
      }
    }
    expect(readFileSync(file).equals(before)).toBe(true)
  })
})

function execute(file: string, sql: string): void {
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}
