import { z } from 'zod'
import {
  ContentHash,
  Count,
  MetricDeclaration,
  reportDuplicates,
  SafeId,
  SchemaVersion,
  unprintable,
  Words,
} from './primitives.ts'

const attackClasses = [
  'provenance-spoofing',
  'prompt-injection',
  'memory-poisoning',
  'extraction',
  'cross-scope-leak',
  'resurrection',
  'denial-of-service',
] as const

const targetSurfaces = [
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

function vocabulary<const Word extends string>(words: readonly [Word, ...Word[]]) {
  const error = `must be one of ${words.join(', ')}, or a word of your own that begins with x-`
  // The error is set on the union and on the regular expression, because zod may report either.
  return z.union([z.enum(words), z.string().regex(/^x-[a-z0-9]+(?:-[a-z0-9]+)*$/u, { error })], { error })
}

const AttackClass = vocabulary(attackClasses)
const TargetSurface = vocabulary(targetSurfaces)

const benchmarkTypes = ['standard', 'memory-red-team'] as const

const ManifestCase = z.looseObject({
  id: SafeId,
  prompt: Words,
  expectedSignals: z.array(Words).optional(),
  notes: z.string().optional(),
})

/** A path inside the pack: relative, with forward slashes, and without `..`. */
const PackPath = z
  .string()
  .max(512)
  .regex(new RegExp(String.raw`^(?!/)(?!.*(?:^|/)\.{0,2}(?:/|$))[^\\:${unprintable}]+$`, 'u'), {
    error: 'must be a relative path inside the pack, with forward slashes',
  })

/** The origin of the cases, so that a reader can judge the figures. */
export const PackProvenance = z.looseObject({
  casesWritten: z
    .enum(['before the rules', 'with the rules', 'after the rules', 'elsewhere'])
    .describe('When the cases were written. `elsewhere`: by people who never saw the rules they measure.'),
  by: Words.describe('Who wrote them.'),
  firstSight: z
    .looseObject({ passed: Count, total: Count, system: Words, date: Words, commit: Words })
    .nullable()
    .describe('The result before anything was changed because of these cases; null if it was not measured.'),
  notes: z.string().optional(),
})
export type PackProvenance = z.infer<typeof PackProvenance>

/** A benchmark as data: its questions, and the settings that a runner needs. */
export const Manifest = z
  .looseObject({
    schemaVersion: SchemaVersion,
    benchmarkId: SafeId,
    benchmarkType: z.enum(benchmarkTypes).default('standard'),
    title: Words,
    description: z.string().optional(),
    tags: z.array(Words).optional(),
    sourceLinks: z.array(Words).optional(),
    attackClass: Words.optional(),
    targetSurface: Words.optional(),
    cases: z.array(ManifestCase).min(1),
    runner: Words.optional().describe('Which runner executes the cases; without one the pack cannot be run.'),
    system: Words.optional().describe('The system under test if --system names none. Default: that of the runner.'),
    files: z
      .record(z.string(), PackPath)
      .optional()
      .describe('What the runner reads; only these are part of the hash.'),
    deterministic: z.boolean().optional().describe('Whether the same system gives the same results. Default true.'),
    metrics: z.array(MetricDeclaration).optional(),
    contentHash: ContentHash.optional(),
    licence: z.string().optional(),
    defaultUser: Words.optional().describe('The user whose beliefs are searched if a case names none.'),
    recall: z
      .looseObject({ editedPins: z.enum(['in-scope', 'everywhere']).optional() })
      .optional()
      .describe('How recall differs from its defaults.'),
    ablations: z.array(Words).optional().describe('Parts without which the pack must fail, such as `recall off`.'),
    provenance: PackProvenance.optional(),
    suite: Words.optional().describe('The public suite whose files the runner `conversation` reads.'),
    split: Words.optional().describe('Which part of a larger set this is, such as `oracle` or `small`.'),
  })
  .superRefine((manifest, context) => {
    reportDuplicates(context, ['cases'], manifest.cases, 'id')
    reportDuplicates(context, ['metrics'], manifest.metrics ?? [], 'name')
    if (manifest.benchmarkType === 'standard') return
    for (const [field, Vocabulary] of [
      ['attackClass', AttackClass],
      ['targetSurface', TargetSurface],
    ] as const) {
      const given = manifest[field]
      if (given === undefined) {
        context.addIssue({ code: 'custom', path: [field], message: 'must be there in a memory-red-team pack' })
        continue
      }
      const reason = Vocabulary.safeParse(given).error?.issues[0]?.message
      if (reason !== undefined) context.addIssue({ code: 'custom', path: [field], message: reason, input: given })
    }
  })

export type Manifest = z.infer<typeof Manifest>
