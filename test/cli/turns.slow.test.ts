import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { createSandbox, endOf } from './sandbox.ts'

type Place = ReturnType<typeof createSandbox>

const lines = (...turns: readonly unknown[]): string =>
  turns.map((turn) => (typeof turn === 'string' ? turn : JSON.stringify(turn))).join('\n')

const file = (place: Place, text: string | Buffer): string => {
  const path = join(place.work, 'chats.jsonl')
  writeFileSync(path, text)
  return path
}

const textsIn = async (place: Place, session: string): Promise<readonly string[]> =>
  (await place.json('conversations', 'show', session)).turns.map(({ text }: { text: string }) => text)

describe('hear', () => {
  it('stores a turn, reports its scope, and learns the requested statement', async () => {
    using place = createSandbox()
    const said = ['hear', 'Remember that the API port is 8080.', '--session', 's1', '--at', '2026-05-03T10:00:00Z']

    const first = await place.run(...said)
    const again = await place.run(...said)

    expect(first.stdout).toMatch(
      /^Stored in user:universal, conversation s1\.\nLearned:\n {2}remembered "API port" \(b-\w+\)/,
    )
    expect(first.stdout).toContain('The person asked to remember it.')
    expect(again.stdout).toMatch(/^Already stored in user:universal/)
    expect((await place.json('beliefs')).total).toBe(1)
  })

  it.each([
    ['off the record', 'Off the record: I resign in May.', 0, 'Not stored, because it asks not to be'],
    ['too long', 'x'.repeat(200_001), 3, 'The turn has 200001 characters; at most 200000 are kept.'],
  ])('reports why it does not store a turn that is %s', async (_what, text, exitCode, reason) => {
    using place = createSandbox()

    const ending = await place.run('hear', text)

    expect(ending.exitCode).toBe(exitCode)
    expect(ending.stdout).toContain(reason)
    expect((await place.json('conversations')).total).toBe(0)
  })

  it('stores the turns of JSON Lines, reports invalid lines with their numbers, and exits with 3', async () => {
    using place = createSandbox()
    const stdin = lines(
      '\ufeff{"text": "first"}',
      '',
      '{"text": ',
      '[]',
      '{"session": "s1"}',
      { text: 'x', role: 'robot' },
      { text: 'x', at: 'yesterday' },
      { text: 'x', session: 'y'.repeat(201) },
      { text: 'x', scope: 'nowhere' },
      { text: 'x', index: -1 },
      { text: 'last', session: 's1', role: 'assistant', speaker: null, at: '2026-05-03T10:00:00Z', sesion: 's2' },
    )

    const { exitCode, stdout, stderr } = await place.runWith({ stdin }, 'hear', '-', '--session', 's1')

    expect(exitCode).toBe(3)
    expect(stdout).toBe(
      '2 turns stored, 0 already known, 0 skipped, 8 lines could not be read.\n  In user:universal: 2 stored, 0 already known.\n',
    )
    expect(stderr).toContain(
      'warning: standard input, line 11: ignored unknown field "sesion"; did you mean "session"?',
    )
    expect(stderr).toContain('standard input, line 3: The line is not JSON.')
    expect(stderr).toContain('standard input, line 4: The line is not a JSON object.')
    expect(stderr).toContain('standard input, line 5: The field text is missing.')
    expect(stderr).toContain('line 6: The field role is "robot"; it must be user, assistant, tool.')
    expect(stderr).toContain('line 7: The field at is "yesterday"; it must be a time such as 2026-05-03T10:00:00Z.')
    expect(stderr).toContain('line 10: The field index is -1; it must be a whole number from 0.')
    expect(await textsIn(place, 's1')).toEqual(['last', 'first'])
  })

  it("stores a person's own command while the memory is paused, with a note, and no turns from programs", async () => {
    using place = createSandbox()
    await place.json('pause')

    const person = await place.run('hear', 'By hand.', '--session', 's1')
    const remembered = await place.run('remember', 'Port 8080.', '--name', 'api port')
    const agent = await place.run('hear', 'By a host.', '--session', 's1', '--as', 'agent:host')

    for (const { stderr } of [person, remembered])
      expect(stderr).toContain('Hooks are paused everywhere until resumed; this was stored anyway.')
    expect(agent.stdout).toBe('Nothing was stored: the memory is paused everywhere until resumed.\n')
    expect(await textsIn(place, 's1')).toEqual(['By hand.'])
  })
})

describe('import chats', () => {
  const chats = lines(
    { session: 's1', role: 'user', at: '2026-05-03T10:00:00Z', text: 'Always answer in French. My name is Sam.' },
    { session: 's1', role: 'assistant', at: '2026-05-03T10:00:05Z', text: 'Bien.' },
    { session: 's2', role: 'user', speaker: 'Ana', at: '2026-05-04T10:00:00Z', text: 'Always be kind.' },
  )

  it('stores turns, lists statements for review, and stores nothing twice when repeated', async () => {
    using place = createSandbox()
    const path = file(place, chats)

    const first = await place.json('import', 'chats', path)
    const second = await place.json('import', 'chats', path)

    expect(first).toMatchObject({ kept: 3, known: 0, problemCount: 0, learnedCount: 2 })
    expect(second).toMatchObject({ kept: 0, known: 3, learnedCount: 0 })
    expect((await place.json('beliefs')).total).toBe(0)
    expect((await place.json('review')).items).toHaveLength(2)
    expect((await place.json('conversations', 'show', 's2')).turns).toMatchObject([{ speaker: 'Ana', host: 'import' }])
  })

  it('with --dry-run shows what would be stored, and creates nothing', async () => {
    using place = createSandbox()
    const path = file(place, chats)

    const { stdout } = await place.run('import', 'chats', path, '--dry-run')

    expect(stdout).toMatch(/^3 turns would be stored, 0 already known, 0 skipped, 0 lines could not be read\.\n/)
    expect(existsSync(join(place.home, '.local', 'share', 'credence'))).toBe(false)
  })

  it('skips and reports unreadable lines, with file and line number', async () => {
    using place = createSandbox()
    const path = file(
      place,
      Buffer.concat([Buffer.from('{"text": "caf\xe9"}\n', 'latin1'), Buffer.from(`${chats}\n{"te`)]),
    )

    const { exitCode, stdout, stderr } = await place.run('import', 'chats', path)

    expect(exitCode).toBe(3)
    expect(stdout).toContain('3 turns stored')
    expect(stderr).toContain('chats.jsonl, line 1: The line is not UTF-8 text.\n')
    expect(stderr).toContain('chats.jsonl, line 5: The line is not JSON.\n')
  })

  it('refuses a missing file and an unknown format, and reports an empty file or directory', async () => {
    using place = createSandbox()

    const missing = await place.run('import', 'chats', join(place.work, 'nothing.jsonl'))
    const directory = await place.run('import', 'chats', place.work)
    const format = await place.run('import', 'chats', file(place, ''), '--from', 'telegram')
    const empty = await place.run('import', 'chats', file(place, '\n\n'))

    expect(missing).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('There is no file') })
    expect(directory).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('contains no turns.') })
    expect(format).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('"telegram" is not one of claude-code'),
    })
    expect(empty).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('contains no turns.') })
  })

  it('shows progress at a terminal, with the remaining time only if it takes seconds', async () => {
    using place = createSandbox()
    const path = file(place, chats)

    const { stderr } = await place.runWith({ columns: 80 }, 'import', 'chats', path)

    expect(stderr).toMatch(/1\/1 MB, 3 turns(?!, \d+ s)/)
  })

  it('stops at an interrupt, keeps the finished part, and continues when it is run again', {
    timeout: 60_000,
  }, async () => {
    using place = createSandbox()
    const count = 20_000
    const turn = (number: number) => ({
      session: 's1',
      at: new Date(1_777_777_777_000 + number).toISOString(),
      text: `turn ${number} of many`,
    })
    const path = file(place, lines(...Array.from({ length: count }, (_, number) => turn(number))))
    const child = place.start(['import', 'chats', path, '--json'])
    const ended = endOf(child)
    const store = join(place.home, '.local', 'share', 'credence', 'state', 'credence.db')
    await vi.waitFor(() => expect(existsSync(store)).toBe(true), { timeout: 30_000, interval: 5 })
    child.kill('SIGINT')

    const { exitCode, stdout } = await ended
    const { kept, wasInterrupted } = JSON.parse(stdout)
    const { total } =
      (await place.json('conversations')).items.length === 0
        ? { total: 0 }
        : await place.json('conversations', 'show', 's1', '--limit', '1')
    const rest = await place.json('import', 'chats', path)

    expect({ exitCode, wasInterrupted, total }).toEqual({ exitCode: 130, wasInterrupted: true, total: kept })
    expect(kept).toBeLessThan(count)
    expect(rest).toMatchObject({ kept: count - kept, known: kept })
  })

  it('of the histories stops at an interrupt of init, which does not promise to continue', {
    timeout: 60_000,
  }, async () => {
    using place = createSandbox()
    const history = join(place.home, '.claude', 'projects', '-work')
    mkdirSync(history, { recursive: true })
    for (const name of ['new', 'old']) {
      const turn = (number: number) => ({
        type: 'user',
        sessionId: name,
        uuid: `${name}-${number}`,
        cwd: place.work,
        timestamp: new Date(1_777_777_777_000 + number).toISOString(),
        message: { role: 'user', content: `turn ${number} of ${name}` },
      })
      writeFileSync(join(history, `${name}.jsonl`), lines(...Array.from({ length: 20_000 }, (_, at) => turn(at))))
    }
    const child = place.start(['init', '--yes'])
    const ended = endOf(child)
    const store = join(place.home, '.local', 'share', 'credence', 'state', 'import.lock')
    await vi.waitFor(() => expect(existsSync(store)).toBe(true), { timeout: 30_000, interval: 5 })
    child.kill('SIGINT')

    const { exitCode, stdout } = await ended

    expect(exitCode).toBe(130)
    expect(stdout).toMatch(/Created a memory.*Interrupted after \d+ turns; `credence import chats` continues\./su)
    expect(stdout).not.toContain('in the background')
  })
})

describe('export --turns', () => {
  it('exports a file that import chats reads unchanged', async () => {
    const turn = fc.record({
      session: fc.constantFrom('s1', 's2'),
      role: fc.constantFrom('user', 'assistant', 'tool'),
      speaker: fc.constantFrom(null, 'Ana'),
      at: fc
        .integer({ min: 0, max: 1_000 })
        .map((hours) => new Date(1_700_000_000_000 + hours * 3_600_000).toISOString()),
      scope: fc.constantFrom('user:universal', 'project:a'),
      host: fc.constantFrom('claude-code', 'import'),
      messageId: fc.option(fc.uuid(), { nil: null }),
      origin: fc.constantFrom(null, 'document'),
      text: fc.string({ minLength: 1, unit: 'binary' }).filter((text) => text.trim() !== ''),
    })
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(turn, { maxLength: 8, selector: ({ text }) => text }), async (turns) => {
        using place = createSandbox()
        await place.runWith({ stdin: lines(...turns) }, 'hear', '-')

        const exported = await place.run('export', '--turns')
        await place.run('import', 'chats', file(place, exported.stdout), '--dir', 'copy')
        const copied = await place.run('export', '--turns', '--dir', 'copy')

        expect(exported.stdout.split('\n')).toHaveLength(turns.length + 1)
        expect(copied.stdout).toBe(exported.stdout)
      }),
      { numRuns: 10 },
    )
  })

  it('keeps message ids, leaves out other scopes, and prints one array with --json', async () => {
    using place = createSandbox()
    await place.json('hear', 'In a.', '--scope', 'project:a', '--message-id', 'm-1', '--session', 's1')
    await place.json('hear', 'In b.', '--scope', 'project:b', '--session', 's1')

    const all = await place.json('export', '--turns')
    const written = await place.json('export', '--turns', '--scope', 'project:a', '--out', 'turns.jsonl')

    expect(all).toMatchObject([{ text: 'In a.', messageId: 'm-1' }, { text: 'In b.' }])
    expect(written).toEqual({ file: join(place.work, 'turns.jsonl'), turns: 1 })
    expect(JSON.parse(readFileSync(join(place.work, 'turns.jsonl'), 'utf8'))).toMatchObject({ text: 'In a.' })
  })
})

describe('conversations', () => {
  const filled = async (place: Place): Promise<void> => {
    const turns = [
      { session: 'abc-1', at: '2026-05-03T10:00:00Z', text: 'The boathouse key hangs behind the cupboard.' },
      { session: 'abc-1', at: '2026-05-03T10:01:00Z', role: 'assistant', text: 'Noted.' },
      { session: 'abd-2', at: '2026-05-04T10:00:00Z', scope: 'project:a', text: 'Is it raining?' },
    ]
    await place.runWith({ stdin: lines(...turns) }, 'hear', '-')
  }

  it('are listed with their day, the latest first', async () => {
    using place = createSandbox()
    await filled(place)

    const { stdout } = await place.run('conversations')
    const one = await place.run('conversations', '--limit', '1')
    const may3 = await place.json('conversations', '--until', '2026-05-03')
    const scoped = await place.json('conversations', '--scope', 'project:a')

    expect(stdout).toBe(
      [
        'day         session  scopes          turns  first words',
        '2026-05-04  abd-2    project:a       1      Is it raining?',
        '2026-05-03  abc-1    user:universal  2      The boathouse key hangs behind the cupboard.',
        '',
      ].join('\n'),
    )
    expect(one.stderr).toBe('1 more conversation; see them with --offset 1.\n')
    expect(may3.items).toMatchObject([{ session: 'abc-1', turns: 2 }])
    expect(scoped.items).toMatchObject([{ session: 'abd-2' }])
  })

  it('show the next step if there are none', async () => {
    using place = createSandbox()

    const empty = await place.run('conversations')
    await filled(place)
    const filtered = await place.run('conversations', '--since', '2030-01-01')

    expect(empty.stderr).toContain('There are no conversations yet. `credence connect` connects an agent')
    expect(filtered.stderr).toBe('No conversation matches.\n')
  })

  it('are shown by a unique beginning of their id', async () => {
    using place = createSandbox()
    await filled(place)

    const shown = await place.run('conversations', 'show', 'abc')
    const ambiguous = await place.run('conversations', 'show', 'ab')
    const missing = await place.run('conversations', 'show', 'x')

    expect(shown.stdout).toMatch(/^ {2}you {2}2026-05-03 10:00 {2}t-\w+\n {4}The boathouse key .*\n {2}assistant /)
    expect(ambiguous).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('2 conversations begin with "ab".'),
    })
    expect(missing).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('There is no conversation "x".') })
  })

  it('are shown around one turn', async () => {
    using place = createSandbox()
    const turns = Array.from({ length: 40 }, (_, number) => ({
      text: `turn ${number}`,
      session: 's1',
      at: new Date(1_777_777_777_000 + number * 1_000).toISOString(),
    }))
    await place.runWith({ stdin: lines(...turns, { text: 'elsewhere', session: 's2' }) }, 'hear', '-')
    const { turns: all } = await place.json('conversations', 'show', 's1')

    const around = await place.run('conversations', all[20].id)
    const atStart = await place.json('conversations', all[2].id)

    expect(around.stdout.match(/turn \d+/g)).toEqual(turns.slice(10, 31).map(({ text }) => text))
    expect(around.stdout).toMatch(new RegExp(`^> you .*${all[20].id}$`, 'm'))
    expect(atStart.turns).toHaveLength(13)
  })
})

describe('why', () => {
  it('reports whether a turn is shown for a message, and the words that they share', async () => {
    using place = createSandbox()
    await place.run('hear', 'I rented a kayak near Voss in Norway.', '--session', 's1')
    const [turn] = (await place.json('conversations', 'show', 's1')).turns

    const byWords = { env: { CREDENCE_SEMANTIC: 'off' } }
    const shown = await place.runWith(byWords, 'why', 'Where did I rent that kayak in Norway?', turn.id)
    const near = await place.run('why', 'Where did I rent that kayak in Norway?', turn.id)
    const silent = await place.run('why', 'Write a poem about rain', turn.id)

    expect(shown.stdout).toMatch(
      /^It is quoted as sure\. By words alone, the probability that one of the five best-ranked turns helps is 0\.\d+; /,
    )
    expect(shown.stdout).toContain('3 words of the message count ("rent", "kayak", "Norway"); this contains')
    expect(near.stdout).toMatch(
      /^It is quoted as sure\. The probability that one of the five best-ranked turns helps is 0\.\d+; /,
    )
    expect(silent.stdout).toContain('is not quoted for this message')
    expect((await place.run('why', 'x', 't-nope')).stderr).toContain('There is no belief or turn "t-nope".')
  })
})

describe('forget', () => {
  const filled = async (place: Place): Promise<void> => {
    const turns = [
      { session: 's1', at: '2026-05-03T10:00:00Z', text: 'Remember that I live at 12 Elm Street.' },
      { session: 's1', at: '2026-05-04T10:00:00Z', text: 'Is it raining on elm street?' },
      { session: 's2', at: '2026-05-05T10:00:00Z', text: 'Remember that the API port is 8080.' },
    ]
    await place.runWith({ stdin: lines(...turns) }, 'hear', '-')
  }
  const left = async (place: Place): Promise<readonly string[]> =>
    (await place.json('export', '--turns')).map(({ text }: { text: string }) => text)

  it('removes turns and beliefs that contain words, after showing them', async () => {
    using place = createSandbox()
    await filled(place)

    const preview = await place.run('forget', '--containing', 'Elm Street', '--dry-run')
    const before = await left(place)
    const { stdout } = await place.run('forget', '--containing', 'Elm Street', '--yes')

    expect(preview.stdout).toContain('Would be forgotten:\n2 turns and 1 belief\n')
    expect(preview.stdout).toMatch(/2026-05-04 user \(t-\w+\): .?Is it raining on elm street\?/u)
    expect(before).toHaveLength(3)
    expect(stdout).toMatch(/^Forgotten: 2 turns and 1 belief\.\n {2}Receipt: change \d+, [0-9a-f]{16}\n$/)
    expect(await left(place)).toEqual(['Remember that the API port is 8080.'])
    expect(readFileSync(join(place.home, '.local', 'share', 'credence', 'state', 'credence.db'), 'latin1')).not.toMatch(
      /elm street/i,
    )
  })

  it('removes one turn, one conversation or a time span, and reports which beliefs remain', async () => {
    using place = createSandbox()
    await filled(place)
    const [turn] = (await place.json('conversations', 'show', 's1')).turns

    const one = await place.run('forget', '--turn', turn.id, '--yes')
    const day = await place.json('forget', '--since', '2026-05-04', '--until', '2026-05-04', '--yes')
    const session = await place.run('forget', '--session', 's2', '--yes')

    expect(one.stderr).toMatch(
      /, learned from them, stays: I live at 12 Elm Street\. `credence forget b-\w+` forgets it too\.\n$/,
    )
    expect(day).toMatchObject({ turns: 1, beliefs: 0 })
    expect(session.stdout).toMatch(/^Forgotten: 1 turn and 0 beliefs\.\n/)
    expect(await left(place)).toEqual([])
    expect((await place.json('beliefs')).total).toBe(2)
  })

  it('asks at a terminal, and forgets only if the answer is yes', async () => {
    using place = createSandbox()
    await filled(place)

    const no = await place.runWith({ columns: 80, stdin: 'n\n' }, 'forget', '--containing', 'Elm Street')
    const afterNo = await left(place)
    await place.runWith({ columns: 80, stdin: 'y\n' }, 'forget', '--containing', 'Elm Street')

    expect(no.stdout).toContain('Nothing was forgotten.')
    expect(no.stderr).toContain('2 turns and 1 belief')
    expect(afterNo).toHaveLength(3)
    expect(await left(place)).toHaveLength(1)
  })

  it('removes queued messages of hooks', async () => {
    using place = createSandbox()
    const payload = (prompt: string) => JSON.stringify({ session_id: 's1', cwd: place.work, prompt })
    for (const prompt of ['I live at 12 Elm Street.', 'Is it raining?'])
      await place.runWith({ stdin: payload(prompt) }, 'hook', 'prompt-submit')

    const forgotten = await place.json('forget', '--containing', 'elm street', '--yes')
    await place.run('hook', 'hear')

    expect(forgotten).toMatchObject({ turns: 0, queued: 1 })
    expect(await left(place)).toEqual(['Is it raining?'])
  })

  it.each([
    [[], 'Nothing to forget was given.'],
    [['terms', '--session', 's1'], 'Forget a belief and turns in two commands.'],
    [['--session', 's1', '--chain'], '--chain is for beliefs.'],
    [['--since', 'soon'], '--since: "soon" is not a date.'],
    [['--session', 's1'], 'there is no terminal to ask for confirmation.'],
  ])('refuses %j', async (argv, message) => {
    using place = createSandbox()
    await place.run('hear', 'I live at 12 Elm Street.', '--session', 's1')

    const { exitCode, stderr } = await place.run('forget', ...argv)

    expect(exitCode).toBe(2)
    expect(stderr).toContain(message)
  })
})

describe('vectors', () => {
  it('are computed on demand, order a search, and can be switched off', async () => {
    using place = createSandbox()
    const byWords = { env: { CREDENCE_SEMANTIC: 'off' } }
    await place.runWith(byWords, 'hear', 'My doctor said the blood test is fine.', '--session', 's1')

    const { dir, meaning } = await place.json('status')
    expect(meaning).toEqual({ model: 'minilm-l6-v2', indexed: 0, waiting: 1, problem: null, isUsedByRecall: true })
    expect((await place.run('status')).stdout).toContain('minilm-l6-v2, 0 vectors; 1 to index')
    expect((await place.json('vectors')).embedded).toBe(1)
    const found = async () => JSON.stringify((await place.json('search', 'medical test')).quotes[0].explanation)
    expect(await found()).toContain('"label":"meaning"')

    writeFileSync(join(dir, 'config.json'), '{"semantic": "off"}')
    expect(await found()).not.toContain('"label":"meaning"')
    expect(await place.run('vectors')).toMatchObject({ exitCode: 2 })
    expect((await place.json('status')).meaning.model).toBeNull()
  })
})

describe('pause, resume and status', () => {
  it('show the active pauses, their ends and their directories', async () => {
    using place = createSandbox()
    mkdirSync(join(place.work, 'secret'))
    const secret = join(place.work, 'secret')

    const everywhere = await place.run('pause', '--for', '2h')
    const inOne = await place.run('pause', '--in', 'secret')
    const status = await place.run('status')
    const document = await place.json('status')
    const resumed = await place.run('resume')
    const again = await place.run('resume')
    const last = await place.runWith({ cwd: secret }, 'resume', '--here')

    expect(everywhere.stdout).toMatch(/^Paused everywhere until 20\d\d-\d\d-\d\d \d\d:\d\d\. /)
    expect(inOne.stdout).toContain(`Paused in ${secret} until resumed.`)
    expect(inOne.stderr).toBe(`\`credence resume --in ${secret}\` ends the pause.\n`)
    expect(status.stdout).toMatch(
      new RegExp(`^hooks {6}paused everywhere until 20.*; paused in ${secret} until resumed$`, 'm'),
    )
    expect(document.pauses).toMatchObject([{ directory: null }, { directory: secret, until: null }])
    expect(resumed).toMatchObject({
      stdout: 'Resumed. Hooks store messages again.\n',
      stderr: `Still paused in ${secret} until resumed; \`credence resume --in ${secret}\` ends it.\n`,
    })
    expect(again.stdout).toBe('There was no pause for all directories.\n')
    expect(last.stdout).toBe(`Resumed in ${secret}. Hooks store messages again.\n`)
    expect((await place.json('status')).pauses).toEqual([])
  })

  it.each([
    [['--for', 'tomorrow'], '--for: "tomorrow" is not a duration.'],
    [['--for', '0h'], '--for: "0h" is not a duration.'],
    [['--here', '--in', 'x'], '--in and --here exclude each other.'],
  ])('refuse %j', async (argv, message) => {
    using place = createSandbox()

    const { exitCode, stderr } = await place.run('pause', ...argv)

    expect(exitCode).toBe(2)
    expect(stderr).toContain(message)
  })

  it('count the contents of the memory and the waiting items, and name the last hook', async () => {
    using place = createSandbox()
    const nothing = await place.json('status')
    await place.json('hear', 'Remember that the API port is 8080.', '--session', 's1')
    await place.json('hear', 'I prefer tea.', '--session', 's2')
    const stdin = JSON.stringify({ session_id: 's3', cwd: place.work, prompt: 'Is it raining?' })
    await place.runWith({ stdin, startedAt: performance.now() + 60_000 }, 'hook', 'prompt-submit', '--host', 'codex')

    const { stdout, stderr } = await place.run('status')
    const document = await place.json('status')
    const doctor = await place.run('doctor')

    expect(nothing).toMatchObject({ exists: false, beliefs: 0, turns: 0, lastHook: null, queue: { waiting: 0 } })
    expect(document).toMatchObject({
      exists: true,
      beliefs: 1,
      turns: 2,
      conversations: 2,
      candidates: 1,
      proposals: 0,
      queue: { waiting: 1, failed: 0 },
    })
    expect(stdout).toContain('1 belief, 2 turns, 2 conversations\n')
    expect(stdout).toMatch(/^last hook {2}20.*, codex prompt-submit: done$/m)
    expect(stdout).toContain('1 message not stored yet')
    expect(stderr).toBe('Review with `credence review`.\n')
    expect(doctor.stdout).toMatch(/^ok +contents +1 current belief, 2 turns in 2 conversations$/m)
    expect(doctor.stdout).toMatch(/^ok +hooks +1 message not stored yet; the next hook stores them$/m)
  })
})

describe('the notice about stored messages', () => {
  it.each(['claude-code', 'codex', 'cursor', 'vscode', 'openclaw', 'claude-desktop'])(
    'is printed, with the place and the way to stop it, by connect %s',
    async (host) => {
      using place = createSandbox()
      const dir = join(place.home, '.local', 'share', 'credence')

      const printed = await place.run('connect', host, '--dry-run')
      const written = await place.run('connect', host, '--yes')
      const removed = await place.run('connect', host, '--remove', '--yes')

      for (const { stderr } of [printed, written]) {
        expect(stderr).toContain(`stored word for word on this machine, in ${dir}, with secrets masked.`)
        expect(stderr).toContain('`credence pause` stops that')
      }
      expect(removed.stderr).not.toContain('credence pause')
    },
  )

  it('is kept until the server forgets messages older than keepTurnsDays', { timeout: 60_000 }, async () => {
    using place = createSandbox()
    await place.json('hear', 'Long ago.', '--at', '2020-01-01', '--session', 's1')
    await place.json('hear', 'Just now.', '--session', 's1')

    const child = place.start(['serve', '--port', '0'], { env: { CREDENCE_KEEP_TURNS_DAYS: '30' } })
    const ended = endOf(child)
    try {
      await vi.waitFor(async () => expect(await textsIn(place, 's1')).toEqual(['Just now.']), { timeout: 30_000 })
    } finally {
      child.kill('SIGINT')
      await ended
    }
  })
})
