import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openMemory } from '../../src/index.ts'
import { createSandbox } from '../cli/sandbox.ts'
import { claudeCodeOutput } from './hosts.ts'

type Place = ReturnType<typeof createSandbox>

const scope = 'project:ledger'

/** A repository with a file, and a memory with tool steps: the call, a line break, the result. */
async function placeWith(steps: readonly (readonly [at: string, session: string, text: string])[]) {
  const place = createSandbox()
  writeFileSync(join(place.work, '.credence.json'), JSON.stringify({ scope }))
  await place.run('trust', '.credence.json')
  mkdirSync(join(place.work, 'src', 'db'), { recursive: true })
  writeFileSync(join(place.work, 'src', 'db', 'pool.ts'), 'export {}\n')
  const memory = openMemory({ dir: join(place.home, '.local', 'share', 'credence'), scopes: [scope] })
  await memory.remember({ content: 'Invoices are due after 14 days.', name: 'payment terms' })
  await memory.hear(steps.map(([at, session, text]) => ({ at, session, text, role: 'tool' as const })))
  await memory.close()
  return place
}

const bash = (command: string, result = ''): string => `Bash {"command":${JSON.stringify(command)}}\n${result}`
const edit = (file: string): string => `Edit {"file_path":${JSON.stringify(file)},"old_string":"a"}\nok`

const before = async (place: Place, tool: object, { session = 's-9', transcript = null as string | null } = {}) => {
  const payload = {
    session_id: session,
    cwd: place.work,
    transcript_path: transcript,
    hook_event_name: 'PreToolUse',
    tool_name: 'Tool',
    tool_input: tool,
  }
  const stdin = JSON.stringify(payload)
  const { exitCode, stdout, stderr } = await place.runWith(
    { stdin, startedAt: performance.now() + 60_000 },
    'hook',
    'PreToolUse',
  )
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  if (stdout === '') return []
  const { hookSpecificOutput } = claudeCodeOutput.parse(JSON.parse(stdout))
  return hookSpecificOutput.additionalContext.split('\n').filter((line) => line.startsWith('- '))
}

const git = (place: Place, ...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: place.work })

it('shows beliefs about a file or its folder before an edit, the file first, and once in a session', async () => {
  using place = await placeWith([])
  await place.json('remember', 'Files in src/db/ are written by hand, never generated.', '--name', 'database layer')
  await place.json('remember', 'Every query goes through pool.ts.', '--name', 'query path')
  await place.json('remember', 'Reports are built from carpool.ts.', '--name', 'reports')
  const tool = { file_path: join(place.work, 'src/db/pool.ts'), old_string: 'a', new_string: 'b' }

  const lines = await before(place, tool)

  expect(lines).toEqual([
    '- query path: Every query goes through pool.ts.',
    '- database layer: Files in src/db/ are written by hand, never generated.',
  ])
  expect(await before(place, { ...tool, old_string: 'c' })).toEqual([])
  expect(await before(place, tool, { session: 'another' })).toEqual(lines)
})

it('reports that a file has changed since a statement about it, according to git', async () => {
  using place = await placeWith([])
  await place.json('remember', 'Every query goes through src/db/pool.ts.', '--name', 'query path')
  git(place, 'init', '--quiet')
  git(place, 'add', '.')
  const tool = { file_path: 'src/db/pool.ts' }
  const prompt = async (session: string) => {
    const payload = { session_id: session, cwd: place.work, prompt: 'What is our query path?' }
    const { stdout } = await place.runWith(
      { stdin: JSON.stringify(payload), startedAt: performance.now() + 60_000 },
      'hook',
      'prompt-submit',
    )
    return stdout
  }

  const unchanged = [await before(place, tool), await prompt('1')]
  writeFileSync(join(place.work, 'src/db/pool.ts'), 'export const pool = 1\n')
  git(place, 'commit', '--quiet', '--all', '--message', 'pool', '--date', new Date(Date.now() + 5_000).toISOString())

  expect(unchanged[0]).toEqual(['- query path: Every query goes through src/db/pool.ts.'])
  expect(unchanged[1]).not.toContain('Changed since')
  expect(await before(place, tool, { session: 'another' })).toEqual([
    '- (src/db/pool.ts changed since) query path: Every query goes through src/db/pool.ts.',
  ])
  expect(await prompt('2')).toContain('Changed since the line that names it: src/db/pool.ts')
})

const refused = 'Exit code 1\n> ledger@1.0.0 test\nError: connect ECONNREFUSED 127.0.0.1:5432\n  at x'

it('reports the last failure of a command, and the steps before it worked again', async () => {
  using place = await placeWith([
    ['2026-05-01T10:00:00Z', 'a', bash('npm test', refused)],
    ['2026-05-01T10:01:00Z', 'a', bash('docker compose up -d db', 'started')],
    ['2026-05-01T10:02:00Z', 'a', edit('.env')],
    ['2026-05-01T10:03:00Z', 'a', bash('npm test', 'all 12 tests passed')],
    ['2026-05-03T10:00:00Z', 'b', bash('npm run lint', 'Exit code 2\nsrc/a.ts: unexpected token')],
  ])

  expect(await before(place, { command: 'npm run lint' })).toEqual([
    '- This command failed on 2026-05-03 with "src/a.ts: unexpected token".',
  ])
  // The last run succeeded, so its earlier failure is not shown.
  expect(await before(place, { command: 'npm test' })).toEqual([])
  expect(await before(place, { command: 'npm run' })).toEqual([])
})

it('reports how the error of the last step was fixed before', async () => {
  using place = await placeWith([
    ['2026-05-01T10:00:00Z', 'a', bash('npm test', refused)],
    ['2026-05-01T10:01:00Z', 'a', bash('docker compose up -d db', 'started')],
    ['2026-05-01T10:02:00Z', 'a', edit('.env')],
    ['2026-05-01T10:03:00Z', 'a', bash('npm test', 'all 12 tests passed')],
  ])
  const transcript = join(place.path, 'transcript.jsonl')
  const line = (type: string, content: object) =>
    JSON.stringify({ type, uuid: `u-${type}`, sessionId: 's-9', message: { role: type, content: [content] } })
  writeFileSync(
    transcript,
    [
      line('assistant', { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'npm run e2e' } }),
      line('user', { type: 'tool_result', tool_use_id: 't1', content: refused, is_error: true }),
      line('assistant', { type: 'tool_use', id: 't2', name: 'Edit', input: { file_path: 'src/db/pool.ts' } }),
    ].join('\n'),
  )

  const lines = await before(place, { file_path: 'src/db/pool.ts' }, { transcript })

  expect(lines).toEqual([
    '- The error "Error: connect ECONNREFUSED 127.0.0.1:5432" also came on 2026-05-01; it was gone after `docker compose up -d db`, an edit of .env.',
  ])
})

it('is silent with the setting recallBoldness quiet', async () => {
  using place = await placeWith([['2026-05-03T10:00:00Z', 'b', bash('npm run lint', 'Exit code 2\nunexpected token')]])
  writeFileSync(join(place.home, '.local', 'share', 'credence', 'config.json'), '{"recallBoldness": "quiet"}')

  expect(await before(place, { command: 'npm run lint' })).toEqual([])
})

it('stores a message under the name of VS Code, which runs the hooks of Claude Code', async () => {
  using place = await placeWith([])
  const payload = { sessionId: 'v-1', hookEventName: 'UserPromptSubmit', cwd: place.work, prompt: 'Good morning.' }
  const stdin = JSON.stringify(payload)
  const started: (readonly string[])[] = []
  const startDetached = async (words: readonly string[]) => void started.push(words)

  await place.runWith({ stdin, startDetached }, 'hook', 'prompt-submit', '--host', 'claude-code')
  for (const words of started) await place.runWith({}, ...words)

  const turns = await place.json('export', '--turns')
  const others = turns.filter(({ role }: { role: string }) => role === 'user')
  expect(others).toMatchObject([{ host: 'vscode', session: 'v-1', text: 'Good morning.' }])
  const { hosts } = await place.json('connect', 'vscode', '--status')
  expect(hosts).toMatchObject([{ lastHook: { outcome: 'done', prompts: 1 } }])
})
