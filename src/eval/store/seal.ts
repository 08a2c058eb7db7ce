import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { nullIfMissing } from '../../files/leftovers.ts'
import { canonicalJson } from '../../json.ts'
import { caseLogPath, environmentPath, runPath } from './documents.ts'
import type { Problem } from './parse-artifact.ts'
import type { RunEnvironment, RunSummary } from './schemas/run.ts'

/** The hash of all data of a run, to detect later edits. Does not detect an edit that also updates the hash. */
export function sealOf(root: string, { seal: _, ...run }: Pick<RunSummary, 'runId' | 'seal'>): string {
  const hash = createHash('sha256').update(canonicalJson(run))
  for (const path of [caseLogPath(root, run.runId), environmentPath(root, run.runId)])
    hash.update('\0').update(nullIfMissing(() => readFileSync(path)) ?? '')
  return `sha256:${hash.digest('hex')}`
}

/** The problem if a sealed run was changed later, else null. Runs of other programs have no seal. */
export function sealProblem(root: string, run: RunSummary, environment: RunEnvironment | null): Problem | null {
  if (run.seal === undefined && environment?.sealed !== true) return null
  // Hashes the raw file, because the parsed summary may lack some of its fields.
  const written = JSON.parse(readFileSync(runPath(root, run.runId), 'utf8')) as RunSummary
  if (run.seal === sealOf(root, { ...written, runId: run.runId })) return null
  const message = 'does not fit: the run, its cases.jsonl or its environment.json was changed after the run'
  return { file: `runs/${run.runId}.json`, field: 'seal', message }
}
