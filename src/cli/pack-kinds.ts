import type { Kind } from '../eval/kinds/kind.ts'
import type { Session } from './session.ts'
import type { TaskWork } from './task-work.ts'

/** The kinds of pack there are. Tasks bring agents, graders and a sandbox, so they are loaded only for one of their packs. */
export async function packKinds(
  session: Session,
  { runner, embedder }: { readonly runner: string | undefined; readonly embedder: string },
): Promise<readonly Kind[]> {
  const evaluation = await session.evaluation()
  const kinds = evaluation.kinds({ embedder, extractor: (spec) => session.extractor(spec) })
  return runner === 'task' ? [...kinds, await composeTaskKind(await session.taskWork())] : kinds
}

/** Tasks as a kind of pack, graded in the sandbox and by no judge. */
async function composeTaskKind(work: TaskWork): Promise<Kind> {
  const { taskKind } = await import('../tasks/task-kind.ts')
  return taskKind({
    agent: (spec, options) => work.agent(spec, [], options),
    graders: () => work.graders(null),
    now: () => new Date(),
    searchPath: work.searchPath,
    temporary: work.temporary,
  })
}
