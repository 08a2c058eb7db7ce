import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'smol-toml'
import { expect, it } from 'vitest'
import { describeHost } from './describe-host.ts'
import { hostPlace, installedHost } from './host-place.ts'
import { scriptedModel } from './scripted-model.ts'

const configurationFor = (url: string): string =>
  [
    '# mine',
    'model = "scripted"',
    'model_provider = "local"',
    '',
    '[model_providers.local]',
    'name = "local" # here',
    `base_url = "${url}/v1"`,
    'wire_api = "responses"',
    '',
  ].join('\n')

const turnOf = (prompt: string): readonly [string, ...string[]] => [
  'codex',
  'exec',
  '--skip-git-repo-check',
  '--dangerously-bypass-hook-trust',
  '--sandbox',
  'danger-full-access',
  prompt,
]

describeHost('Codex', {
  host: 'codex',
  installed: 'codex',
  env: () => ({}),
  files: (url) => ({ '.codex/config.toml': configurationFor(url) }),
  turn: turnOf,
  rewrites: [
    ['codex', 'features', 'enable', 'memories'],
    ['codex', 'mcp', 'add', 'other', '--', 'true'],
  ],
  // Compares parsed values, because Codex adds its tables in a different order if servers are already configured.
  compared: (home) => ({
    config: parse(readFileSync(join(home, '.codex/config.toml'), 'utf8')),
    beginning: readFileSync(join(home, '.codex/config.toml'), 'utf8').split('wire_api')[0],
    hasHooks: existsSync(join(home, '.codex/hooks.json')),
  }),
  // Codex lists the tools of a server only after the server has started, and does not wait for that. This tool waits.
  call: () => ({ call: { name: 'list_mcp_resources', input: { server: 'credence' } } }),
  keepsTurns: true,
  shell: (command) => ({
    call: { call: { name: 'exec_command', input: { cmd: command } } },
    options: [],
  }),
})

const programs = installedHost('codex')

it.skipIf(programs === null)('Codex accepts the plugin with its server, hooks and skill', async () => {
  await using model = await scriptedModel(() => ({ text: 'Certainly, at once.' }))
  using place = hostPlace(programs ?? '', () => ({}))
  mkdirSync(join(place.home, '.codex'))
  writeFileSync(join(place.home, '.codex/config.toml'), configurationFor(model.url))
  const run = async (...argv: readonly [string, ...string[]]) => {
    const { exitCode, stdout, stderr } = await place.runIn(place.work, ...argv)
    expect(exitCode, `${stdout}\n${stderr}`).toBe(0)
    return stdout
  }
  await run('credence', 'remember', 'Our staging port is 5433.', '--scope', 'user:universal')

  await run('codex', 'plugin', 'marketplace', 'add', fileURLToPath(new URL('../..', import.meta.url)))
  await run('codex', 'plugin', 'add', 'credence@credence')
  const servers = await run('codex', 'mcp', 'list')
  await run(...turnOf('Which staging port is it?'))
  await place.allHeard()

  expect(servers).toMatch(/^credence +credence +mcp --host codex\b.*\benabled\b/m)
  const { conversation = '' } = model.requests.find((one) => one.conversation.includes('Which staging')) ?? {}
  expect(conversation).toContain('Our staging port is 5433.')
  expect(conversation).toContain('skills/memory/SKILL.md')
  const turns = await place.credenceJson('export', '--turns')
  expect(turns).toMatchObject([{ host: 'codex', text: 'Which staging port is it?' }, { role: 'assistant' }])
})
