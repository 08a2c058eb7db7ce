import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeHost } from './describe-host.ts'

describeHost('Gemini CLI', {
  host: 'gemini',
  installed: 'gemini',
  env: (url) => ({
    GEMINI_API_KEY: 'dummy',
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  }),
  files: () => ({
    '.gemini/settings.json': [
      '{',
      '  "security": { "auth": { "selectedType": "gemini-api-key" } },',
      '  "privacy": { "usageStatisticsEnabled": false },',
      '  "general": { "enableAutoUpdate": false }',
      '}',
      '',
    ].join('\n'),
  }),
  turn: (prompt) => ['gemini', '--skip-trust', '--yolo', '-m', 'gemini-2.5-flash', '-p', prompt],
  rewrites: [['gemini', 'mcp', 'add', '--scope', 'user', 'other', 'true']],
  compared: (home) => JSON.parse(readFileSync(join(home, '.gemini/settings.json'), 'utf8')),
  keepsTurns: true,
})
