import type { OwnAdditions, TaskFields } from './parse/fields.ts'

/** A job for an agent, as its file describes it. `frontMatter` keeps every field of the file. */
export type Task = TaskFields &
  OwnAdditions & {
    readonly prompt: string
    readonly expectedBehavior: string
    readonly criteria: readonly string[]
    /** Python that defines `grade(transcript, workspace_path)`. */
    readonly automatedChecks: string | null
    readonly rubric: string | null
    readonly frontMatter: Readonly<Record<string, unknown>>
    /** The content of the file. */
    readonly text: string
    readonly file: string
    readonly sha256: string
    readonly warnings: readonly string[]
  }
