import { delimiter } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  environmentName,
  environmentSettings,
  parseSettings,
  resolveSettings,
  settingNames,
  settingsSchema,
} from './config.ts'
import { MemoryError } from './errors.ts'
import { defaultMaxTurnCharacters } from './memory/conversation/hear.ts'
import { defaultUser } from './open-memory.ts'

function failureOf(act: () => unknown): { code: string; message: string; hint: string | undefined } {
  try {
    act()
  } catch (error) {
    if (error instanceof MemoryError) return { code: error.code, message: error.message, hint: error.hint }
    throw error
  }
  throw new Error('Nothing was thrown.')
}

describe('parseSettings', () => {
  it('reads a file that has only settings', () => {
    expect(parseSettings('{"user": "ada", "evalHarnessEnabled": true}', 'config.json')).toEqual({
      user: 'ada',
      evalHarnessEnabled: true,
    })
    expect(parseSettings('{}', 'config.json')).toEqual({})
  })

  it('suggests the nearest setting for an unknown one', () => {
    expect(failureOf(() => parseSettings('{"evalHarnesEnabled": true}', 'config.json'))).toEqual({
      code: 'invalid',
      message: 'There is no setting "evalHarnesEnabled" (in config.json).',
      hint: 'Did you mean evalHarnessEnabled?',
    })
    expect(failureOf(() => parseSettings('{"theme": "dark"}', 'config.json')).hint).toContain('evalStoreDir')
  })

  it('names the setting that replaced an earlier one', () => {
    const hint = 'It was replaced by "semantic": on, which is the default, or off.'
    expect(failureOf(() => parseSettings('{"sentenceVectors": true}', 'config.json')).hint).toBe(hint)
    expect(failureOf(() => environmentSettings({ CREDENCE_SENTENCE_VECTORS: 'true' })).hint).toBe(hint)
  })

  it.each(['on', 'off', 'http://127.0.0.1:11434/v1', 'http://localhost', 'https://embeddings.example.org/v1'])(
    'accepts %s as a source of vectors',
    (semantic) => expect(parseSettings(JSON.stringify({ semantic }), 'config.json')).toEqual({ semantic }),
  )

  it.each([
    true,
    'yes',
    'http://example.org/v1',
    'http://127.0.0.1.example.org',
    'https://key@example.org',
    'https://',
  ])('refuses %s as a source of vectors', (semantic) =>
    expect(failureOf(() => parseSettings(JSON.stringify({ semantic }), 'config.json')).hint).toContain('https'),
  )

  it.each([
    ['{"user": 7}', 'The setting user in config.json is 7.'],
    ['{"user": ""}', 'The setting user in config.json is "".'],
    ['{"evalHarnessEnabled": "yes"}', 'The setting evalHarnessEnabled in config.json is "yes".'],
    ['{"keepTurnsDays": -1}', 'The setting keepTurnsDays in config.json is -1.'],
    ['{"maxTurnCharacters": 0}', 'The setting maxTurnCharacters in config.json is 0.'],
    ['{"maxTurnCharacters": 1.5}', 'The setting maxTurnCharacters in config.json is 1.5.'],
    ['{"excludedDirectories": "private"}', 'The setting excludedDirectories in config.json is "private".'],
    ['{"excludedDirectories": [""]}', 'The setting excludedDirectories in config.json is [""].'],
    ['[]', 'config.json contains [], not an object.'],
    ['null', 'config.json contains null, not an object.'],
  ])('refuses %s', (text, message) => {
    expect(failureOf(() => parseSettings(text, 'config.json'))).toMatchObject({ code: 'invalid', message })
  })

  it('refuses invalid JSON, with the position', () => {
    expect(failureOf(() => parseSettings('{user: ada', 'config.json')).message).toMatch(/^config\.json is not JSON \(/)
  })
})

describe('environmentSettings', () => {
  it('reads variables with known names, and ignores those of other programs', () => {
    const env = {
      CREDENCE_USER: 'ada',
      CREDENCE_EVAL_HARNESS_ENABLED: 'TRUE',
      CREDENCE_DIR: '/m',
      HOME: '/',
      CREDENCE_QXZZY: '1',
    }

    expect(environmentSettings(env)).toEqual({ user: 'ada', evalHarnessEnabled: true })
  })

  it('refuses a variable that looks like a misspelt setting', () => {
    expect(failureOf(() => environmentSettings({ CREDENCE_USR: 'ada' }))).toEqual({
      code: 'invalid',
      message: 'There is no setting CREDENCE_USR.',
      hint: 'Did you mean CREDENCE_USER?',
    })
  })

  it('reads numbers, and directories separated like PATH', () => {
    const env = { CREDENCE_KEEP_TURNS_DAYS: '30', CREDENCE_EXCLUDED_DIRECTORIES: ['/a', '~/b'].join(delimiter) }

    expect(environmentSettings(env)).toEqual({ keepTurnsDays: 30, excludedDirectories: ['/a', '~/b'] })
    expect(failureOf(() => environmentSettings({ CREDENCE_KEEP_TURNS_DAYS: '30d' }))).toMatchObject({
      message: 'CREDENCE_KEEP_TURNS_DAYS is "30d".',
      hint: 'Write a whole number, 0 or more.',
    })
  })

  it('refuses a flag that is neither true nor false', () => {
    const { message } = failureOf(() => environmentSettings({ CREDENCE_EVAL_HARNESS_ENABLED: 'maybe' }))

    expect(message).toBe('CREDENCE_EVAL_HARNESS_ENABLED is "maybe".')
  })
})

describe('resolveSettings', () => {
  it('uses the first source that has a value for a setting, including false, and the default otherwise', () => {
    const settings = resolveSettings([{ evalHarnessEnabled: false }, { evalHarnessEnabled: true, user: 'ada' }])

    expect(settings).toEqual({
      user: 'ada',
      agentShare: 25,
      requestsPerMinute: 600,
      evalHarnessEnabled: false,
      evalShadowModeEnabled: false,
      benchmarkBaselineSnapshotsEnabled: true,
      benchmarkDeltaReporterEnabled: true,
      evalStoreDir: null,
      excludedDirectories: [],
      maxTurnCharacters: 200_000,
      keepTurnsDays: 0,
      semantic: 'on',
      semanticModel: null,
      recallBoldness: 'normal',
      mirrorAuthority: 'document',
      syncEvery: 0,
    })
  })
})

describe('the settings', () => {
  it('are few, explained, and each has a variable', () => {
    expect(settingNames.length).toBeLessThan(20)
    expect(new Set(settingNames.map(environmentName)).size).toBe(settingNames.length)
    for (const name of settingNames) expect(settingsSchema[name].meaning).toMatch(/\.$/)
  })

  it('have the same defaults as the library', () => {
    expect(settingsSchema.user.default).toBe(defaultUser)
    expect(settingsSchema.maxTurnCharacters.default).toBe(defaultMaxTurnCharacters)
  })
})
