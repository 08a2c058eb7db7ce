import type { OwnAdditions, TaskFields } from './parse/fields.ts'

/** A job for an agent, as described by its file. `frontMatter` has every field of the file. */
export type Task = TaskFields &
  OwnAdditions & {
    readonly prompt: string
    readonly expectedBehavior: string
    readonly criteria: readonly string[]
    /** Python that defines `grade(transcript, workspace_path)`. */
    readonly automatedChecks: string | null
    readonly rubric: string | null
    readonly frontMatter: Readonly<Record<string, unknown>>
    /** The whole text of the file. */
    readonly text: string
    readonly file: string
    readonly sha256: string
    readonly warnings: readonly string[]
  }
