import { z } from 'zod'
import { reportDuplicates } from './duplicates.ts'
import { MetricDeclaration } from './metric-declaration.ts'
import { ContentHash, SafeId, SchemaVersion, unprintable, Words } from './primitives.ts'
import { AttackClass, TargetSurface } from './red-team.ts'

export const benchmarkTypes = ['standard', 'memory-red-team'] as const

export const ManifestCase = z.looseObject({
  id: SafeId,
  prompt: Words,
  expectedSignals: z.array(Words).optional(),
  notes: z.string().optional(),
})

/** A path inside the pack: relative, with forward slashes, and going down only. */
export const PackPath = z
  .string()
  .max(512)
  .regex(new RegExp(String.raw`^(?!/)(?!.*(?:^|/)\.{0,2}(?:/|$))[^\\:${unprintable}]+$`, 'u'), {
    error: 'must be a relative path inside the pack, with forward slashes',
  })

/** A benchmark as data: what is asked, and what a runner needs to ask it. */
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
    runner: Words.optional().describe(
      'Which runner executes the cases; without one the pack can be kept and compared but not run.',
    ),
    files: z
      .record(z.string(), PackPath)
      .optional()
      .describe("The files the runner reads. They are part of the pack's hash, other files are not."),
    deterministic: z
      .boolean()
      .optional()
      .describe('Whether the same system must give the same results every time. Default true.'),
    metrics: z.array(MetricDeclaration).optional(),
    contentHash: ContentHash.optional(),
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
