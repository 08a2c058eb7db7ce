import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fillTemplate, fillText } from './mcp-mapping.ts'

const values = {
  id: 'm-1',
  name: 'levain',
  aliases: ['Gertrude', 'wild yeast'],
  why: '',
  limit: 20,
  metadata: { pinned: true },
}

describe('a template', () => {
  it('inserts values at any depth', () => {
    const filled = fillTemplate({ entities: [{ name: '{{id}}', about: 'It is {{ name }} ({{id}}).' }] }, values)

    expect(filled).toEqual({ entities: [{ name: 'm-1', about: 'It is levain (m-1).' }] })
  })

  it('becomes the value itself if it consists of a single placeholder', () => {
    expect(fillTemplate({ top: '{{limit}}', tags: '{{aliases}}', more: '{{metadata}}' }, values)).toEqual({
      top: 20,
      more: { pinned: true },
      tags: ['Gertrude', 'wild yeast'],
    })
  })

  it('inserts a list into a list, and omits empty values', () => {
    expect(fillTemplate(['{{name}}', '{{aliases}}', '{{why}}', 'end'], values)).toEqual([
      'levain',
      'Gertrude',
      'wild yeast',
      'end',
    ])
  })

  it('remains a text if it has more than a placeholder', () => {
    expect(fillText('also {{aliases}}', values)).toBe('also Gertrude, wild yeast')
    expect(fillText('and {{metadata}}', values)).toBe('and {"pinned":true}')
  })

  it('never treats a value as a template', () => {
    fc.assert(
      fc.property(fc.string(), (inner) => {
        const name = `{{id}}${inner}`

        expect(fillTemplate({ a: '{{name}}', b: ['{{name}}'], c: 'x{{name}}' }, { name, id: 'm-1' })).toEqual({
          a: name,
          b: [name],
          c: `x${name}`,
        })
      }),
    )
  })

  it('without placeholders stays unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 2 }), (value) => {
        fc.pre(!JSON.stringify(value).includes('{{'))

        expect(fillTemplate(value as never, values)).toEqual(value)
      }),
    )
  })
})
