import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { asJson, writeAtomically } from '../../files/atomic-write.ts'
import type { ReadTaskRun } from '../report/read-task-run.ts'
import { type ArenaReport, reportJson } from './report-json.ts'
import { reportMarkdown } from './report-markdown.ts'
import { workspaceZip } from './workspace-zip.ts'

export const bundleNames = {
  markdown: 'report.md',
  artifact: 'workspace-artifact.zip',
  report: 'report.json',
} as const

export type Bundle = { readonly markdown: string; readonly artifact: Uint8Array; readonly report: ArenaReport }

/** What an arena wants of a run. The same run gives the same bytes. */
export async function bundleOf(whole: ReadTaskRun): Promise<Bundle> {
  const markdown = reportMarkdown(whole)
  const artifact = await workspaceZip(whole.tasks)
  return { markdown, artifact, report: reportJson(whole, { markdown, artifact }) }
}

export async function writeBundle(folder: string, { markdown, artifact, report }: Bundle): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true })
  const files: readonly (readonly [string, string | Uint8Array])[] = [
    [bundleNames.markdown, markdown],
    [bundleNames.artifact, artifact],
    [bundleNames.report, asJson(report)],
  ]
  for (const [name, content] of files) await writeAtomically(join(folder, name), content, { existing: 'replace' })
  return files.map(([name]) => join(folder, name))
}
