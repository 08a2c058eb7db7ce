import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../cli/sandbox.ts'
import {
  chatgptConversation,
  claudeCodeSession,
  claudeConversation,
  codexSession,
  cursorSession,
  geminiSession,
  jsonLines,
  openclawSession,
  write,
  writeOpencode,
  zipped,
} from './chat-files.ts'

type CliSandbox = ReturnType<typeof createSandbox>

const prompt = 'Always paint the kayak blue. Where is it?'
const answer = 'It is in the boathouse.'

/** The stored turns, oldest first. */
async function kept(place: CliSandbox): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { stdout } = await place.run('export', '--turns')
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}
const said = async (place: CliSandbox) => (await kept(place)).map(({ role, text }) => [role, text])

/** The call and the result of a tool are one turn, or two for ChatGPT, whose archives do not link them. */
const stepsOf = (format: string) => {
  if (format === 'chatgpt')
    return [
      ['tool', 'print("kayak.txt")'],
      ['tool', 'kayak.txt'],
    ]
  return [['tool', expect.stringMatching(format === 'cursor' ? /^Shell .*ls/u : /ls.*\nkayak\.txt$/u)]]
}
const conversationIn = (format: string) => [['user', prompt], ...stepsOf(format), ['assistant', answer]]

const files: Readonly<Record<string, (place: CliSandbox) => string>> = {
  'claude-code': ({ work }) => write(work, 'a.jsonl', claudeCodeSession(work, prompt, answer)),
  codex: ({ work }) => write(work, 'rollout-a.jsonl', codexSession(work, prompt, answer)),
  gemini: ({ home, work }) => {
    write(home, '.gemini/tmp/work/.project_root', work)
    return write(home, '.gemini/tmp/work/chats/session-a.jsonl', geminiSession(prompt, answer))
  },
  opencode: ({ home, work }) => writeOpencode(join(home, '.local/share/opencode/opencode.db'), work, prompt, answer),
  cursor: ({ home }) =>
    write(home, '.cursor/projects/gone/agent-transcripts/cu-1/cu-1.jsonl', cursorSession(prompt, answer)),
  openclaw: ({ work }) => write(work, 'a.jsonl', openclawSession(work, prompt, answer)),
  chatgpt: ({ work }) =>
    write(
      work,
      'export.zip',
      zipped({ 'user.json': '{}', 'conversations.json': JSON.stringify([chatgptConversation(prompt, answer)]) }),
    ),
}

describe.each(Object.keys(files))('conversations of %s', (format) => {
  it('are recognised, stored with the steps of tools, and stored once', async () => {
    using place = createSandbox()
    const path = (files[format] as (given: CliSandbox) => string)(place)

    const first = await place.json('import', 'chats', path)
    const second = await place.json('import', 'chats', path)

    const expected = conversationIn(format)
    expect(first).toMatchObject({ kept: expected.length, known: 0, problemCount: 0 })
    expect(second).toMatchObject({ kept: 0, known: expected.length, problemCount: 0 })
    expect(await said(place)).toEqual(expected)
    const turns = await kept(place)
    expect(new Set(turns.map(({ session, host }) => `${session} ${host}`)).size).toBe(1)
    expect(turns[0]).toMatchObject({ host: format })
    // Cursor stores no times.
    if (format !== 'cursor') expect(turns[0]?.at).toContain('2026-05-03T10:')
    // A standing instruction in an imported conversation waits for the person.
    expect((await place.json('review')).items).toMatchObject([{ belief: { content: 'Always paint the kayak blue.' } }])
  })

  it('are also read with --from, and up to the end of a truncated file', async () => {
    using place = createSandbox()
    const path = (files[format] as (given: CliSandbox) => string)(place)

    expect(await place.json('import', 'chats', path, '--from', format, '--dry-run')).toMatchObject({
      kept: conversationIn(format).length,
    })
    expect(await kept(place)).toEqual([])
  })
})

describe('the archives of exports', () => {
  it('of Claude are read, compressed or not; an attached file is not attributed to the person', async () => {
    using place = createSandbox()
    const text = JSON.stringify(
      [claudeConversation(prompt, answer), claudeConversation('Hello', 'Hi', 'cl-2')],
      null,
      2,
    )
    const archive = write(place.work, 'claude.zip', zipped({ 'users.json': '[]', 'data/conversations.json': text }))
    const unpacked = write(place.work, 'conversations.json', text)

    const first = await place.json('import', 'chats', archive)
    const second = await place.json('import', 'chats', unpacked)

    expect([first.kept, second.kept, second.known]).toEqual([6, 0, 6])
    const turns = await kept(place)
    expect(turns.find(({ text: words }) => words === 'Always paint boats red.')).toMatchObject({ origin: 'document' })
    expect((await place.json('review')).items).toHaveLength(1)
  })

  it('of ChatGPT are read if the last message is missing', async () => {
    using place = createSandbox()
    const whole = chatgptConversation(prompt, answer)
    const path = write(place.work, 'conversations.json', JSON.stringify([{ ...whole, current_node: 'gone' }]))

    await place.json('import', 'chats', path)

    expect((await said(place))[0]).toEqual(['user', prompt])
  })

  it('that are damaged are reported, and the readable part is stored', async () => {
    using place = createSandbox()
    const many = Array.from({ length: 400 }, (_, index) =>
      chatgptConversation(`Question ${index}?`, answer, `c-${index}`),
    )
    const text = `[${many.map((one) => JSON.stringify(one)).join(',\n')}]`
    const broken = text.replace('"title":"Boats"', '"title":Boats')
    const whole = write(place.work, 'broken.json', broken)
    const archive = zipped({ 'conversations.json': text })
    const cut = write(place.work, 'cut.zip', archive.subarray(0, archive.length / 2))
    const empty = write(place.work, 'empty.zip', zipped({ 'readme.txt': 'none' }))

    const one = await place.run('import', 'chats', whole)
    const two = await place.run('import', 'chats', cut)
    const three = await place.run('import', 'chats', empty)

    expect(one).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('broken.json, line 1: The conversation is not JSON.'),
    })
    expect(one.stdout).toContain(`${399 * 4} turns stored`)
    expect(two.exitCode).toBe(3)
    expect(two.stderr).toMatch(/cut\.zip(?:, line \d+)?: The (?:archive|file)/u)
    expect(three.stderr).toContain('empty.zip: The archive contains no file conversations.json.')
  })
})

it('an archive that unpacks to a hundred times its size is refused', async () => {
  using place = createSandbox()
  const archive = write(place.work, 'blanks.zip', zipped({ 'conversations.json': `[${' '.repeat(40_000_000)}]` }))

  const { exitCode, stderr } = await place.run('import', 'chats', archive)

  expect(exitCode).toBe(3)
  expect(stderr).toContain('blanks.zip: The archive cannot be read: it unpacks to more than 100 times its size.')
})

describe('a directory of sessions', () => {
  it('is read completely: each conversation is stored in the scope of its repository, and other files are skipped', async () => {
    using place = createSandbox()
    const [ledger, other] = ['ledger', 'other'].map((name) => join(place.home, name)) as [string, string]
    for (const path of [ledger, join(other, 'deep')]) mkdirSync(path, { recursive: true })
    for (const path of [ledger, other]) execFileSync('git', ['init', '-q', path])
    const root = join(place.home, 'sessions')
    write(root, 'a/1.jsonl', claudeCodeSession(ledger, 'In the ledger.', answer, 's1'))
    write(root, 'b/2.jsonl', codexSession(join(other, 'deep'), 'In the other.', answer))
    write(root, 'b/3.jsonl', claudeCodeSession(join(place.home, 'gone'), 'In what is gone.', answer, 's3'))
    write(root, 'notes.json', '{"a": 1}')
    write(root, 'picture.png', 'x')

    const imported = await place.run('import', 'chats', root)

    expect(imported).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('1 file skipped.'),
    })
    const scopes = new Map((await kept(place)).map(({ text, scope }) => [text, scope]))
    expect(scopes.get('In the ledger.')).toMatch(/^project:ledger-[0-9a-f]{8}$/u)
    expect(scopes.get('In the other.')).toMatch(/^project:other-[0-9a-f]{8}$/u)
    expect(scopes.get('In what is gone.')).toMatch(/^project:gone-[0-9a-f]{8}$/u)
  })

  it('lists the scopes with their counts, also before anything is stored', async () => {
    using place = createSandbox()
    const ledger = join(place.home, 'ledger')
    execFileSync('git', ['init', '-q', ledger])
    const root = join(place.home, 'sessions')
    write(root, '1.jsonl', claudeCodeSession(ledger, 'In the ledger.', answer))
    write(root, '2.jsonl', jsonLines({ session: 's', text: 'Elsewhere.' }))

    const dry = await place.run('import', 'chats', root, '--dry-run')
    const imported = await place.json('import', 'chats', root)
    const again = await place.run('import', 'chats', root)

    expect(dry.stdout).toMatch(/^ {2}In project:ledger-\w{8}: 3 would be stored, 0 already known\.$/mu)
    expect(dry.stdout).toMatch(/^ {2}In user:universal: 1 would be stored, 0 already known\.$/mu)
    expect(imported.scopes).toEqual({
      [String(Object.keys(imported.scopes).find((scope) => scope.startsWith('project:ledger-')))]: {
        kept: 3,
        known: 0,
      },
      'user:universal': { kept: 1, known: 0 },
    })
    expect(again.stdout).toMatch(/^ {2}In project:ledger-\w{8}: 0 stored, 3 already known\.$/mu)
    expect(again.stderr).not.toContain('known turn')
  })

  it('skips the lists of prompts that Codex and Claude Code store next to their sessions', async () => {
    using place = createSandbox()
    const home = join(place.home, '.agents')
    mkdirSync(home)
    write(home, 'rollout-a.jsonl', codexSession(place.work, prompt, answer))
    write(home, 'history.jsonl', jsonLines({ session_id: 'cx-1', ts: 1_777_800_000, text: prompt }))
    write(home, 'session_index.jsonl', jsonLines({ id: 'cx-1', thread_name: 'Boats' }))
    write(home, 'prompts.jsonl', jsonLines({ display: prompt, project: place.work, sessionId: 'cc-1' }))
    write(home, 'mine.jsonl', jsonLines({ session: 's', at: '2026-05-03T11:00:00Z', text: 'Bye.' }))
    write(home, 'damaged.jsonl', 'not JSON')

    const { exitCode, stderr } = await place.run('import', 'chats', home)

    expect(await said(place)).toEqual([['user', 'Bye.'], ...conversationIn('codex')])
    expect(exitCode).toBe(3)
    expect(stderr).toContain('damaged.jsonl, line 1: The line is not JSON.')
    expect(stderr).toContain('3 files skipped.')
    expect(stderr.match(/.*(?:history|session_index|prompts).*/gu)).toEqual(
      ['history', 'prompts', 'session_index'].map((name) => `  ${name}.jsonl: its format is unknown`),
    )
  })

  it('of an excluded directory, or before the given day, is skipped', async () => {
    using place = createSandbox()
    const path = write(place.work, 'a.jsonl', claudeCodeSession('/private/place', prompt, answer))

    const late = await place.json('import', 'chats', path, '--since', '2026-05-03T10:02:00Z')
    const excluded = await place.runWith(
      { env: { CREDENCE_EXCLUDED_DIRECTORIES: '/private' } },
      'import',
      'chats',
      path,
      '--json',
    )

    expect(late).toMatchObject({ kept: 2, leftOut: 1 })
    expect(JSON.parse(excluded.stdout)).toMatchObject({ kept: 0, known: 0, leftOut: 3 })
  })

  it('masks secrets, reports invalid lines with file and line, and continues', async () => {
    using place = createSandbox()
    const token = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`
    const session = claudeCodeSession(place.work, `Use the token ${token}.`, answer).split('\n')
    session.splice(3, 0, '{"type": "user", "mess', 'null', '\u0000')
    const path = write(place.work, 'a.jsonl', session.join('\n'))

    const { exitCode, stdout, stderr } = await place.run('import', 'chats', path)

    expect(exitCode).toBe(3)
    expect(stdout).toContain('3 turns stored')
    expect(stderr).toContain('a.jsonl, line 4: The line is not JSON.')
    expect(stderr).toContain('a.jsonl, line 5: The line is not a JSON object.')
    expect(JSON.stringify(await kept(place))).not.toContain(token)
  })

  it('refuses an invalid file, and lists the supported formats', async () => {
    using place = createSandbox()
    const path = write(place.work, 'numbers.json', '[1, 2, 3]')

    expect(await place.run('import', 'chats', path)).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('is unknown'),
    })
  })
})

describe('a file that is not JSON', () => {
  it('is reported as such, with the place', async () => {
    using place = createSandbox()

    const { exitCode, stderr } = await place.run('import', 'chats', write(place.work, 'b.json', '{broken'))

    expect(exitCode).toBe(3)
    expect(stderr).toMatch(/b\.json is not valid JSON: .*\(line 1 column 2\)\./u)
    expect(stderr).not.toContain('is unknown')
  })

  it('is listed among the skipped files of a directory, of which five are named', async () => {
    using place = createSandbox()
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) write(place.work, `${name}.json`, '{"a": 1}')
    write(place.work, 'g.json', '{broken')

    const { stderr } = await place.run('import', 'chats', place.work)

    expect(stderr).toContain('7 files skipped.')
    expect(stderr).toMatch(/skipped\.\n {2}g\.json: not valid JSON: .*\(line 1 column 2\)$/mu)
    expect(stderr).toContain('  d.json: its format is unknown\n  and 2 more files\n')
  })
})

describe('a turn that a hook has stored', () => {
  it('is recognised when its transcript is imported', async () => {
    using place = createSandbox()
    await place.run('hear', prompt, '--session', 'cc-1', '--message-id', 'cc-1-u0', '--at', '2026-05-03T10:00:00Z')
    const path = write(place.work, 'a.jsonl', claudeCodeSession(place.work, prompt, answer))

    expect(await place.json('import', 'chats', path)).toMatchObject({ kept: 2, known: 1 })
  })
})

describe('conversations without a directory', () => {
  it('are stored in user:universal, even inside a repository, unless a scope is given', async () => {
    using place = createSandbox()
    execFileSync('git', ['init', '-q', place.work])
    const chats = write(place.home, 'conversations.json', JSON.stringify([chatgptConversation(prompt, answer)]))
    const others = write(place.home, 'others.jsonl', jsonLines({ session: 's', text: 'Bye.' }))

    const personal = await place.json('import', 'chats', chats)
    const given = await place.json('import', 'chats', others, '--scope', 'project:a')

    expect(personal.scopes).toEqual({ 'user:universal': { kept: 4, known: 0 } })
    expect(given.scopes).toEqual({ 'project:a': { kept: 1, known: 0 } })
  })

  it('that are known in another scope stay there, and the import reports that', async () => {
    using place = createSandbox()
    const chats = write(place.home, 'conversations.json', JSON.stringify([chatgptConversation(prompt, answer)]))
    await place.run('import', 'chats', chats, '--scope', 'project:a')

    const again = await place.run('import', 'chats', chats)

    expect(again.stdout).toContain('In project:a: 0 stored, 4 already known.')
    expect(again.stderr).toContain(
      '4 known turns left in project:a. Turns cannot be moved; --scope project:a reads them there.',
    )
    expect(JSON.parse((await place.run('import', 'chats', chats, '--json')).stdout).knownElsewhere).toEqual({
      'project:a': 4,
    })
  })
})

describe('JSON Lines', () => {
  it('of an export of turns give the same turns again', async () => {
    using place = createSandbox()
    using copy = createSandbox()
    await place.run('import', 'chats', write(place.work, 'a.jsonl', claudeCodeSession(place.work, prompt, answer)))
    const exported = jsonLines(...(await kept(place)))

    await copy.run('import', 'chats', write(copy.work, 'turns.jsonl', exported))

    expect(await kept(copy)).toEqual(await kept(place))
  })
})
