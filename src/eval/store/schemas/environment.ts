import { z } from 'zod'
import { ContentHash, SafeId, SchemaVersion, SystemIdentity, Timestamp, Words } from './primitives.ts'

/** Where a run took place: all that is needed to tell whether two runs may be compared, and to repeat one. */
export const Environment = z.looseObject({
  schemaVersion: SchemaVersion,
  runId: SafeId,
  benchmarkId: SafeId,
  recordedAt: Timestamp,
  packHash: ContentHash,
  packFiles: z.record(z.string(), ContentHash).describe("The digest of each file behind the pack's hash."),
  system: SystemIdentity,
  given: z.record(z.string(), z.unknown()).describe('The options as they were given.'),
  settings: z.record(z.string(), z.unknown()).describe('The settings the run was really made with, defaults included.'),
  seed: z.int(),
  git: z.looseObject({ commit: Words, dirty: z.boolean() }).nullable().describe('Null outside a repository.'),
  node: Words,
  os: z.looseObject({ platform: Words, release: Words, arch: Words }),
  shard: z
    .looseObject({
      index: z.int().positive(),
      count: z.int().positive(),
      caseIds: z.array(SafeId).describe('The cases of this shard in the order of the pack.'),
      isShuffled: z.boolean().describe('Whether the seed decides the order of the cases.'),
    })
    .optional()
    .describe('Which part of a run this is, so that the parts can be merged.'),
})

export type Environment = z.infer<typeof Environment>
