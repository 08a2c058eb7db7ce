import { SpanStatusCode } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { expect, it } from 'vitest'
import { withSpans } from '../../src/adapters/telemetry.ts'
import { openMemory } from '../../src/library.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

function traced(options: { readonly recordText?: boolean } = {}) {
  const directory = temporaryDirectory()
  const exporter = new InMemorySpanExporter()
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const memory = withSpans(openMemory({ dir: directory.path }), { storeId: 'support', tracerProvider, ...options })
  return {
    memory,
    spans: () => exporter.getFinishedSpans().map(({ name, attributes, status }) => ({ name, attributes, status })),
    async [Symbol.asyncDispose]() {
      await memory.close()
      directory[Symbol.dispose]()
    },
  }
}

it('records operations, ids and counts of a memory, and no text', async () => {
  await using opened = traced()
  const { memory } = opened
  const { belief } = await memory.remember({ content: 'Our staging port is 5433.', name: 'staging port' })
  await memory.recall('Which staging port?')
  await memory.recall('Good morning')
  await memory.hear({ text: 'The port is closed at night.' })
  await memory.forget(belief.id)
  await expect(memory.forget('nothing')).rejects.toThrow()

  const spans = opened.spans()

  expect(spans.map(({ name, attributes }) => [name, attributes['gen_ai.memory.record.count']])).toEqual([
    ['create_memory', 1],
    ['search_memory', 1],
    ['search_memory', 0],
    ['create_memory', 1],
    ['delete_memory', 1],
    ['delete_memory', undefined],
  ])
  expect(spans[1]?.attributes).toEqual({
    'gen_ai.operation.name': 'search_memory',
    'gen_ai.provider.name': 'credence',
    'gen_ai.memory.store.id': 'support',
    'gen_ai.memory.record.count': 1,
    'gen_ai.memory.record.id': belief.id,
  })
  expect(spans.at(-1)).toMatchObject({
    status: { code: SpanStatusCode.ERROR },
    attributes: { 'error.type': 'not_found' },
  })
  expect(JSON.stringify(spans)).not.toMatch(/staging|closed|morning/)
})

it('records text on request', async () => {
  await using opened = traced({ recordText: true })
  await opened.memory.remember({ content: 'Our staging port is 5433.', name: 'staging port' })
  await opened.memory.recall('Which staging port?')

  const [, recall] = opened.spans()

  expect(recall?.attributes['gen_ai.memory.query.text']).toBe('Which staging port?')
  expect(recall?.attributes['gen_ai.memory.records']).toContain('Our staging port is 5433.')
})

it('works and records nothing without a registered provider', async () => {
  using directory = temporaryDirectory()
  const memory = withSpans(openMemory({ dir: directory.path }), { storeId: 'support' })

  await memory.remember({ content: 'Our staging port is 5433.', name: 'staging port' })

  expect((await memory.recall('Which staging port?')).relevant).toHaveLength(1)
  await memory.close()
})
