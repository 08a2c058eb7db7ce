import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fileWith, generated, secretlintRules } from '../../../scripts/make-secretlint-rules.ts'

const file = generated()
if (file === null) process.stderr.write('skipped: the rules of secretlint, since its preset is not installed\n')

describe('the rules of secretlint', () => {
  it.skipIf(file === null)('are those of the installed preset', () => {
    expect(readFileSync(new URL('./secretlint-rules.ts', import.meta.url), 'utf8')).toBe(file)
  })

  it('are the patterns for one word of fixed length, without their groups', () => {
    const bundle = [
      '    const TOKEN_PATTERN = /(?<!\\p{L})(?<type>abc|def)_[a-z]{36}(?![a-z])/gu;',
      '    const URL_PATTERN = /https?:\\/\\/([^:]{1,100}):x@/g;',
      '    const anyPattern = /_authToken=.*/g;',
      '    const pattern = /key (a|b)-[0-9]{32}/g;',
    ].join('\n')

    const rules = secretlintRules(bundle)

    expect(rules).toEqual(['(?:abc|def)_[a-z]{36}(?![a-z])', 'key (?:a|b)-[0-9]{32}'])
    expect(fileWith(rules, '1.2.3')).toContain('  /key (?:a|b)-[0-9]{32}/u,\n')
  })
})
