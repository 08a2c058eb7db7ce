import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeHost } from './describe-host.ts'

describeHost('opencode', {
  host: 'opencode',
  installed: 'opencode',
  env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
  files: (url) => ({
    '.config/opencode/opencode.json': [
      '{',
      '  "$schema": "https://opencode.ai/config.json",',
      '  "model": "local/scripted", // mine',
      '  "provider": {',
      '    "local": {',
      '      "npm": "@ai-sdk/openai-compatible",',
      `      "options": { "baseURL": "${url}/v1", "apiKey": "dummy" },`,
      '      "models": { "scripted": { "name": "scripted" } }',
      '    }',
      '  }',
      '}',
      '',
    ].join('\n'),
  }),
  // An argument with spaces would reach the model in quotation marks.
  turn: (prompt) => ['opencode', 'run', ...prompt.split(' ')],
  rewrites: [['opencode', 'mcp', 'add', 'other', '--', 'true']],
  compared: (home) => readFileSync(join(home, '.config/opencode/opencode.json'), 'utf8'),
  keepsTurns: true,
})
