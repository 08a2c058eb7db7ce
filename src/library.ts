import { checkArguments, checkMemoryCalls } from './check-arguments.ts'
import { invalid } from './errors.ts'
import { withShadow } from './eval/shadow/shadow.ts'
import { evalStoreIn } from './eval/store/documents.ts'
import { isObject } from './json.ts'
import type { Memory } from './memory/memory.ts'
import type { Author } from './memory/ports.ts'
import type { Context } from './memory/recall/context.ts'
import * as unchecked from './memory/recall/render.ts'
import { openMemory as openUnchecked } from './open-memory.ts'
import { openServer } from './open-server.ts'

export type MemoryOptions = {
  /** The memory directory. The store is its file `state/credence.db`. Both are created if missing. */
  readonly dir: string
  /**
   * The address of a PostgreSQL store, `postgres://user:password@host/database`. Beliefs and turns are kept there; `MEMORY.md`
   * stays in the directory. Default: SQLite in the directory.
   */
  readonly store?: string
  /** The user whose memory it is. Default `local`. */
  readonly user?: string
  /** The active scopes of a call without `scopes`. Default `user:universal`. */
  readonly scopes?: readonly string[]
  /** The agent that reads. Without one, beliefs that belong to an agent are not visible. */
  readonly agent?: string | null
  /** The author of changes. Default: a person, with the origin `library`. For a model: `{ actor: 'agent', origin: 'your-agent' }`. */
  readonly author?: Author
  /** How long a call waits for another process that is writing, in milliseconds. Default 30000. */
  readonly busyTimeoutMs?: number
  /** Creates the mirror `MEMORY.md` if there is none. An existing one is always kept up to date. Default false. */
  readonly mirror?: boolean
  /**
   * The authority of an edit to `MEMORY.md`. `document`: edits to `user:universal`, to standing instructions or to another
   * author's statements wait for review. `person`: no edit waits; only for a file that nobody else can write. Default `document`.
   */
  readonly mirrorAuthority?: 'document' | 'person'
  /**
   * Whether to find turns and beliefs by meaning too. `on`: with the model in this package; vectors are computed in the background
   * while the memory is open. `off`: by words only. A URL: with the model `semanticModel` of an OpenAI-compatible endpoint; it gets
   * the texts, and the key in `CREDENCE_MODEL_KEY`. Default: the environment variable `CREDENCE_SEMANTIC`, or `on`.
   */
  readonly semantic?: string
  /** The model of the endpoint in `semantic`. */
  readonly semanticModel?: string
  /** The maximum share of a context that beliefs of agents, tools and models may have, 0 to 1. Default 0.25. */
  readonly agentShare?: number
  /** How readily recall quotes conversations: `quiet`, `normal` or `eager`. Default `normal`. */
  readonly recallBoldness?: 'normal' | 'quiet' | 'eager'
  /** Called when the mirror could not be brought up to date. A change never fails because of it. */
  readonly onMirrorProblem?: (problem: Error) => void
}

/** Opens the memory in a directory, or creates it. Several processes may have it open at once. */
export function openMemory(options: MemoryOptions): Memory {
  const [{ store, ...given }] = checkArguments('openMemory', [options] as const)
  if (given.dir.trim() === '')
    throw invalid(
      'openMemory: dir is blank; it must be the path of a directory.',
      'Give an existing or a new directory.',
    )
  const server = store === undefined ? {} : { server: () => openServer(given.dir, store) }
  return checkMemoryCalls(openUnchecked({ ...given, ...server }))
}

/** The context as a block for a prompt. The same context gives the same bytes, and no remembered text can end the block. */
export function renderContext(context: Context): string {
  if (!isObject(context)) throw invalid('renderContext: the context is not an object.', 'Pass the result of recall.')
  return unchecked.renderContext(context)
}

export type ShadowRecallOptions = {
  /** The memory directory; records go to `state/evals/shadow` below it. */
  readonly dir: string
  /** Another directory for the eval store. */
  readonly evalStoreDir?: string
  /** Identifies the conversation. Recorded as a hash. */
  readonly sessionKey?: string
  /** Called when a record could not be written. A recall never fails because of it. */
  readonly onProblem?: (error: unknown) => void
}

/** Wraps a memory to record every recall as ids, hashes and numbers, never text. `close` waits for the last record. */
export function shadowRecall(memory: Memory, options: ShadowRecallOptions): Memory {
  const [recalling, given] = checkArguments('shadowRecall', [memory, options] as const)
  const { dir, evalStoreDir, sessionKey, onProblem } = given
  const shadowed = withShadow(recalling, {
    root: evalStoreDir ?? evalStoreIn(dir),
    sessionKey: sessionKey ?? null,
    now: () => new Date(),
    clock: () => performance.now(),
    onProblem: onProblem ?? (() => {}),
  })
  return checkMemoryCalls(shadowed)
}
