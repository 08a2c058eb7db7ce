import { z } from 'zod'

/** What an attack tries. */
export const attackClasses = [
  'provenance-spoofing',
  'prompt-injection',
  'memory-poisoning',
  'extraction',
  'cross-scope-leak',
  'resurrection',
  'denial-of-service',
] as const

/** What an attack is aimed at. */
export const targetSurfaces = [
  'ingest',
  'extraction',
  'trust-zone-promotion',
  'recall',
  'correction',
  'import',
  'maintenance',
  'mcp',
  'http',
  'cli',
] as const

const ownWord = z.string().regex(/^x-[a-z0-9]+(?:-[a-z0-9]+)*$/u)

const vocabulary = <const Word extends string>(words: readonly [Word, ...Word[]]) =>
  z.union([z.enum(words), ownWord], {
    error: `must be one of ${words.join(', ')}, or a word of your own that begins with x-`,
  })

export const AttackClass = vocabulary(attackClasses)
export const TargetSurface = vocabulary(targetSurfaces)
