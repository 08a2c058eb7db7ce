import { describe, expect, it } from 'vitest'
import { defaultText } from './default-text.ts'
import { plainStyle } from './output.ts'

const style = plainStyle(Number.POSITIVE_INFINITY)

describe('defaultText', () => {
  it('shows a list as a table with a heading, without columns that are empty in every row', () => {
    const items = [
      { id: 't-1', person: 'ana', scopes: ['domain:code', 'team:platform'], label: '', lastUsedAt: null, isOld: false },
      { id: 't-2', person: null, scopes: [], label: '', lastUsedAt: null, isOld: true },
    ]

    expect(defaultText(items, style)).toBe(
      [
        'id   person  scopes                      is old',
        't-1  ana     domain:code, team:platform',
        't-2                                      yes',
      ].join('\n'),
    )
    expect(defaultText([], style)).toBe('')
  })

  it('shows an object as one line for each value, including 0 but not empty values', () => {
    expect(defaultText({ added: 0, reason: '', createdAt: '2026-05-01T10:00:30.000Z' }, style)).toMatch(
      /^added {4}0\ncreated {2}2026-0[45]-\d\d \d\d:\d\d$/u,
    )
  })

  it('shows the lists of an object as tables below its values', () => {
    expect(defaultText({ team: 'rowing', members: [{ person: 'ana', role: 'owner' }], invited: [] }, style)).toBe(
      ['team  rowing', '', 'members:', 'person  role', 'ana     owner'].join('\n'),
    )
  })

  it('never starts a new row within a text', () => {
    expect(defaultText([{ label: 'a\nb' }], style)).toBe('label\na b')
  })
})
