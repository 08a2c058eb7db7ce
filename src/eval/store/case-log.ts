import { lstatSync, writeSync } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { linesOf } from '../../files/lines.ts'
import { caseLogPath } from './documents.ts'
import { type Checked, checkArtifact, type Problem, parseArtifact, required } from './parse-artifact.ts'
import type { CaseRecord } from './schemas/run.ts'

/** `append` gives back the record as it was kept. */
export type CaseLog = { append(record: CaseRecord): CaseRecord; close(): Promise<void> }

/**
 * Opens the case records of a run for writing at their end. A record that a killed process left half written is cut
 * off first. Each record survives the end of this process at once, and a power cut after the log is closed.
 */
export async function openCaseLog(root: string, runId: string): Promise<CaseLog> {
  const path = caseLogPath(root, runId)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const whole = await lengthOfWholeLines(path)
  const file = await open(path, 'a', 0o600)
  await file.truncate(whole)
  return {
    append: (record) => {
      const valid = required(checkArtifact('case-record', record, logName(runId)), 'case-record')
      // Synchronous: handing a few hundred bytes to the system takes less time than waiting for it.
      writeSync(file.fd, `${JSON.stringify(valid)}\n`)
      return valid
    },
    close: async () => {
      try {
        await file.sync()
      } finally {
        await file.close()
      }
    },
  }
}

/** The case records of a run in the order they were written. None when the run kept none. */
export async function* readCases(root: string, runId: string): AsyncGenerator<Checked<CaseRecord>> {
  const path = caseLogPath(root, runId)
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return
  const seen = new Set<string>()
  for await (const { number, bytes, isWhole } of linesOf(path)) {
    const file = `${logName(runId)}:${number}`
    const refuse = (field: string, message: string): Checked<never> => ({
      ok: false,
      problems: [{ file, field, message }],
    })
    if (!isWhole) {
      yield refuse('(line)', 'is cut off; the run was interrupted while writing it')
      continue
    }
    if (bytes === null) {
      yield refuse('(line)', 'is too long')
      continue
    }
    const checked = parseArtifact('case-record', bytes, file)
    const key = checked.ok ? `${checked.value.repeat} ${checked.value.caseId}` : ''
    if (!checked.ok || !seen.has(key)) yield checked
    else
      yield refuse(
        'caseId',
        `is ${JSON.stringify(checked.value.caseId)} for the second time in repeat ${checked.value.repeat}`,
      )
    seen.add(key)
  }
}

/** All case records of a run, and what is wrong with the rest. */
export async function casesOf(
  root: string,
  runId: string,
): Promise<{ readonly records: readonly CaseRecord[]; readonly problems: readonly Problem[] }> {
  const records: CaseRecord[] = []
  const problems: Problem[] = []
  for await (const checked of readCases(root, runId)) {
    if (checked.ok) records.push(checked.value)
    else problems.push(...checked.problems)
  }
  return { records, problems }
}

const logName = (runId: string): string => `runs/${runId}/cases.jsonl`

async function lengthOfWholeLines(path: string): Promise<number> {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return 0
  let length = 0
  for await (const { bytes, isWhole } of linesOf(path)) if (isWhole && bytes !== null) length += bytes.length + 1
  return length
}
