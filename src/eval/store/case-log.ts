import { lstatSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { readLines } from '../../files/lines.ts'
import { makeDirectory } from '../../files/make-directory.ts'
import { checkPlain } from '../../files/own-files.ts'
import { caseLogPath } from './documents.ts'
import {
  type Checked,
  checkArtifact,
  type Problem,
  parseArtifact,
  refuseDocument,
  requireValid,
} from './parse-artifact.ts'
import type { CaseRecord } from './schemas/run.ts'

/**
 * Opens the case records of a run for appending. First removes a half-written record that a killed process left at the end. Appended
 * records survive a crash of this process and, once the log is closed, a power failure.
 */
export async function openCaseLog(root: string, runId: string) {
  const path = caseLogPath(root, runId)
  checkPlain(root, path)
  makeDirectory(dirname(path))
  const length = await lengthOfWholeLines(path)
  const file = await open(path, 'a', 0o600)
  await file.truncate(length)
  return {
    append: (record: CaseRecord): CaseRecord => {
      const valid = requireValid(checkArtifact('case-record', record, logName(runId)), 'case-record')
      // Synchronous: writing a few hundred bytes to the page cache is faster than awaiting a promise.
      writeSync(file.fd, `${JSON.stringify(valid)}\n`)
      return valid
    },
    close: async (): Promise<void> => {
      try {
        await file.sync()
      } finally {
        await file.close()
      }
    },
  }
}

/** All case records of a run in the order written, and the problems of invalid ones. Empty for a run without a log. */
export async function readCaseLog(root: string, runId: string) {
  const records: CaseRecord[] = []
  const problems: Problem[] = []
  for await (const checked of readCases(root, runId)) {
    if (checked.ok) records.push(checked.value)
    else problems.push(...checked.problems)
  }
  return { records, problems }
}

async function* readCases(root: string, runId: string): AsyncGenerator<Checked<CaseRecord>> {
  const path = caseLogPath(root, runId)
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return
  const seen = new Set<string>()
  for await (const { number, bytes, isWhole } of readLines(path)) {
    const file = `${logName(runId)}:${number}`
    if (!isWhole) yield refuseDocument(file, 'is cut off; the run was interrupted while writing it', '(line)')
    else if (bytes === null) yield refuseDocument(file, 'is too long', '(line)')
    else {
      const checked = parseArtifact('case-record', bytes, file)
      if (!checked.ok) yield checked
      else {
        const { repeat, caseId } = checked.value
        const isRepeated = seen.has(`${repeat} ${caseId}`)
        seen.add(`${repeat} ${caseId}`)
        const message = `is ${JSON.stringify(caseId)} for the second time in repeat ${repeat}`
        yield isRepeated ? refuseDocument(file, message, 'caseId') : checked
      }
    }
  }
}

const logName = (runId: string): string => `runs/${runId}/cases.jsonl`

async function lengthOfWholeLines(path: string): Promise<number> {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return 0
  let length = 0
  for await (const { bytes, isWhole } of readLines(path)) if (isWhole && bytes !== null) length += bytes.length + 1
  return length
}
