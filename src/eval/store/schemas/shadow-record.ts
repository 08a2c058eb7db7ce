import { z } from 'zod'
import { Count, SafeId, SchemaVersion, Timestamp } from './primitives.ts'

const recallModes = ['no_recall', 'minimal', 'full', 'graph_mode'] as const
const recallSources = [
  'none',
  'bm25',
  'vector',
  'hybrid',
  'hot_qmd',
  'hot_embedding',
  'cold_fallback',
  'recent_scan',
] as const

/** A digest of text, with or without the name of the algorithm. */
const Digest = z.string().regex(/^(?:[a-z0-9-]{1,16}:)?[0-9a-f]{1,128}$/iu, { error: 'must be a hexadecimal digest' })

/** A key or an id: one word, so that it cannot contain a sentence. */
export const opaqueKey = /^[\w.:@#+=-]{1,128}$/u
const OpaqueKey = z
  .string()
  .regex(opaqueKey, { error: 'must be one word of at most 128 letters, digits and . : @ # + = _ -' })

const Duration = z.union([z.number().nonnegative(), z.string().regex(/^\d{1,9}(?:\.\d{1,6})?(?:ms|s)?$/u)], {
  error: 'must be a duration',
})
const StageName = z.string().regex(/^[A-Za-z][A-Za-z0-9_.-]{0,39}$/u, { error: 'must be the name of a stage' })

/** The record of one live recall: ids, digests and numbers, never text. */
export const ShadowRecord = z
  .looseObject({
    schemaVersion: SchemaVersion,
    traceId: SafeId.regex(opaqueKey),
    recordedAt: Timestamp,
    sessionKey: OpaqueKey,
    promptHash: Digest,
    promptLength: Count,
    retrievalQueryHash: Digest,
    retrievalQueryLength: Count,
    recallMode: z.enum(recallModes),
    recallResultLimit: Count,
    source: z.enum(recallSources),
    recalledMemoryCount: Count,
    injected: z.boolean(),
    contextChars: Count,
    memoryIds: z.array(OpaqueKey).default([]),
    durationMs: z.number().nonnegative(),
    policyVersion: OpaqueKey.optional(),
    identityInjectionMode: z.enum(['recovery_only', 'minimal', 'full', 'none']).optional(),
    identityInjectedChars: Count.optional(),
    identityInjectionTruncated: z.boolean().optional(),
    timings: z.record(StageName, Duration).optional(),
  })
  .superRefine((record, context) => {
    if (record.memoryIds.length > record.recalledMemoryCount) {
      const message = `must not be longer than recalledMemoryCount, which is ${record.recalledMemoryCount}`
      context.addIssue({ code: 'custom', path: ['memoryIds'], message })
    }
    for (const name of Object.keys(record)) {
      if (knownFields.has(name)) continue
      const place = textIn({ [name]: record[name] })
      if (place === null) continue
      const message = 'must be a number or a flag: a shadow record has no text except in the fields it declares'
      context.addIssue({ code: 'custom', path: place, message })
    }
  })

/** A name of one word, so that it cannot be a sentence. */
const plainName = /^\w{1,64}$/u

/** The path of the first text in a value, including keys; null if there is none. */
function textIn(value: unknown): (string | number)[] | null {
  if (typeof value === 'string') return []
  if (value === null || typeof value !== 'object') return null
  for (const [key, inner] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    if (typeof key === 'string' && !plainName.test(key)) return ['(a field whose name is not one word)']
    const place = textIn(inner)
    if (place !== null) return [key, ...place]
  }
  return null
}

const knownFields: ReadonlySet<string> = new Set(Object.keys(ShadowRecord.shape))

export type ShadowRecord = z.infer<typeof ShadowRecord>
