import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeHost } from './describe-host.ts'
import { hostPlace, installedHost } from './host-place.ts'

for (const [name, installed] of [
  ['OpenClaw 2026.9.6', 'openclaw'],
  ['OpenClaw 2026.5.18', 'openclaw-5'],
] as const)
  describeHost(name, {
    host: 'openclaw',
    installed,
    env: (_url, home) => ({ OPENCLAW_HOME: home }),
    files: (url) => ({
      '.openclaw/openclaw.json': [
        '{',
        '  // mine',
        '  "models": {',
        '    "mode": "merge",',
        '    "providers": {',
        '      "local": {',
        `        "baseUrl": "${url}/v1",`,
        '        "apiKey": "dummy",',
        '        "api": "openai-completions",',
        '        "models": [{ "id": "scripted", "name": "scripted", "contextWindow": 200000, "maxTokens": 4096 }],',
        '      },',
        '    },',
        '  },',
        '  "agents": { "defaults": { "model": { "primary": "local/scripted" } } },',
        '}',
        '',
      ].join('\n'),
    }),
    // A separate session; otherwise the model would get the earlier turns from OpenClaw itself.
    turn: (prompt) => ['openclaw', 'agent', '--local', '--session-id', randomUUID(), '--message', prompt],
    rewrites: [['openclaw', 'config', 'set', 'gateway.port', '19001', '--strict-json']],
    // Leaves out `meta`, where OpenClaw stores the time of its last write.
    compared: (home) => {
      const { meta: _, ...config } = JSON.parse(readFileSync(join(home, '.openclaw/openclaw.json'), 'utf8'))
      return config
    },
    // In current versions the model reaches most tools through one tool, `tool_call`, which calls them by name.
    call: (tool, input) => ({ call: { name: 'tool_call', input: { id: tool, args: input } } }),
    keepsTurns: false,
  })

const programs = installedHost('openclaw-5')

it.skipIf(programs === null)('OpenClaw 2026.5.18 does not confirm a memory that cannot be opened', async () => {
  using place = hostPlace(programs ?? '', (home) => ({ OPENCLAW_HOME: home }))
  const file = join(place.path, 'file')
  writeFileSync(file, 'not a directory')

  const { stdout } = await place.credence('connect', 'openclaw', '--yes', '--dir', join(file, 'memory'))

  expect(stdout).toContain('`openclaw credence` does not confirm it')
  expect(stdout).toContain('Credence does not answer OpenClaw: ')
})
