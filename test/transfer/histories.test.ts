import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { takeLock } from '../../src/files/lock.ts'
import { createSandbox } from '../cli/sandbox.ts'
import {
  claudeCodeSession,
  codexSession,
  cursorSession,
  geminiSession,
  jsonLines,
  openclawSession,
  write,
  writeOpencode,
} from './chat-files.ts'

type Place = ReturnType<typeof createSandbox>

const prompt = 'Where is the kayak?'
const answer = 'It is in the boathouse.'

/** The location of the conversation in each host, and the id that its hooks pass. */
const histories = {
  'claude-code': {
    session: 'cc-1',
    write: ({ home, work }: Place) =>
      write(home, '.claude/projects/-work/cc-1.jsonl', claudeCodeSession(work, prompt, answer)),
  },
  codex: {
    session: 'cx-1',
    write: ({ home, work }: Place) =>
      write(home, '.codex/sessions/2026/05/03/rollout-a.jsonl', codexSession(work, prompt, answer)),
  },
  gemini: {
    session: 'ge-1',
    write: ({ home, work }: Place) => {
      write(home, '.gemini/tmp/work/.project_root', work)
      return write(home, '.gemini/tmp/work/chats/session-a.jsonl', geminiSession(prompt, answer))
    },
  },
  opencode: {
    session: 'op-1',
    write: ({ home, work }: Place) =>
      writeOpencode(join(home, '.local/share/opencode/opencode.db'), work, prompt, answer),
  },
  cursor: {
    session: 'cu-1',
    write: ({ home, work }: Place) => {
      const slug = work.replace(/[^a-z0-9]+/giu, '-').replace(/^-/u, '')
      return write(home, `.cursor/projects/${slug}/agent-transcripts/cu-1/cu-1.jsonl`, cursorSession(prompt, answer))
    },
  },
} as const

const exported = async (place: Place) =>
  (await place.run('export', '--turns')).stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

/** Runs a hook and its background work. */
async function hook(place: Place, host: string, event: string, payload: object): Promise<void> {
  const started: (readonly string[])[] = []
  const startDetached = async (words: readonly string[]) => void started.push(words)
  const stdin = JSON.stringify({ cwd: place.work, ...payload })
  await place.runWith({ stdin, startedAt: performance.now() + 60_000, startDetached }, 'hook', event, '--host', host)
  for (const words of started) await place.runWith({}, ...words)
}

describe.each(Object.entries(histories))('a session of %s that its hooks have stored', (host, history) => {
  it('is not stored again by an import of the history', async () => {
    using place = createSandbox()
    const file = history.write(place)
    const seen = { session_id: history.session, transcript_path: host === 'opencode' ? null : file }
    await hook(place, host, 'prompt-submit', { ...seen, prompt })
    await hook(place, host, 'stop', { ...seen, last_assistant_message: answer })
    const before = await exported(place)

    await place.json('import', 'chats')

    const turns = await exported(place)
    const of = (role: string) => turns.filter((turn) => turn.role === role).map(({ text }) => text)
    expect(before.map(({ role }) => role)).toEqual(expect.arrayContaining(['user', 'assistant']))
    expect(of('user')).toEqual([prompt])
    expect(of('assistant')).toEqual([answer])
    expect(of('tool')).toHaveLength(1)
    expect(new Set(turns.map(({ session, scope }) => `${session} ${scope}`)).size).toBe(1)
  })
})

/** Writes sessions of Claude Code whose files were changed on successive days, the last file most recently. */
function writeSessions(place: Place, count: number): void {
  for (let index = 0; index < count; index += 1) {
    const day = new Date(Date.UTC(2026, 4, 1 + index))
    const text = claudeCodeSession(place.work, `Question ${index}?`, `Answer ${index}.`, `s-${index}`)
    const file = write(place.home, `.claude/projects/-work/s-${index}.jsonl`, text)
    utimesSync(file, day, day)
  }
}

describe('init', () => {
  it('lists the histories on this machine and the command to import them, if it cannot ask', async () => {
    using place = createSandbox()
    writeSessions(place, 3)
    write(place.home, '.claude/projects/-work/s-0/subagents/agent-a.jsonl', '{}')
    write(place.home, '.openclaw/agents/main/sessions/oc-1.jsonl', openclawSession(place.work, prompt, answer))

    const { stdout } = await place.run('init')
    const document = await place.json('init')

    expect(stdout).toMatch(
      /claude-code +3 conversations +last changed 2026-05-01 to 2026-05-03\n +openclaw +1 conversation /u,
    )
    expect(stdout).toContain('To import them: `credence import chats`')
    expect(document).toMatchObject({
      histories: [{ host: 'claude-code', conversations: 3 }, { host: 'openclaw' }],
      imported: null,
    })
    expect(await exported(place)).toEqual([])
  })

  it('asks once at a terminal, and imports after a yes', async () => {
    using place = createSandbox()
    writeSessions(place, 2)

    const declined = await place.runWith({ columns: 100, stdin: 'n\n' }, 'init')
    const again = await place.runWith({ columns: 100, stdin: 'y\n' }, 'init')
    const imported = await place.runWith({ columns: 100, stdin: '' }, 'init', '--yes')

    expect(declined.stderr).toContain('2 conversations')
    expect(declined.stderr).toContain('Import them into the memory? [y/N]')
    expect(declined.stdout).toContain('Nothing was imported.')
    expect(again.stderr).not.toContain('Import them')
    expect(imported.stdout).toContain('Imported 6 turns, the newest first.')
    expect(await exported(place)).toHaveLength(6)
    expect((await place.json('recall', 'What did I ask in Question 1?')).quotes).toBeDefined()
  })

  it('imports nothing with --no-import, and does not search for histories', async () => {
    using place = createSandbox()
    writeSessions(place, 1)

    const { stdout } = await place.runWith({ columns: 100, stdin: 'y\n' }, 'init', '--no-import')

    expect(stdout).not.toContain('conversation')
    expect(await exported(place)).toEqual([])
  })

  it('imports the newest thousand turns, and leaves the rest to a process in the background', async () => {
    using place = createSandbox()
    const many = Array.from({ length: 600 }, (_, index) => `Question ${index} of a long day?`)
    for (const [name, day] of [
      ['new', '2026-05-03'],
      ['middle', '2026-05-02'],
      ['old', '2026-05-01'],
    ] as const) {
      const lines = many.map((text, index) => ({
        type: 'user',
        sessionId: name,
        uuid: `${name}-${index}`,
        cwd: place.work,
        timestamp: `${day}T10:00:00Z`,
        message: { role: 'user', content: `${text} (${name})` },
      }))
      const file = write(place.home, `.claude/projects/-work/${name}.jsonl`, jsonLines(...lines))
      utimesSync(file, new Date(day), new Date(day))
    }
    const started: (readonly string[])[] = []
    const startDetached = async (words: readonly string[]) => void started.push(words)

    const first = await place.runWith({ startDetached }, 'init', '--yes')
    const sessions = new Set((await exported(place)).map(({ session }) => session))
    const between = await place.run('status')
    const again = await place.runWith({ columns: 100, stdin: 'y\n' }, 'init')
    const lock = await takeLock(join(place.home, '.local/share/credence/state/import.lock'), 'It')
    const running = await place.run('status')
    lock()
    for (const words of started) await place.runWith({}, ...words)
    const after = await place.json('status')

    expect(first.stdout).toContain('Imported 1200 turns, the newest first.\n1 file more')
    expect([...sessions].sort()).toEqual(['middle', 'new'])
    expect(between.stdout).toMatch(/stopped after 2 of 3 files.*`credence import chats` continues it/su)
    expect(again.stdout).toMatch(/Import of your conversations: stopped after 2 of 3 files.*`credence import chats`/su)
    expect(again.stderr).not.toContain('Import them')
    expect(running.stdout).toMatch(/running: 2 of 3 files/u)
    expect(after).toMatchObject({ turns: 1_800, import: { outcome: 'done', files: 3, total: 3, turns: 1_800 } })
  })
})

describe('connect', () => {
  it('offers the import the first time only, and with --yes only shows the command', async () => {
    using place = createSandbox()
    writeSessions(place, 1)
    const platform = 'linux'

    const scripted = await place.runWith({ platform, columns: 100 }, 'connect', 'vscode', '--yes')
    const asked = await place.runWith({ platform, columns: 100, stdin: 'y\n' }, 'connect', 'vscode')
    const again = await place.runWith({ platform, columns: 100, stdin: '' }, 'connect', 'vscode')

    expect(scripted.stdout).toContain('To import them: `credence import chats`')
    expect(asked.stderr).toContain('Import them into the memory?')
    expect(asked.stdout).toContain('Imported 3 turns')
    expect(again.stderr + again.stdout).not.toContain('mport')
  })
})

describe('a database with the name of an opencode database', () => {
  it('is skipped if it is not one', async () => {
    using place = createSandbox()
    mkdirSync(join(place.home, '.local/share/opencode'), { recursive: true })
    writeFileSync(join(place.home, '.local/share/opencode/opencode.db'), 'not a database')

    expect(await place.json('init')).toMatchObject({ histories: [] })
    expect(await place.json('import', 'chats')).toMatchObject({ files: 0, kept: 0, leftAlone: [] })
  })
})
