import { type Attributes, SpanKind, SpanStatusCode, type TracerProvider, trace } from '@opentelemetry/api'
import { MemoryError } from '../errors.ts'
import { isObject } from '../json.ts'
import type { Memory } from '../memory/memory.ts'

export type TelemetryOptions = {
  /** The name of the memory in spans. */
  readonly storeId: string
  /** Also records the text of messages, statements and results. Default false. */
  readonly recordText?: boolean
  /** Default: the globally registered provider. */
  readonly tracerProvider?: TracerProvider
}

/** The traced calls with their operation names: https://github.com/open-telemetry/semantic-conventions-genai, "Memory". */
const operations = {
  recall: 'search_memory',
  search: 'search_memory',
  find: 'search_memory',
  remember: 'create_memory',
  hear: 'create_memory',
  import: 'create_memory',
  correct: 'update_memory',
  edit: 'update_memory',
  forget: 'delete_memory',
  forgetTurns: 'delete_memory',
} as const satisfies Partial<Record<keyof Memory, string>>

type SpanRecord = { readonly id: string; readonly content?: string }

/**
 * Wraps a memory to record an OpenTelemetry span for each recall, search and change. Without a registered provider, nothing
 * is recorded.
 */
export function withSpans(memory: Memory, { storeId, recordText = false, tracerProvider }: TelemetryOptions): Memory {
  const traced = Object.entries(operations).map(([name, operation]) => {
    const call = memory[name as keyof typeof operations] as (...given: readonly unknown[]) => Promise<unknown>
    return [name, (...given: readonly unknown[]) => inSpan(operation, given, () => call(...given))] as const
  })

  async function inSpan(operation: string, given: readonly unknown[], work: () => Promise<unknown>): Promise<unknown> {
    const tracer = (tracerProvider ?? trace).getTracer('credence')
    const [query] = given
    const attributes: Attributes = {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': 'credence',
      'gen_ai.memory.store.id': storeId,
      ...(recordText && operation === 'search_memory' ? { 'gen_ai.memory.query.text': String(query) } : {}),
    }
    return tracer.startActiveSpan(operation, { kind: SpanKind.INTERNAL, attributes }, async (span) => {
      try {
        const result = await work()
        const records = recordsIn(result)
        span.setAttribute('gen_ai.memory.record.count', records.length)
        const [only, ...others] = records
        if (only !== undefined && others.length === 0) span.setAttribute('gen_ai.memory.record.id', only.id)
        if (recordText) span.setAttribute('gen_ai.memory.records', JSON.stringify(records))
        return result
      } catch (error) {
        span.setAttribute('error.type', error instanceof MemoryError ? error.code : 'bug')
        span.setStatus({ code: SpanStatusCode.ERROR })
        throw error
      } finally {
        span.end()
      }
    })
  }

  // The wrapped calls keep their names and types.
  return { ...memory, ...Object.fromEntries(traced) }
}

/** The beliefs and turns in a result, without duplicates. */
function recordsIn(result: unknown): readonly SpanRecord[] {
  if (!isObject(result)) return []
  const { belief, beliefs, items, beliefIds, turns, quotes, relevant, pinned, questions, perhaps } = result
  const lists = [belief, beliefs, items, beliefIds, turns, pinned, relevant, questions, perhaps, quotes]
  const found = lists.flat().flatMap((value) => recordIn(value) ?? [])
  return [...new Map(found.map((record) => [record.id, record])).values()]
}

function recordIn(value: unknown): SpanRecord | null {
  if (typeof value === 'string') return { id: value }
  if (!isObject(value)) return null
  const { id, belief, turn, content, text } = value
  if (isObject(belief) || isObject(turn)) return recordIn(belief ?? turn)
  const key = id ?? turn
  const said = content ?? text
  return typeof key === 'string' ? { id: key, ...(typeof said === 'string' ? { content: said } : {}) } : null
}
