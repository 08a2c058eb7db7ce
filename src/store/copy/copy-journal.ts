import { conflict } from '../../errors.ts'
import { digestOf, type JournalTransfer } from './journal-record.ts'

const pageSize = 200

export type CopiedUser = {
  readonly user: string
  readonly events: number
  /** Events that an earlier copy had brought already. */
  readonly before: number
}

/**
 * Copies the journals of all users, goes on where an earlier copy was interrupted, and compares everything afterwards. A user who
 * has another history in the target is an error, and nothing of it is changed.
 */
export async function copyJournals(
  from: JournalTransfer,
  to: JournalTransfer,
  onProgress: (user: string, done: number, total: number) => void,
): Promise<readonly CopiedUser[]> {
  const copied: CopiedUser[] = []
  for (const user of await from.users()) {
    const [events, before] = [await from.count(user), await to.count(user)]
    await requireSameBeginning(from, to, user, before)
    for (let done = before; done < events; ) {
      const records = await from.read(user, done, pageSize)
      if (records.length === 0) break
      await to.append(user, records)
      done += records.length
      onProgress(user, done, events)
    }
    if ((await to.count(user)) !== events || (await from.count(user)) !== events)
      throw conflict(
        `The memory of "${user}" changed while it was copied.`,
        'Stop what writes to it, and run the copy again.',
      )
    await to.finish(user, await from.places(user))
    const [one, other] = [await digestOfUser(from, user), await digestOfUser(to, user)]
    if (one !== other)
      throw conflict(`The copy of the memory of "${user}" differs from the original.`, 'Use an empty target.')
    copied.push({ user, events, before })
  }
  await to.complete()
  return copied
}

async function requireSameBeginning(
  from: JournalTransfer,
  to: JournalTransfer,
  user: string,
  count: number,
): Promise<void> {
  if (count === 0) return
  const [one] = await from.read(user, count - 1, 1)
  const [other] = await to.read(user, count - 1, 1)
  const isSame =
    one !== undefined && other !== undefined && one.at === other.at && one.changesHash.equals(other.changesHash)
  if (!isSame)
    throw conflict(
      `The target holds another memory of "${user}" (events: ${count}).`,
      'Copy to an empty store, or forget what is there first.',
    )
}

async function digestOfUser(journal: JournalTransfer, user: string): Promise<string> {
  let digest = ''
  for (let done = 0; ; ) {
    const records = await journal.read(user, done, pageSize)
    if (records.length === 0) return digest
    digest = digestOf(digest, records)
    done += records.length
  }
}
