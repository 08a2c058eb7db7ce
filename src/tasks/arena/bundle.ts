import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { MemoryError } from '../../errors.ts'
import { asJson, writeAtomically } from '../../files/atomic-write.ts'
import { codeOf } from '../../files/leftovers.ts'
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
  if (whole.tasks.length === 0) {
    throw new MemoryError(
      'invalid',
      `The run "${whole.run.runId}" has no graded task, so there is nothing to report.`,
      {
        hint: `Complete it with \`credence task run --resume ${whole.run.runId}\`.`,
      },
    )
  }
  const markdown = reportMarkdown(whole)
  const artifact = await workspaceZip(whole.tasks)
  return { markdown, artifact, report: reportJson(whole, { markdown, artifact }) }
}

export async function writeBundle(folder: string, { markdown, artifact, report }: Bundle): Promise<readonly string[]> {
  const files: readonly (readonly [string, string | Uint8Array])[] = [
    [bundleNames.markdown, markdown],
    [bundleNames.artifact, artifact],
    [bundleNames.report, asJson(report)],
  ]
  try {
    await mkdir(folder, { recursive: true })
    for (const [name, content] of files) await writeAtomically(join(folder, name), content, { existing: 'replace' })
  } catch (cause) {
    const code = codeOf(cause)
    if (code === undefined) throw cause
    const why = code === 'EEXIST' || code === 'ENOTDIR' ? 'a file stands in its place' : code
    throw new MemoryError('unavailable', `The bundle cannot be written to ${folder}: ${why}.`, {
      hint: 'Give a folder that you may write to, or one that does not exist yet.',
      cause,
    })
  }
  return files.map(([name]) => join(folder, name))
}
