import type { z } from 'zod'
import { BaselineSnapshot } from './schemas/baseline.ts'
import { Manifest } from './schemas/manifest.ts'
import { CaseRecord, Environment, RunSummary } from './schemas/run.ts'
import { ShadowRecord } from './schemas/shadow-record.ts'

/** Every kind of document the eval store keeps. They are published under these names in docs/schemas. */
export const artifactSchemas = {
  manifest: Manifest,
  'run-summary': RunSummary,
  'case-record': CaseRecord,
  environment: Environment,
  'shadow-record': ShadowRecord,
  baseline: BaselineSnapshot,
} as const satisfies Record<string, z.ZodType>

export type ArtifactKind = keyof typeof artifactSchemas
export type Artifact<Kind extends ArtifactKind> = z.infer<(typeof artifactSchemas)[Kind]>

/** What a person calls each kind. */
export const artifactTitles: Readonly<Record<ArtifactKind, string>> = {
  manifest: 'benchmark manifest',
  'run-summary': 'run summary',
  'case-record': 'case record',
  environment: 'run environment',
  'shadow-record': 'shadow record',
  baseline: 'baseline snapshot',
}
