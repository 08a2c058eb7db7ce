import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { describeHost } from './describe-host.ts'

describeHost('Codex', {
  host: 'codex',
  installed: 'codex',
  env: () => ({}),
  files: (url) => ({
    '.codex/config.toml': [
      '# mine',
      'model = "scripted"',
      'model_provider = "local"',
      '',
      '[model_providers.local]',
      'name = "local" # here',
      `base_url = "${url}/v1"`,
      'wire_api = "responses"',
      '',
    ].join('\n'),
  }),
  turn: (prompt) => [
    'codex',
    'exec',
    '--skip-git-repo-check',
    '--dangerously-bypass-hook-trust',
    '--sandbox',
    'danger-full-access',
    prompt,
  ],
  rewrites: [
    ['codex', 'features', 'enable', 'memories'],
    ['codex', 'mcp', 'add', 'other', '--', 'true'],
  ],
  // Codex puts its new tables in another order where there are servers already.
  compared: (home) => ({
    config: parse(readFileSync(join(home, '.codex/config.toml'), 'utf8')),
    beginning: readFileSync(join(home, '.codex/config.toml'), 'utf8').split('wire_api')[0],
    hasHooks: existsSync(join(home, '.codex/hooks.json')),
  }),
  // Codex lists the tools of a server only when it has started, and does not wait for that; this tool does.
  call: () => ({ call: { name: 'list_mcp_resources', input: { server: 'credence' } } }),
  keepsTurns: true,
  shell: (command) => ({
    call: { call: { name: 'exec_command', input: { cmd: command } } },
    options: [],
  }),
})
