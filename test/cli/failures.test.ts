import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { createSandbox } from './sandbox.ts'

describe('a wrong command line', () => {
  it('without an action lists the actions of the command', async () => {
    using place = createSandbox()

    const { exitCode, stdout, stderr } = await place.run('people')

    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(/^Usage: credence people <action> \[options\]\n[\s\S]* {2}people remove {2}[\s\S]*\.\n$/)
  })

  const notUtf8 = 'The text is not UTF-8.'
  const utf8Hint = 'Convert it, for example with iconv, and pass it on standard input.'
  const dateHint = 'Write a day such as 2026-05-03, or a time such as 2026-05-03T10:00:00Z.'
  it.each([
    [['recal', 'hello'], 'There is no command "recal".', 'Did you mean `credence recall`?'],
    [['recall', 'hello', '--explian'], 'There is no option --explian.', 'Did you mean --explain?'],
    [['recall', 'x', '--as-of', 'soon'], '--as-of: "soon" is not a date.', dateHint],
    [['search', 'x', '--since', 'soon'], '--since: "soon" is not a date.', dateHint],
    [['search', 'x', '--as-of', 'soon'], '--as-of: "soon" is not a date.', dateHint],
    [['hear', 'x', '--at', 'soon'], '--at: "soon" is not a date.', dateHint],
    [['--versoin'], 'There is no option --versoin.', 'Did you mean --version?'],
    [['remember', 'caf\uFFFD opens'], `<statement>: ${notUtf8}`, utf8Hint],
    [['correct', 'b-1', 'caf\uFFFD opens'], `<statement>: ${notUtf8}`, utf8Hint],
    [['hear', 'caf\uFFFD opens'], `<message>: ${notUtf8}`, utf8Hint],
    [['status', 'now'], 'Unexpected argument "now".', 'See `credence status --help`.'],
    [['recall'], '<message> is missing.', 'For example: credence recall "When is the invoice due?" --explain'],
    [
      ['recall', 'x', '--max-beliefs', 'many'],
      '--max-beliefs: "many" is not a whole number of 0 or more.',
      'See `credence recall --help`.',
    ],
    [
      ['recall', 'x', '--render', '--explain'],
      '--render cannot be combined with --explain or --near-misses.',
      'Leave out --render, or --explain and --near-misses.',
    ],
    [
      ['recall', 'x', '--scope', 'nowhere'],
      '--scope: "nowhere" is not a scope.',
      'Write kind:path, for example user:universal, domain:code or project:ledger/api.',
    ],
    [
      ['search', 'x', '--limit', '0'],
      '--limit: "0" is not a whole number from 1 to 100.',
      'See `credence search --help`.',
    ],
    [
      ['search', 'x', '--type', 'fact'],
      '--type: "fact" is not one of preference, decision, entity, relation, open_question.',
      'See `credence search --help`.',
    ],
    [
      ['remember', 'x', '--name', 'n', '--confidence', '2'],
      '--confidence: "2" is not a number from 0 to 1.',
      'See `credence remember --help`.',
    ],
    [
      ['remember', 'x', '--name', 'n', '--as', 'robot:x'],
      '--as: Unknown author "robot:x".',
      'Use person, agent:NAME, document:NAME, tool:NAME or model:NAME.',
    ],
    [
      ['remember', 'x', '--name', '!!!'],
      '--name: No message can match "!!!": a name needs a letter or a digit.',
      'Use words that people would write.',
    ],
    [
      ['remember', 'x', '--name', 'n', '--expertise', 'rust'],
      '--expertise: "rust" is not an expertise.',
      'Write domain:depth, such as "rust:deep"; depths are learning, working, deep, expert.',
    ],
    [['undo', 'twelve'], '<change>: "twelve" is not a whole number of 1 or more.', 'See `credence undo --help`.'],
    [
      ['resolve', 'q', '--decision', 'x'],
      'A new decision needs both --decision and --name.',
      'For example: --decision "We use NATS." --name "message queue"',
    ],
    [
      ['resolve', 'q', '--by', 'x', '--name', 'y'],
      '--by names an existing belief, so it needs no --decision, --name or --why.',
      'Give one or the other.',
    ],
    [
      ['alias', 'b', 'replace', 'x'],
      '<action>: "replace" is not one of list, add, remove.',
      'See `credence alias --help`.',
    ],
    [['alias', 'b', 'add'], 'No aliases to add were given.', 'Give at least one after add.'],
    [['review', 'accept'], 'No proposal to accept was given.', 'List them with `credence review`.'],
    [
      ['history', 'x', '--limit', '3'],
      '--limit and --before cannot be combined with a belief.',
      'Leave them out to see all changes of the belief.',
    ],
    [['beliefs', '--scopes', '--pinned'], '--scopes lists all scopes.', 'Leave out the options that choose beliefs.'],
  ])('%j is refused with 2 and the reason, and creates nothing', async (argv, message, hint) => {
    using place = createSandbox()

    const ending = await place.run(...argv)
    const asJson = await place.run(...argv, '--json')

    expect(ending).toEqual({ exitCode: 2, stdout: '', stderr: `error: ${message}\nhint: ${hint}\n` })
    expect(asJson.exitCode).toBe(2)
    expect(JSON.parse(asJson.stdout)).toEqual({ ok: false, error: { code: 'usage', message, hint } })
    expect(existsSync(join(place.home, '.local'))).toBe(false)
  })

  it('a missing file is not called a Markdown file, and what is no belief is offered to `forget --containing`', async () => {
    using place = createSandbox()
    await place.run('remember', 'A dinghy.', '--name', 'Albatross')

    const missing = await place.run('import', 'nowhere.md')
    const forgotten = await place.run('forget', 'the kayak', '--yes')

    expect(missing).toMatchObject({ exitCode: 3, stderr: expect.not.stringContaining('is a Markdown file') })
    expect(forgotten).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining("`credence forget --containing 'the kayak'`"),
    })
    expect((await place.run('-v')).stdout).toBe((await place.run('--version')).stdout)
  })

  it('does not repeat a password', async () => {
    using place = createSandbox()
    const address = 'postgres://ada:hunter2@127.0.0.1:1/credence'

    for (const argv of [
      ['help', 'status', address],
      ['benchmark', address],
      ['store', 'copy', 'a', 'b', address],
      ['status', `--json=${address}`],
      ['benchmark', 'status', '--store', address],
    ]) {
      const { exitCode, stdout, stderr } = await place.run(...argv)

      expect(exitCode).toBe(2)
      expect(stdout + stderr).not.toContain('hunter2')
    }
  })

  it('without a command shows the help on standard error', async () => {
    using place = createSandbox()

    const { exitCode, stdout, stderr } = await place.run()

    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain('Usage: credence <command> [options]')
  })
})

describe('a wrong belief, file or memory', () => {
  it.each([
    [['show', 'nobody'], 'not_found', 'There is no belief "nobody".'],
    [['correct', 'nobody', 'x'], 'not_found', 'There is no belief "nobody".'],
    [['forget', 'nobody', '--yes'], 'not_found', 'There is no belief "nobody".'],
    [['undo', '99'], 'not_found', 'There is no change 99.'],
    [['resolve', 'payment terms'], 'invalid', '"payment terms" is not an open question; its type is entity.'],
    [['alias', 'payment terms', 'remove', 'x'], 'not_found', '"payment terms" has no alias "x".'],
    [['review', 'accept', 'payment terms'], 'not_found', 'There is no proposal for "payment terms".'],
    [['remember', ' ', '--name', 'empty'], 'invalid', 'The statement is empty.'],
    [
      ['forget', 'payment terms', '--yes', '--as', 'agent:codex'],
      'forbidden',
      '"payment terms" was written by another author, so the agent codex cannot forget it.',
    ],
    [['import', 'nothing.jsonl'], 'not_found', 'There is no file nothing.jsonl.'],
  ])('%j is refused with 3 and %s', async (argv, code, message) => {
    using place = createSandbox()
    await place.run('remember', 'Invoices are due after 14 days.', '--name', 'payment terms')

    const ending = await place.run(...argv)
    const asJson = await place.run(...argv, '--json')

    expect(ending).toMatchObject({ exitCode: 3, stdout: '' })
    expect(ending.stderr.split('\n')[0]).toBe(`error: ${message}`)
    expect(JSON.parse(asJson.stdout)).toMatchObject({ ok: false, error: { code, message } })
  })

  const page = ['--arena', 'https://arena.example/matches/1', '--dry-run']
  it.each([
    [['sync', 'shared', '--yes', '--secret-file', 'nothing'], 'There is no file nothing.'],
    [['sync', 'shared', '--yes', '--secret-file', '.'], '. cannot be read: it is a directory.'],
    [['task', 'submit', 'run', ...page, '--steps', 'folder'], 'folder cannot be read: it is a directory.'],
    [['task', 'submit', 'run', '--arena', 'nowhere'], '"nowhere" is not a URL.\nhint: Give the page of the match'],
    [['benchmark', 'score', 'locomo', '--rankings', 'folder'], 'folder: no such file.'],
    [['eval', 'all', '--packs', 'folder'], 'folder has no packs.\nhint: Packs are folders with a manifest.json.'],
  ])('that cannot be read is not a bug: %j', async (argv, message) => {
    using place = createSandbox()
    mkdirSync(join(place.work, 'folder'))

    const { exitCode, stdout, stderr } = await place.run(...argv)

    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' })
    expect(stderr).toContain(message)
  })

  it('lists the choices if a name matches several beliefs, and a scope decides', async () => {
    using place = createSandbox()
    for (const scope of ['project:a', 'project:b'])
      await place.run('remember', `It is ${scope}.`, '--name', 'it', '--scope', scope)

    const ambiguous = await place.run('show', 'it')
    const chosen = await place.json('show', 'it', '--scope', 'project:b')

    expect(ambiguous.exitCode).toBe(3)
    expect(ambiguous.stderr).toMatch(/^error: "it" matches several beliefs: b-\w+ \(it, project:[ab]\), b-\w+ /)
    expect(chosen.belief.content).toBe('It is project:b.')
  })
})

describe('a store that cannot be used', () => {
  const storeOf = (dir: string): string => join(dir, 'state', 'credence.db')

  function damagedMemory(dir: string, bytes: string): string {
    mkdirSync(join(dir, 'state'), { recursive: true, mode: 0o700 })
    writeFileSync(storeOf(dir), bytes, { mode: 0o600 })
    return dir
  }

  it('is never overwritten, and the doctor prints the next step', async () => {
    using place = createSandbox()
    const dir = damagedMemory(
      join(place.work, 'memory'),
      'this is not a database, but a letter to my aunt\n'.repeat(100),
    )
    await place.run('trust')
    const before = readFileSync(storeOf(dir))

    const recalled = await place.run('recall', 'hello')
    const remembered = await place.run('remember', 'x', '--name', 'x')
    const examined = await place.run('doctor')

    expect(recalled.exitCode).toBe(3)
    expect(recalled.stderr).toContain('is not a Credence store')
    expect(recalled.stderr).toContain('credence doctor --set-aside')
    expect(remembered.exitCode).toBe(3)
    expect(examined).toMatchObject({ exitCode: 5 })
    expect(examined.stdout).toMatch(/^FAIL {2}store +The file is not a Credence store/m)
    expect(examined.stderr).toContain('credence doctor --set-aside')
    expect(readFileSync(storeOf(dir)).equals(before)).toBe(true)
  })

  it('is reported by the doctor when its header forbids writing, and can be set aside', async () => {
    using place = createSandbox()
    const dir = join(place.work, 'memory')
    await place.run('remember', 'It works.', '--name', 'it', '--dir', dir)
    const bytes = readFileSync(storeOf(dir))
    bytes.writeUInt8(6, 18)
    writeFileSync(storeOf(dir), bytes)

    const refused = await place.run('remember', 'It still works.', '--name', 'still', '--dir', dir)
    const examined = await place.run('doctor', '--dir', dir)
    const setAside = await place.run('doctor', '--set-aside', '--dir', dir)

    expect(refused).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('its header forbids writing') })
    expect(examined).toMatchObject({ exitCode: 5, stdout: expect.stringMatching(/^FAIL.*header.*forbids writing/m) })
    expect(setAside.exitCode).toBe(0)
  })

  it('is not created again if its file is missing, and can be restored or abandoned', async () => {
    using place = createSandbox()
    const dir = join(place.work, 'memory')
    const at = ['--dir', dir] as const
    await place.run('remember', 'It works.', '--name', 'it', ...at)
    await place.run('backup', join(place.work, 'copy.db'), ...at)
    rmSync(storeOf(dir))

    const refused = await Promise.all(
      [['recall', 'it'], ['status'], ['remember', 'x', '--name', 'x'], ['beliefs']].map((argv) =>
        place.run(...argv, ...at),
      ),
    )
    const examined = await place.run('doctor', ...at)
    const restored = await place.run('restore', join(place.work, 'copy.db'), '--yes', ...at)
    const recalled = await place.run('recall', 'it', ...at)
    rmSync(storeOf(dir))
    const givenUp = await place.run('doctor', '--set-aside', ...at)
    const remembered = await place.run('remember', 'x', '--name', 'x', ...at)

    for (const { exitCode, stderr } of refused) {
      expect([exitCode, stderr]).toEqual([
        3,
        expect.stringContaining('its file is missing, although changes were made'),
      ])
      expect(stderr).toContain('Restore a backup.')
    }
    expect(examined).toMatchObject({ exitCode: 5, stdout: expect.stringContaining('its file is missing') })
    expect([restored.exitCode, recalled.stdout]).toEqual([0, expect.stringContaining('It works.')])
    expect([givenUp.exitCode, remembered.exitCode]).toEqual([0, 0])
  })

  it('is set aside completely on request, and a new one is created', async () => {
    using place = createSandbox()
    const dir = damagedMemory(join(place.work, 'memory'), 'garbage'.repeat(1000))
    await place.run('trust')

    const { findings, ok } = await place.json('doctor', '--set-aside')
    const remembered = await place.run('remember', 'x', '--name', 'x')

    const moved = /moved to (\S+);/.exec(findings.at(-1).detail)?.[1] ?? ''
    expect(ok).toBe(true)
    expect(readFileSync(moved, 'utf8')).toBe('garbage'.repeat(1000))
    expect(moved.startsWith(`${storeOf(dir)}.corrupt-`)).toBe(true)
    expect(remembered.exitCode).toBe(0)
  })

  it('is created again in an empty file', async () => {
    using place = createSandbox()
    damagedMemory(join(place.work, 'memory'), '')
    await place.run('trust')

    const remembered = await place.run('remember', 'It works.', '--name', 'it')

    expect(remembered).toMatchObject({ exitCode: 0, stderr: '' })
  })

  it('reports a directory that cannot be created', async () => {
    using place = createSandbox()
    writeFileSync(join(place.work, 'file'), '')

    const made = await place.run('init', '--dir', 'file/below')
    const remembered = await place.run('remember', 'x', '--name', 'x', '--dir', 'file/below')

    expect(made.exitCode).toBe(3)
    expect(made.stderr).toMatch(/^error: The directory .*file\/below cannot be created \(ENOTDIR\)\.\nhint: /)
    expect(remembered.exitCode).toBe(3)
    expect(remembered.stderr).toMatch(/^error: .*file\/below/)
  })

  it.skipIf(process.getuid?.() === 0)('reports a write-protected directory', async () => {
    using place = createSandbox()
    mkdirSync(join(place.work, 'locked'))
    chmodSync(join(place.work, 'locked'), 0o500)

    const { exitCode, stderr } = await place.run('remember', 'x', '--name', 'x', '--dir', 'locked/memory')

    expect(exitCode).toBe(3)
    expect(stderr).toMatch(/^error: .*locked/)
  })
})

describe('doctor', () => {
  it('reports a sound memory as sound, and can rebuild it', async () => {
    using place = createSandbox()
    await place.run('remember', 'Invoices are due after 14 days.', '--name', 'payment terms')

    const examined = await place.run('doctor')
    const treated = await place.json('doctor', '--rebuild')
    const sound = await place.run('doctor', '--set-aside')

    expect(examined.exitCode).toBe(0)
    expect(examined.stdout).toMatch(/^ok {4}recall +the newest belief is found by its name$/m)
    expect(examined.stdout).not.toContain('FAIL')
    expect(treated.ok).toBe(true)
    expect(treated.findings).toContainEqual({ check: 'rebuild', ok: true, detail: 'identical to what was there' })
    expect(sound).toMatchObject({ exitCode: 3, stdout: '' })
    expect(sound.stderr).toContain('is not damaged.')
  })

  it('reports a journal that lost its newest events until the loss is accepted, and does not rebuild without them', async () => {
    using place = createSandbox()
    for (const name of ['one', 'two', 'three'])
      await place.run('remember', `About ${name}.`, '--name', name, '--dir', 'memory')
    const db = new DatabaseSync(join(place.work, 'memory', 'state', 'credence.db'))
    db.exec(`PRAGMA foreign_keys = OFF; DROP TRIGGER events_are_never_deleted; DROP TRIGGER changes_are_never_deleted;
      DELETE FROM changes WHERE event > 1; DELETE FROM events WHERE number > 1`)
    db.close()

    const examined = await place.run('doctor')
    const rebuilt = await place.run('doctor', '--rebuild')
    const listed = await place.json('list')
    const accepted = await place.run('doctor', '--accept-loss', '--rebuild')
    const after = await place.run('doctor')

    expect(examined).toMatchObject({
      exitCode: 5,
      stdout: expect.stringMatching(/FAIL +journal +.*event 3 was committed/u),
    })
    expect(examined.stderr).toContain('--accept-loss')
    expect(rebuilt).toMatchObject({ exitCode: 5, stdout: expect.stringMatching(/FAIL +rebuild +.*not whole/u) })
    expect(listed.total).toBe(3)
    expect(accepted).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/ok +accept loss/u) })
    expect(after.exitCode).toBe(0)
    expect((await place.json('list')).total).toBe(1)
  })

  it('reports an emptied index, which a rebuild creates again', async () => {
    using place = createSandbox()
    await place.run('remember', 'Invoices are due after 14 days.', '--name', 'payment terms', '--dir', 'memory')
    const db = new DatabaseSync(join(place.work, 'memory', 'state', 'credence.db'))
    db.exec('DELETE FROM forms')
    db.close()

    const examined = await place.run('doctor')
    const rebuilt = await place.run('doctor', '--rebuild')
    const recalled = await place.run('recall', 'What are our payment terms?')

    expect(examined).toMatchObject({ exitCode: 5, stdout: expect.stringMatching(/FAIL +index +forms: /u) })
    expect(rebuilt.exitCode).toBe(0)
    expect(recalled).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('14 days') })
    expect((await place.run('doctor')).exitCode).toBe(0)
  })

  it.each([['doctor'], ['status'], ['history'], ['history', 'payment terms'], ['show', 'payment terms']])(
    'and other reporting commands change no file: %s %s',
    async (...argv) => {
      using place = createSandbox()
      await place.run('init', '--dir', 'memory')
      await place.run('remember', 'Invoices are due after 14 days.', '--name', 'payment terms')
      const file = join(place.work, 'memory', 'MEMORY.md')
      writeFileSync(file, readFileSync(file, 'utf8').replace('14 days', '30 days'))
      const before = contentsOf(join(place.work, 'memory'))

      const { exitCode } = await place.run(...argv.filter((word) => word !== undefined))

      expect(exitCode).toBe(0)
      expect(contentsOf(join(place.work, 'memory'))).toEqual(before)
    },
  )

  it('and all other commands leave temporary files of living processes alone; a change removes those of dead ones', async () => {
    using place = createSandbox()
    await place.run('init', '--dir', 'memory')
    const dead = spawnSync(process.execPath, ['--eval', '']).pid
    const left = ['', 'state', 'state/mirror'].flatMap((folder) =>
      [dead, process.pid].flatMap((pid) =>
        ['MEMORY.md', 'lock'].map((name) => join(place.work, 'memory', folder, `.tmp-${pid}-0123abcd-${name}`)),
      ),
    )
    for (const file of left) writeFileSync(file, '')

    await place.run('recall', 'anything')
    await place.run('doctor')
    const before = left.filter((file) => existsSync(file))
    await place.run('remember', 'Invoices are due after 14 days.', '--name', 'payment terms')

    expect(before).toEqual(left)
    expect(left.filter((file) => existsSync(file))).toEqual(left.filter((file) => file.includes(`-${process.pid}-`)))
  })

  it('reports a store that others may read, and exits with 5', async () => {
    using place = createSandbox()
    await place.run('init', '--dir', 'memory')
    chmodSync(join(place.work, 'memory', 'state', 'credence.db'), 0o644)

    const { exitCode, stdout, stderr } = await place.run('doctor')
    const setAside = await place.run('doctor', '--set-aside')

    expect(exitCode).toBe(5)
    expect(stdout).toMatch(/^FAIL {2}privacy +others have access: .*credence\.db; run: chmod go-rwx .*credence\.db$/m)
    // The store is not damaged, so a rebuild would not help.
    expect(stderr).not.toContain('--rebuild')
    expect(setAside).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('is not damaged') })
  })

  it('does not complain if there is no memory', async () => {
    using place = createSandbox()

    const { exitCode, stdout } = await place.run('doctor')

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^ok {4}store {2}there is none at .* yet\n$/)
    expect(existsSync(join(place.home, '.local'))).toBe(false)
  })
})

describe('settings', () => {
  it('are read from the memory directory before the home, and from the environment before both', async () => {
    using place = createSandbox()
    await place.run('init', '--dir', 'memory')
    mkdirSync(join(place.home, '.config', 'credence'), { recursive: true })
    writeFileSync(join(place.home, '.config', 'credence', 'config.json'), '{"user": "from-home"}')
    const userNow = async (env = {}, ...options: string[]) =>
      JSON.parse((await place.runWith({ env }, 'doctor', '--json', ...options)).stdout).user

    const home = await userNow()
    writeFileSync(join(place.work, 'memory', 'config.json'), '{"user": "from-memory"}')
    const users = [
      home,
      await userNow(),
      await userNow({ CREDENCE_USER: 'from-env' }),
      await userNow({ CREDENCE_USER: 'from-env' }, '--user', 'given'),
    ]

    expect(users).toEqual(['from-home', 'from-memory', 'from-env', 'given'])
  })

  it('that do not exist are refused, with the nearest name', async () => {
    using place = createSandbox()
    await place.run('init', '--dir', 'memory')
    writeFileSync(join(place.work, 'memory', 'config.json'), '{"usr": "ada"}')

    const { exitCode, stderr } = await place.run('recall', 'hello')

    expect(exitCode).toBe(3)
    expect(stderr).toMatch(
      /^error: There is no setting "usr" \(in .*memory\/config\.json\)\.\nhint: Did you mean user\?\n$/,
    )
  })
})

describe('a bug', () => {
  it('exits with 70 and one neutral sentence, and shows the stack only on request', async () => {
    using place = createSandbox()
    const workingDirectory = (): string => {
      throw new TypeError('secret detail')
    }

    const quiet = await place.runWith({ workingDirectory }, 'recall', 'hello', '--json')
    const loud = await place.runWith({ workingDirectory, env: { CREDENCE_DEBUG: '1' } }, 'recall', 'hello')

    expect(quiet.exitCode).toBe(70)
    expect(quiet.stderr).toMatch(/^error: Credence stopped because of a bug in it\.\nhint: .*\n$/)
    expect(JSON.parse(quiet.stdout)).toMatchObject({ ok: false, error: { code: 'bug' } })
    expect(loud.stderr).toContain('TypeError: secret detail')
    expect(loud.stderr).toContain('failures.test.ts')
  })
})

/** The bytes of every file below a directory, except SQLite's log. No store in it may be open. */
function contentsOf(directory: string): ReadonlyMap<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !/-(?:wal|shm)$/u.test(entry.name),
  )
  return new Map(
    files.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'latin1')]),
  )
}
