import { randomBytes } from 'node:crypto'
import { syncOnCommit } from '../../../memory/mirror/sync-on-commit.ts'
import type { AccessPorts } from '../../../memory/people/access.ts'
import { memoryFates } from '../../../memory/people/access.ts'
import { type Option, UsageError } from '../../command/command.ts'
import { memoryOptions, oneOf, text } from '../../command/options.ts'
import type { LocationOptions, Session } from '../../session.ts'

/** Which store: people, tokens and teams are those of all its users. */
export const storeOptions = { dir: memoryOptions.dir, store: memoryOptions.store }

/** Needed where a person or a team is removed. */
export const memoryFate: Option<(typeof memoryFates)[number]> = {
  ...text('<fate>', `What to do with the memory: ${memoryFates.join(' or ')}. Erasing cannot be undone.`),
  read: ([given]) => {
    if (given !== undefined) return oneOf(memoryFates, given)
    throw new UsageError('A value is needed.', 'Add --memory keep or --memory erase.')
  },
}

export const takeOverHelp = 'Allow a name that already has a memory; the new person or team gets it.'

/** Opens people, tokens and teams of a store for one function. */
export async function withAccess<Result>(
  session: Session,
  options: LocationOptions,
  use: (ports: AccessPorts) => Promise<Result>,
): Promise<Result> {
  const { dir, user } = session.locate(options)
  return session.withPorts(dir, async (opened) => {
    const access = await opened.store.access()
    // Erasing the memory that MEMORY.md shows erases it there too.
    const authority = session.settings({ dir }).mirrorAuthority
    const { store: _closedByTheCaller, ...rest } = opened
    const ports = syncOnCommit(opened, {
      dir,
      user,
      authority,
      make: false,
      onProblem: (problem) => console.error(problem.message),
    })
    return use({ ...rest, store: ports.store, access, random: randomBytes })
  })
}

/** The teams of the user; none where there is no memory yet. */
export const teamsOf = async (session: Session, options: LocationOptions) => {
  const { dir, user } = session.locate(options)
  return (await session.hasMemory(options)) ? session.withPorts(dir, ({ store }) => store.memberships(user)) : []
}

/** The same for a list. Where there is no memory yet, nothing is made, and the list is empty. */
export const listed = async <Item>(
  session: Session,
  options: LocationOptions,
  list: (ports: AccessPorts) => Promise<readonly Item[]>,
): Promise<readonly Item[]> => ((await session.hasMemory(options)) ? withAccess(session, options, list) : [])
