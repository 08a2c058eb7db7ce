import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { describeHost } from './describe-host.ts'
import { hostPlace, installedHost } from './host-place.ts'
import { scriptedModel } from './scripted-model.ts'

const env = { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }
const configuration = '.config/opencode/opencode.json'

const configurationFor = (url: string): string =>
  [
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
  ].join('\n')

describeHost('opencode', {
  host: 'opencode',
  installed: 'opencode',
  env: () => env,
  files: (url) => ({ [configuration]: configurationFor(url) }),
  // An argument with spaces would reach the model in quotation marks.
  turn: (prompt) => ['opencode', 'run', ...prompt.split(' ')],
  rewrites: [['opencode', 'mcp', 'add', 'other', '--', 'true']],
  compared: (home) => readFileSync(join(home, configuration), 'utf8'),
  keepsTurns: true,
})

const programs = installedHost('opencode')

it.skipIf(programs === null)('opencode requests a title without the memory, which comes after the prompt', async () => {
  await using model = await scriptedModel(() => ({ text: 'Certainly, at once.' }))
  using place = hostPlace(programs ?? '', () => env)
  const file = join(place.home, configuration)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, configurationFor(model.url))
  await place.credence('remember', 'Our staging port is 5433.', '--scope', 'user:universal')
  await place.credence('connect', 'opencode', '--yes')

  await place.runIn(place.work, 'opencode', 'run', 'Which', 'staging', 'port', 'is', 'it?')
  await place.allHeard()

  const about = model.requests.map(({ conversation }) => conversation).filter((one) => one.includes('Which staging'))
  const [titles, prompts] = [true, false].map((isTitle) =>
    about.filter((one) => /title generator/iu.test(one) === isTitle),
  )
  expect([titles?.length, prompts?.length]).toEqual([1, 1])
  expect(titles?.[0]).not.toContain('5433')
  expect(prompts?.[0]).toMatch(/Which staging port.*5433/su)
  const turns = await place.credenceJson('export', '--turns')
  expect(turns[0]).toMatchObject({ session: expect.stringMatching(/^ses_/u) })
})
