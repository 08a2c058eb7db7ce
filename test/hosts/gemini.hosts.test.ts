import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { describeHost } from './describe-host.ts'
import { hostPlace, installedHost } from './host-place.ts'
import { scriptedModel } from './scripted-model.ts'

const env = (url: string) => ({
  GEMINI_API_KEY: 'dummy',
  GOOGLE_GEMINI_BASE_URL: url,
  GEMINI_CLI_TRUST_WORKSPACE: 'true',
})

const settings = [
  '{',
  '  "security": { "auth": { "selectedType": "gemini-api-key" } },',
  '  "privacy": { "usageStatisticsEnabled": false },',
  '  "general": { "enableAutoUpdate": false }',
  '}',
  '',
].join('\n')

const turnOf = (prompt: string): readonly [string, ...string[]] => [
  'gemini',
  '--skip-trust',
  '--yolo',
  '-m',
  'gemini-2.5-flash',
  '-p',
  prompt,
]

describeHost('Gemini CLI', {
  host: 'gemini',
  installed: 'gemini',
  env,
  files: () => ({ '.gemini/settings.json': settings }),
  turn: turnOf,
  rewrites: [['gemini', 'mcp', 'add', '--scope', 'user', 'other', 'true']],
  compared: (home) => JSON.parse(readFileSync(join(home, '.gemini/settings.json'), 'utf8')),
  keepsTurns: true,
})

const programs = installedHost('gemini')

it.skipIf(programs === null)('Gemini CLI takes the extension with its server, hooks and skill', async () => {
  await using model = await scriptedModel(() => ({ text: 'Certainly, at once.' }))
  using place = hostPlace(programs ?? '', () => env(model.url))
  mkdirSync(join(place.home, '.gemini'))
  writeFileSync(join(place.home, '.gemini/settings.json'), settings)
  const run = async (...argv: readonly [string, ...string[]]) => {
    const { exitCode, stdout, stderr } = await place.runIn(place.work, ...argv)
    expect(exitCode, `${stdout}\n${stderr}`).toBe(0)
  }
  await run('credence', 'remember', 'Our staging port is 5433.', '--scope', 'user:universal')

  const extension = fileURLToPath(new URL('../../integrations/gemini', import.meta.url))
  await run('gemini', 'extensions', 'link', '--consent', extension)
  await run(...turnOf('Which staging port is it?'))
  await place.allHeard()

  const request = model.requests.find((one) => one.conversation.includes('Which staging'))
  expect(request?.conversation).toContain('Our staging port is 5433.')
  expect(request?.conversation).toContain('skills/memory/SKILL.md')
  expect(request?.tools.some((name) => name.endsWith('memory_search'))).toBe(true)
  const turns = await place.credenceJson('export', '--turns')
  expect(turns).toMatchObject([
    { host: 'gemini', text: 'Which staging port is it?' },
    { role: 'assistant', text: 'Certainly, at once.' },
  ])
})
