import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import type { StoreCare } from '../../../beliefs/store-care.ts'
import { invalid, notFound, unavailable } from '../../../errors.ts'
import { hasStore, storeFile } from '../../../open-memory.ts'
import { openServer } from '../../../open-server.ts'
import { copyAccess, copyJournals, type JournalTransfer } from '../../../store/copy/journal-transfer.ts'
import { openPostgresTransfer, openSqliteTransfer } from '../../../store/copy/transfers.ts'
import { isPostgresAddress, parseAddress } from '../../../store/postgres/address.ts'
import { defineCommand } from '../../command/command.ts'
import { one } from '../../command/options.ts'
import type { Session } from '../../session.ts'
import { lines, pluralize, table } from '../../text/output.ts'

export const storeCopy = defineCommand({
  args: {
    from: one('The memory to copy: a memory directory, or the address of a PostgreSQL store.'),
    to: one('Where to copy it: a memory directory, or the address of a PostgreSQL store.'),
  },
  options: {},
  description:
    'Copies the journal of every user with beliefs, turns and records of forgetting, and people, tokens and teams; rebuilds the indexes, and compares the copy with the original. Stop servers and agents that write to the memory first. Run the command again to continue an interrupted copy. Vectors, counts of recalls, MEMORY.md and the eval store are not copied. If an address has no password, PGPASSWORD is used.',
  examples: {
    'credence store copy ./memory postgres://credence@127.0.0.1/credence': 'Copies a memory to PostgreSQL.',
    'credence store copy postgres://credence@127.0.0.1/credence ./copy': 'Copies it back to SQLite in a directory.',
  },
  async run({ args }, session) {
    const source = storeLocationOf(args.from, session)
    const target = storeLocationOf(args.to, session)
    if (source.label === target.label) throw invalid(`${source.label} cannot be copied to itself.`, 'Name two stores.')
    if (source.address === undefined && !hasStore(source.dir))
      throw notFound(`There is no memory in ${source.dir}.`, 'Create one with `credence init`.')
    await checkStore(session, source)
    // Opening creates the store, or migrates an older one.
    await withStore(session, target, (store) => store.head())
    const users = await session.terminal.withProgress((bar) =>
      withTransfers(source, target, (from, to) =>
        copyJournals(from, to, (user, done, total) => bar.show(`copying ${user}`, done, total)),
      ),
    )
    await checkStore(session, target)
    await withStore(session, target, (store) => store.anchorJournal())
    // Copied last, so that no token opens an incomplete memory.
    const access = await withTransfers(source, target, copyAccess)
    const events = users.reduce((sum, user) => sum + user.events, 0)
    const rows = users.map(({ user, events: all, before }) => {
      return [user, pluralize(all, 'event'), before > 0 ? `${before} of them earlier` : '']
    })
    return {
      document: { from: source.label, to: target.label, users, access },
      text: (style) =>
        lines(
          `${style.green('Copied')} ${pluralize(events, 'event')} of ${pluralize(users.length, 'user')} to ${target.label}; the copy is complete and checked.`,
          rows.length > 0 && table(rows, style.width),
          access.people + access.tokens > 0 &&
            `People: ${access.people}. Tokens: ${access.tokens}. Teams: ${access.teams}.`,
        ),
    }
  },
})

type StoreLocation = { readonly dir: string; readonly address: string | undefined; readonly label: string }

function storeLocationOf(text: string, session: Session): StoreLocation {
  if (isPostgresAddress(text))
    return { dir: session.places.directory(undefined), address: text, label: parseAddress(text).label }
  if (/^[a-z][a-z\d+.-]+:\/\//iu.test(text))
    throw invalid(
      'A store is a memory directory or an address that begins with postgres://.',
      'Write ./memory or postgres://user@host/database.',
    )
  const dir = resolve(session.places.workingDirectory(), text)
  return { dir, address: undefined, label: dir }
}

/** Opens the store at a location: for a memory directory, its SQLite file, even if CREDENCE_STORE is set. */
const withStore = <Result>(
  session: Session,
  { dir, address }: StoreLocation,
  use: (store: StoreCare) => Promise<Result>,
) =>
  session.memories.withPorts(dir, ({ store }) => use(store), {
    server: address === undefined ? undefined : () => openServer(dir, address),
  })

/** Throws if the journal or the index of a store is damaged. */
async function checkStore(session: Session, place: StoreLocation): Promise<void> {
  const findings = await withStore(session, place, (store) => store.verify())
  const wrong = findings.find(({ check, ok }) => !ok && (check === 'journal' || check === 'index'))
  if (wrong !== undefined)
    throw unavailable(`The store ${place.label} is damaged: ${wrong.detail}.`, 'Run `credence doctor` on it first.')
}

async function openTransfer({ dir, address }: StoreLocation, isSource: boolean): Promise<JournalTransfer> {
  if (address !== undefined) return openPostgresTransfer({ address })
  return openSqliteTransfer({ file: storeFile(dir), readonly: isSource, random: randomBytes })
}

async function withTransfers<Result>(
  source: StoreLocation,
  target: StoreLocation,
  use: (from: JournalTransfer, to: JournalTransfer) => Promise<Result>,
): Promise<Result> {
  const from = await openTransfer(source, true)
  try {
    const to = await openTransfer(target, false)
    try {
      return await use(from, to)
    } finally {
      await to.close()
    }
  } finally {
    await from.close()
  }
}
