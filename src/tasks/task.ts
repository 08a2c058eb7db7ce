import type { DrawRules } from './parse/draw.ts'

export const gradingTypes = ['automated', 'llm_judge', 'hybrid'] as const
type GradingType = (typeof gradingTypes)[number]

/** A file that lies in the workspace before the first session. `asset` is a path below the assets of the task's folder. */
export type WorkspaceFile =
  | { readonly kind: 'inline'; readonly path: string; readonly content: string }
  | { readonly kind: 'asset'; readonly path: string; readonly asset: string }

export type TaskSession = {
  readonly id: string
  readonly prompt: string
  /** Whether it begins a new conversation. The first always does. */
  readonly isFresh: boolean
}

/** A check of the answer of a session; an addition of Credence to the format. All conditions must hold. */
export type AnswerCheck = {
  readonly id: string
  readonly session: string
  /** Each inner list holds ways to say the same thing, of which one must be there. Compared without case and layout. */
  readonly expect: readonly (readonly string[])[]
  /** Compares `expect` character for character. */
  readonly exact?: boolean
  /** False where `expect` names no value that was told, such as words that confirm storing. */
  readonly recall?: boolean
  readonly forbid: readonly string[]
  readonly mustNotKnow: boolean
  readonly memoryRead?: boolean
}

/** A job for an agent, as its file has it. Nothing of what the file says is lost: `frontMatter` is the whole of it. */
export type Task = {
  readonly id: string
  readonly name: string
  readonly category: string
  readonly gradingType: GradingType
  /** For all sessions together. */
  readonly timeoutSeconds: number
  readonly workspaceFiles: readonly WorkspaceFile[]
  readonly gradingWeights: { readonly automated: number; readonly judge: number }
  readonly prerequisites: readonly string[]
  /** Never empty: a task without sessions is one session with its prompt. */
  readonly sessions: readonly TaskSession[]
  readonly prompt: string
  readonly expectedBehavior: string
  readonly criteria: readonly string[]
  /** Python that defines `grade(transcript, workspace_path)`. */
  readonly automatedChecks: string | null
  readonly rubric: string | null
  readonly answerChecks: readonly AnswerCheck[]
  /** Variables that `instantiate` fills in; empty afterwards. */
  readonly draw: DrawRules
  readonly frontMatter: Readonly<Record<string, unknown>>
  readonly file: string
  /** Hash of the file's bytes. */
  readonly sha256: string
  readonly warnings: readonly string[]
}
