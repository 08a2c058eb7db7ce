import { describe, expect, it } from 'vitest'
import type { Field } from './field.ts'
import { choice, flag, list, nullable, object, optional, text, whole, withDefault } from './field.ts'
import type { Operation } from './operation.ts'
import { objectSchema } from './schemas.ts'
import { operations, toolOperations } from './table.ts'

const all = Object.entries<Operation>(operations)

/** Every field of an operation, also those inside others. */
const fieldsIn = (field: Field): readonly Field[] => [
  field,
  ...(field.item === undefined ? [] : fieldsIn(field.item)),
  ...Object.values(field.fields ?? {}).flatMap(fieldsIn),
]

describe('the table of operations', () => {
  it('has every route once', () => {
    const routes = all.map(([, { http }]) => http)

    expect(new Set(routes).size).toBe(routes.length)
  })

  it.each(all)('%s has a field for each name in its path', (_name, { http, input }) => {
    const names = [...http.matchAll(/:(\w+)/gu)].map(([, name = '']) => name)

    expect(names.filter((name) => input[name]?.presence !== 'needed')).toEqual([])
  })

  it.each(all)(
    '%s marks every field with scopes or a belief, so that agents are limited to their view',
    (_name, { access, input }) => {
      if (access !== 'agents') return
      const unmarked = Object.entries(input)
        .filter(([name]) => /^(?:scopes?|id|beliefId)$/u.test(name))
        .filter(([, field]) => !fieldsIn(field).some(({ names }) => names !== undefined))

      expect(unmarked.map(([name]) => name)).toEqual([])
    },
  )

  it('has the tools of agents, each with a unique name', () => {
    const names = toolOperations.map(({ tool }) => tool.name)

    expect(names.length).toBe(all.filter(([, { tool }]) => tool !== undefined).length)
    expect(new Set(names).size).toBe(names.length)
  })
})

describe('objectSchema', () => {
  const fields = {
    limit: withDefault(whole({ min: 1, max: 200 }), 50),
    pinned: optional(flag()),
    kinds: optional(list(choice(['tea', 'cake']), { max: 2 })),
  }

  it('parses texts of an address into typed values, and adds defaults', () => {
    const schema = objectSchema(fields, 'text')

    expect(schema.parse({ pinned: 'true', kinds: ['tea'] })).toEqual({ limit: 50, pinned: true, kinds: ['tea'] })
    expect(schema.parse({ limit: '7' })).toEqual({ limit: 7 })
    for (const wrong of [{ limit: '1e2' }, { limit: '0' }, { limit: '201' }, { pinned: 'yes' }, { colour: 'red' }])
      expect(schema.safeParse(wrong).success).toBe(false)
  })

  it('reads JSON with the same fields, without changing types', () => {
    const schema = objectSchema({ ...fields, inner: object({ name: nullable(text(3, undefined, 1)) }) })

    expect(schema.parse({ limit: 7, inner: { name: null } })).toEqual({ limit: 7, inner: { name: null } })
    const inner = { name: 'tea' }
    for (const wrong of [
      { limit: '7', inner },
      { pinned: 'true', inner },
      { inner: { name: '' } },
      { inner: { name: 'cake' } },
      { inner: { name: 'tea', more: 1 } },
      { kinds: ['tea', 'tea', 'tea'], inner },
      {},
    ])
      expect(schema.safeParse(wrong).success).toBe(false)
  })
})
