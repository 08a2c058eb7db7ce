import { z } from 'zod'
import { Count, MetricName, SafeId, SchemaVersion, Words } from './primitives.ts'

/** `error`: it broke. `skipped`: left out on purpose. `unjudged`: answered, but nothing could tell whether rightly. */
export const verdicts = ['pass', 'fail', 'error', 'skipped', 'unjudged'] as const
export const Verdict = z.enum(verdicts)
export type Verdict = (typeof verdicts)[number]

/** Null says that a score does not apply to the case; it is left out of means and comparisons. */
export const Scores = z.record(MetricName, z.number().nullable())

export const ReturnedItem = z.looseObject({
  id: z.string().min(1),
  score: z.number().nullable().describe('Null for a system that does not score.'),
  rank: z.int().positive(),
  tier: Words.optional().describe('Which part of the answer it stood in.'),
})

/** What happened in one repeat of one case: one line of `cases.jsonl`. */
export const CaseRecord = z
  .looseObject({
    schemaVersion: SchemaVersion,
    caseId: SafeId,
    repeat: Count.describe('0 is the first.'),
    seed: z.int(),
    verdict: Verdict,
    scores: Scores,
    returned: z.array(ReturnedItem),
    failures: z.array(z.string()).describe('What was expected and did not happen, in sentences for a person.'),
    timings: z.record(MetricName, z.number().nonnegative()).describe('Milliseconds by stage.'),
    explanation: z
      .unknown()
      .optional()
      .describe("How the answer was reached, stage by stage, in the system's own terms."),
    error: z.looseObject({ class: Words, message: z.string() }).optional(),
  })
  .superRefine((record, context) => {
    const issue = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message })
    if (record.verdict === 'error' && record.error === undefined)
      issue('error', 'must be there when the verdict is error')
    if (record.verdict !== 'error' && record.error !== undefined)
      issue('error', 'must not be there unless the verdict is error')
    if (record.verdict === 'pass' && record.failures.length > 0)
      issue('failures', 'must be empty when the verdict is pass')
  })

export type CaseRecord = z.infer<typeof CaseRecord>
