import { describe, expect, it } from 'vitest'
import { endpoints, isOfTeams } from '../../src/http/api/endpoints.ts'
import { openApiDocument } from '../../src/http/api/openapi.ts'
import { startTestServer } from './test-server.ts'

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

// As sent over HTTP.
const document = JSON.parse(JSON.stringify(openApiDocument('1.2.3')))
const table = Object.values(endpoints).flatMap((endpoint) => {
  const { method, path } = endpoint
  return [{ method, path }, ...(isOfTeams(endpoint) ? [{ method, path: `/teams/:team${path}` }] : [])]
})

/** Every object in a document. */
function* objectsIn(value: Json): Generator<{ readonly [name: string]: Json }> {
  if (value === null || typeof value !== 'object') return
  if (!Array.isArray(value)) yield value as { readonly [name: string]: Json }
  for (const inner of Object.values(value)) yield* objectsIn(inner)
}

const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)
type Operation = {
  readonly operationId: string
  readonly summary: string
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[]
  readonly requestBody?: object
  readonly responses: Readonly<Record<string, object>>
}

describe('the description of the API', () => {
  it('has every route of the table and no other', () => {
    const described = operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`)

    expect(described.sort()).toEqual(
      table.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/gu, '{$1}')}`).sort(),
    )
  })

  it('is served', async () => {
    await using server = await startTestServer()
    const { status, text } = await server.send('GET', '/api/openapi.json')
    const registered = server.app.routes
      .filter(({ method, path }) => method !== 'ALL' && path.startsWith('/api/v1/'))
      .map(({ method, path }) => `${method} ${path}`)

    expect(status).toBe(200)
    expect(JSON.parse(text).paths).toEqual(document.paths)
    expect([...new Set(registered)].sort()).toEqual(table.map(({ method, path }) => `${method} /api/v1${path}`).sort())
    expect((await server.send('GET', '/api/openapi.json', { as: 'nobody' })).status).toBe(401)
  })

  it('refers only to its own parts', () => {
    const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`)
    const referred = [...objectsIn(document)].flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : []))

    expect(referred.length).toBeGreaterThan(100)
    expect(referred.filter((one) => !known.includes(one) && !one.startsWith('#/components/schemas/'))).toEqual([])
    for (const one of referred) expect(resolved(one), one).toBeDefined()
  })

  it('is valid OpenAPI 3.1', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Credence', version: '1.2.3' } })
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length)
    for (const { path, operation } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/gu)].map(([, name]) => name)
      const declared = operation.parameters.filter((one) => one.in === 'path')
      expect(declared.map(({ name }) => name)).toEqual(inPath)
      expect(declared.every(({ required }) => required)).toBe(true)
      expect(operation.summary).not.toBe('')
      expect(Object.keys(operation.responses)).toContain('default')
    }
    for (const { type } of objectsIn(document.components.schemas)) {
      if (typeof type === 'string') expect(types).toContain(type)
    }
  })
})

// Texts that a schema may have as its `type`. A property that is named `type` has a schema there instead.
const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']

function resolved(reference: string): unknown {
  const steps = reference
    .slice(2)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  return steps.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], document)
}
