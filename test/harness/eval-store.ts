import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { baselineExample, manifestExample, runExample, shadowExample } from './example-documents.ts'

/** Writes documents into an eval store unchanged, valid or not. Objects are written as JSON, texts as they are. */
export function plant(root: string, files: Readonly<Record<string, unknown>>): void {
  for (const [file, content] of Object.entries(files)) {
    const path = join(root, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  }
}

export const aManifest = (fields: object = {}) => ({ ...manifestExample, ...fields })
export const aShadow = (fields: object = {}) => ({ ...shadowExample, ...fields })
export const aBaseline = (fields: object = {}) => ({ ...baselineExample, ...fields })

/** A run in which `passed` of `total` cases passed. */
export function aRun({
  passed = 9,
  total = 12,
  ...fields
}: {
  readonly passed?: number
  readonly total?: number
  readonly [field: string]: unknown
} = {}) {
  return { ...runExample, totalCases: total, passedCases: passed, failedCases: total - passed, ...fields }
}
