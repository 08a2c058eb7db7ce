import { z } from 'zod'
import type { GraderRun } from './run-grader.ts'

const Reported = z.strictObject({
  scores: z.array(
    z.tuple([z.string(), z.union([z.strictObject({ number: z.number() }), z.strictObject({ other: z.string() })])]),
  ),
})
const Failed = z.strictObject({ error: z.string() })

export type GraderScores =
  | { readonly ok: true; readonly scores: Readonly<Record<string, number>> }
  | { readonly ok: false; readonly reason: string }

const refuse = (reason: string): GraderScores => ({ ok: false, reason })

/** What a grader said, if it said it in time and by the rules: names with finite numbers from 0 to 1. */
export function parseScores(run: Pick<GraderRun, 'document' | 'stopped' | 'exit' | 'output'>): GraderScores {
  if (run.stopped !== null) return refuse(run.stopped)
  if (run.document === null) {
    return refuse(`It ended without a result (${run.exit})${run.output === '' ? '' : `: ${run.output.slice(-300)}`}`)
  }
  const document = parsed(run.document)
  const failed = Failed.safeParse(document)
  if (failed.success) return refuse(failed.data.error)
  const reported = Reported.safeParse(document)
  if (!reported.success) return refuse('Its result is not the one document that was expected.')
  const { scores } = reported.data
  if (scores.length === 0) return refuse('It returned no scores.')
  if (new Set(scores.map(([name]) => name)).size < scores.length) return refuse('It returned a name twice.')
  for (const [name, value] of scores) {
    const given = 'number' in value ? value.number : null
    // Written as "not within", so that what is no number is refused as well.
    if (!(given !== null && given >= 0 && given <= 1)) {
      const shown = 'number' in value ? String(value.number) : value.other
      return refuse(`It returned ${shown} for ${JSON.stringify(name)}, which is not a number from 0 to 1.`)
    }
  }
  const numbers = scores.flatMap(([name, value]) => ('number' in value ? [[name, value.number] as const] : []))
  return { ok: true, scores: Object.fromEntries(numbers) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
