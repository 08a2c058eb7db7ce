import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { workplace } from './workplace.ts'

describe('a wrong command line', () => {
  it.each([
    [['recal', 'hello'], 'There is no command "recal".', 'Did you mean `credence recall`?'],
    [['recall', 'hello', '--explian'], 'There is no option --explian.', 'Did you mean --explain?'],
    [['recall'], '<message> is missing.', 'See `credence recall --help`.'],
    [
      ['recall', 'x', '--max-beliefs', 'many'],
      '--max-beliefs: "many" is not a whole number 0 or more.',
      'See `credence recall --help`.',
    ],
    [
      ['recall', 'x', '--render', '--explain'],
      '--render prints what an agent reads, which explains nothing.',
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
      'Use person, agent:NAME, tool:NAME or import:NAME.',
    ],
    [
      ['remember', 'x', '--name', '!!!'],
      '--name: "!!!" cannot be found by anything: a name needs a letter or a digit.',
      'Use the words people would say.',
    ],
    [
      ['remember', 'x', '--name', 'n', '--expertise', 'rust'],
      '--expertise: "rust" is no expertise.',
      'Write domain:depth, such as "rust:deep"; depths are learning, working, deep, expert.',
    ],
    [['undo', 'twelve'], '<change>: "twelve" is not a whole number 1 or more.', 'See `credence undo --help`.'],
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
    [['alias', 'b', 'add'], 'Which aliases are to be added?', 'Name at least one after add.'],
    [['proposals', 'accept'], 'Which proposal is to be accepted?', 'List them with `credence proposals`.'],
    [
      ['history', 'x', '--limit', '3'],
      '--limit and --before choose among the latest changes of all beliefs.',
      'Leave them out for one belief.',
    ],
    [['beliefs', '--scopes', '--pinned'], '--scopes lists all scopes.', 'Leave out the options that choose beliefs.'],
  ])('%j is refused with 2, says why, and makes nothing', async (argv, message, hint) => {
    using place = workplace()

    const ending = await place.run(...argv)
    const asJson = await place.run(...argv, '--json')

    expect(ending).toEqual({ exitCode: 2, stdout: '', stderr: `error: ${message}\nhint: ${hint}\n` })
    expect(asJson.exitCode).toBe(2)
    expect(JSON.parse(asJson.stdout)).toEqual({ ok: false, error: { code: 'usage', message, hint } })
    expect(existsSync(join(place.home, '.local'))).toBe(false)
  })

  it('without a command shows the help on standard error', async () => {
    using place = workplace()

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
    [['proposals', 'accept', 'payment terms'], 'not_found', 'Nothing is proposed for "payment terms".'],
    [['remember', ' ', '--name', 'empty'], 'invalid', 'The content is empty.'],
    [
      ['forget', 'payment terms', '--yes', '--as', 'agent:codex'],
      'forbidden',
      '"payment terms" was written by a higher authority than agent "codex".',
    ],
    [['import', 'nothing.jsonl'], 'not_found', 'There is no file nothing.jsonl.'],
  ])('%j is refused with 3 and %s', async (argv, code, message) => {
    using place = workplace()
    await place.run('remember', 'Invoices are due after 14 days.', '--name', 'payment terms')

    const ending = await place.run(...argv)
    const asJson = await place.run(...argv, '--json')

    expect(ending).toMatchObject({ exitCode: 3, stdout: '' })
    expect(ending.stderr.split('\n')[0]).toBe(`error: ${message}`)
    expect(JSON.parse(asJson.stdout)).toMatchObject({ ok: false, error: { code, message } })
  })

  it('names the choices when a name means several beliefs, and a scope decides', async () => {
    using place = workplace()
    for (const scope of ['project:a', 'project:b'])
      await place.run('remember', `It is ${scope}.`, '--name', 'it', '--scope', scope)

    const ambiguous = await place.run('show', 'it')
    const chosen = await place.json('show', 'it', '--scope', 'project:b')

    expect(ambiguous.exitCode).toBe(3)
    expect(ambiguous.stderr).toMatch(/^error: "it" means several beliefs: b-\w+ \(it, project:[ab]\), b-\w+ /)
    expect(chosen.belief.content).toBe('It is project:b.')
  })
})

describe('a store that cannot be used', () => {
  const storeOf = (dir: string): string => join(dir, 'state', 'credence.db')

  function damagedMemory(dir: string, bytes: string): string {
    mkdirSync(join(dir, 'state'), { recursive: true })
    writeFileSync(storeOf(dir), bytes, { mode: 0o600 })
    return dir
  }

  it('is never overwritten, and the doctor says what to do', async () => {
    using place = workplace()
    const dir = damagedMemory(
      join(place.work, 'memory'),
      'this is not a database, but a letter to my aunt\n'.repeat(100),
    )
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

  it('is set aside whole when asked, and a new one begins', async () => {
    using place = workplace()
    const dir = damagedMemory(join(place.work, 'memory'), 'garbage'.repeat(1000))

    const { findings, ok } = await place.json('doctor', '--set-aside')
    const remembered = await place.run('remember', 'x', '--name', 'x')

    const moved = /moved to (\S+);/.exec(findings[0].detail)?.[1] ?? ''
    expect(ok).toBe(true)
    expect(readFileSync(moved, 'utf8')).toBe('garbage'.repeat(1000))
    expect(moved.startsWith(`${storeOf(dir)}.corrupt-`)).toBe(true)
    expect(remembered.exitCode).toBe(0)
  })

  it('begins anew in a file of no bytes', async () => {
    using place = workplace()
    damagedMemory(join(place.work, 'memory'), '')

    const remembered = await place.run('remember', 'It works.', '--name', 'it')

    expect(remembered).toMatchObject({ exitCode: 0, stderr: '' })
  })

  it('says so when the directory cannot be made', async () => {
    using place = workplace()
    writeFileSync(join(place.work, 'file'), '')

    const made = await place.run('init', '--dir', 'file/below')
    const remembered = await place.run('remember', 'x', '--name', 'x', '--dir', 'file/below')

    expect(made.exitCode).toBe(3)
    expect(made.stderr).toMatch(/^error: The directory .*file\/below cannot be made \(ENOTDIR\)\.\nhint: /)
    expect(remembered.exitCode).toBe(3)
    expect(remembered.stderr).toMatch(/^error: .*file\/below/)
  })

  it.skipIf(process.getuid?.() === 0)('says so when the directory may not be written to', async () => {
    using place = workplace()
    mkdirSync(join(place.work, 'locked'))
    chmodSync(join(place.work, 'locked'), 0o500)

    const { exitCode, stderr } = await place.run('remember', 'x', '--name', 'x', '--dir', 'locked/memory')

    expect(exitCode).toBe(3)
    expect(stderr).toMatch(/^error: .*locked/)
  })
})

describe('doctor', () => {
  it('finds a sound memory sound, and can copy and rebuild it', async () => {
    using place = workplace()
    await place.run('remember', 'Invoices are due after 14 days.', '--name', 'payment terms')

    const examined = await place.run('doctor')
    const treated = await place.json('doctor', '--backup', 'copy.db', '--rebuild')
    const again = await place.run('doctor', '--backup', 'copy.db')
    const sound = await place.run('doctor', '--set-aside')

    expect(examined.exitCode).toBe(0)
    expect(examined.stdout).toMatch(
      /^ok {4}remember, recall and forget +a belief was written, recalled, and is gone again$/m,
    )
    expect(examined.stdout).not.toContain('FAIL')
    expect(treated.ok).toBe(true)
    expect(treated.findings).toContainEqual({ check: 'rebuild', ok: true, detail: 'identical to what was there' })
    expect(existsSync(join(place.work, 'copy.db'))).toBe(true)
    expect(again).toMatchObject({ exitCode: 3, stdout: '' })
    expect(again.stderr).toContain('copy.db is there already.')
    expect(sound).toMatchObject({ exitCode: 3, stdout: '' })
    expect(sound.stderr).toContain('is sound.')
  })

  it('finds a store that others may read, and leaves with 5', async () => {
    using place = workplace()
    await place.run('init', '--dir', 'memory')
    chmodSync(join(place.work, 'memory', 'state', 'credence.db'), 0o644)

    const { exitCode, stdout } = await place.run('doctor')

    expect(exitCode).toBe(5)
    expect(stdout).toMatch(/^FAIL {2}privacy +others may read or write the store \(mode 644\); run: chmod 600 /m)
  })

  it('does not complain where there is no memory yet', async () => {
    using place = workplace()

    const { exitCode, stdout } = await place.run('doctor')

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^ok {4}store {2}there is none at .* yet\n$/)
    expect(existsSync(join(place.home, '.local'))).toBe(false)
  })
})

describe('settings', () => {
  it('are taken from the memory directory before the home, and from the environment before both', async () => {
    using place = workplace()
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

  it('that do not exist are an error naming the nearest', async () => {
    using place = workplace()
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
  it('ends with 70 and one neutral sentence, and shows where only when asked', async () => {
    using place = workplace()
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
