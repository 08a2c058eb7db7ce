import type { TaskPlaces } from '../../../tasks/parse/load-tasks.ts'
import type { Session } from '../../session.ts'

/** Where tasks are looked for: below the working directory by path, and in the packs that ship by id. */
export async function taskPlaces(session: Session): Promise<TaskPlaces> {
  const { packsDirectory } = await session.evaluation()
  return { workingDirectory: session.workingDirectory(), packs: [packsDirectory] }
}
