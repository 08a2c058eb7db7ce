import { describe, expect, it } from 'vitest'
import { endpointUrl, parseModelSpec } from './model-spec.ts'

describe('the name of a model', () => {
  it.each([
    ['openai:gpt-5', { provider: 'openai', model: 'gpt-5', url: null }],
    ['anthropic:claude-sonnet-4-5', { provider: 'anthropic', model: 'claude-sonnet-4-5', url: null }],
    [
      'openai:qwen3:8b@http://127.0.0.1:8080/v1/',
      { provider: 'openai', model: 'qwen3:8b', url: 'http://127.0.0.1:8080/v1' },
    ],
    [
      'openai:org/model@https://host.example/v1',
      { provider: 'openai', model: 'org/model', url: 'https://host.example/v1' },
    ],
    ['anthropic:m@http://[::1]:9/x', { provider: 'anthropic', model: 'm', url: 'http://[::1]:9/x' }],
  ])('%s is read', (spec, expected) => {
    expect(parseModelSpec(spec)).toEqual(expected)
  })

  it.each(['', 'gpt-5', 'openai:', 'other:model', 'openai:a b'])('"%s" is refused with the allowed forms', (spec) => {
    expect(() => parseModelSpec(spec)).toThrow(
      expect.objectContaining({ code: 'invalid', hint: expect.stringContaining('openai:<model>') }),
    )
  })

  it('may not contain two addresses', () => {
    expect(() => parseModelSpec('openai:m@https://a@https://b')).toThrow(expect.objectContaining({ code: 'invalid' }))
  })

  it('is not repeated if it looks like a key', () => {
    expect(() => parseModelSpec('sk-proj-abcdefghijk')).toThrow(/^(?!.*abcdefghijk)/u)
  })
})

describe('the addresses to which a key may be sent', () => {
  it.each([
    'http://example.com/v1',
    'http://192.168.1.4/v1',
    'http://127.0.0.1.example.com',
    'ftp://127.0.0.1',
    'https://u:p@host',
  ])('exclude %s', (url) => {
    expect(() => endpointUrl(url)).toThrow(expect.objectContaining({ code: 'invalid' }))
  })

  it.each(['https://example.com/v1', 'http://localhost:1234', 'http://127.8.9.1/v1'])('include %s', (url) => {
    expect(endpointUrl(url)).toBe(url.replace(/\/$/u, ''))
  })
})
