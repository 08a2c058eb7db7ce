import { readFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { DamagedStore, MemoryError } from '../../../errors.ts'

/** The SQL files in this folder, in order. Append only. The schema version is the number of files that were applied. */
export const migrations: readonly string[] = [
  '001-first-schema',
  '002-candidates',
  '003-turns',
  '004-index-names',
  '005-request-salts',
  '006-slim-index',
  '007-recall-counts',
  '008-people',
  '009-token-use',
  '010-utc-offset',
  '011-doubtful-statements',
  '012-vectors',
  '013-sync',
  '014-feedback',
]

/** "Crdn": marks a SQLite database as a store of Credence. */
export const applicationId = 0x4372646e

/**
 * `new`: empty. `old`: some migrations are missing. `known`: up to date. Throws if this version must not change the database. The schema
 * number in the header is compared with the table of migrations, so that a damaged header is not mistaken for an older store.
 */
export const schemaState = (db: DatabaseSync, file: string): 'new' | 'old' | 'known' =>
  // In one transaction, because another process may migrate the store between two reads.
  inTransaction(db, 'BEGIN', () => readSchemaState(db, file))

/** Runs several statements as one transaction, or as part of the one that is open. */
function inTransaction<Result>(db: DatabaseSync, begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: () => Result): Result {
  if (db.isTransaction) return work()
  db.exec(begin)
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK')
  }
}

function readSchemaState(db: DatabaseSync, file: string): 'new' | 'old' | 'known' {
  const version = numberOf(db, 'user_version')
  const owner = numberOf(db, 'application_id')
  const tables = Number(db.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()?.tables)
  if (owner === 0 && version === 0 && tables === 0) return 'new'
  if (owner !== applicationId) {
    throw new MemoryError('invalid', `${file} is a database of another program, or its header is damaged.`, {
      hint: 'Nothing was changed. Name another directory for the memory, or restore a backup.',
    })
  }
  if (version > migrations.length && version < maxMigrations) {
    const allowed = `this version of Credence knows schemas up to ${migrations.length}`
    throw new MemoryError('invalid', `The store ${file} has schema ${version}; ${allowed}.`, {
      hint: 'Nothing was changed. Use the newer version that wrote it, or restore a backup.',
    })
  }
  const applied = tables === 0 ? 0 : db.prepare('SELECT max(number) AS newest FROM migrations').get()?.newest
  if (version < 1 || version !== applied) {
    const contradiction = `its header says schema ${version}, its list of migrations ${applied}`
    throw damagedStore(file, contradiction)
  }
  return version === migrations.length ? 'known' : 'old'
}

/** No version of Credence will reach this schema number, so a higher one is damage. */
const maxMigrations = 1_000

/**
 * Missing tables and indexes of the newest schema, and unexpected properties in the header. With a different encoding or sort order, SQLite
 * would read wrong texts and find nothing, without an error.
 */
export function schemaProblem(db: DatabaseSync): string | null {
  const missing = db
    .prepare('SELECT value FROM json_each(?) WHERE value NOT IN (SELECT name FROM sqlite_schema)')
    .all(JSON.stringify(schemaNames))
    .map(({ value }) => value)
  if (missing.length > 0) return `${missing.slice(0, 3).join(', ')} missing`
  const header = [
    ['encoding', db.prepare('PRAGMA encoding').get()?.encoding, 'UTF-8'],
    ['auto_vacuum', numberOf(db, 'auto_vacuum'), 0],
    // Schema formats before 4 ignore DESC.
    [
      'sort order',
      db.prepare(`SELECT "desc" FROM pragma_index_xinfo('beliefs_by_update') WHERE name = 'updated_at'`).get()?.desc,
      1,
    ],
  ] as const
  const wrong = header.find(([, found, written]) => found !== written)
  return wrong === undefined ? null : `its header has ${wrong[0]} ${wrong[1]}, not ${wrong[2]}`
}

/** Every table and index of the newest schema, and the tables of the full-text index. A test compares the list with a new store. */
export const schemaNames: readonly string[] = [
  'audience_scopes audiences belief_vectors belief_vectors_in_list beliefs beliefs_by_id beliefs_by_name beliefs_by_update',
  'beliefs_proposed beliefs_superseded changes changes_of_belief changes_of_event derivation events events_by_key forgotten_texts forgotten_texts_of_event',
  'events_of_user events_undoing feedback forms members members_holding_name members_pinned members_pinned_edited',
  'members_of_team members_standing migrations people phrase_prefixes remains recall_counts recall_days request_salts scopes sessions sync_events sync_events_of_device text_counts text_terms texts texts_config',
  'team_members teams texts_data texts_docsize texts_idx to_review tokens tokens_by_id tokens_invites tokens_of_person turn_postings turn_scopes turn_speakers turn_texts turn_vectors turn_vectors_in_list',
  'turns turns_by_id turns_by_message turns_by_time turns_by_words turns_erased turns_in_session turns_of_event turns_unjudged',
  'typos users words',
]
  .join(' ')
  .split(' ')

export const damagedStore = (file: string, problem: string, cause?: unknown): DamagedStore =>
  new DamagedStore(`The store ${file} is damaged: ${problem}.`, {
    hint: damageHint,
    ...(cause === undefined ? {} : { cause }),
  })

export const damageHint =
  'Nothing was changed. Restore a backup. `credence doctor` reports details; `credence doctor --set-aside` renames the store, so that a new one is created.'

/** Brings the schema up to date in one transaction. Several processes may do so at once. */
export function migrate(db: DatabaseSync, file: string): void {
  const applyMissing = (): void => {
    // Read again under the lock: another process may have migrated in the meantime.
    if (schemaState(db, file) === 'known') return
    const applied = numberOf(db, 'user_version')
    if (applied === 0) db.exec('CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT')
    for (const [index, name] of migrations.entries()) {
      if (index < applied) continue
      db.exec(readFileSync(new URL(`./${name}.sql`, import.meta.url), 'utf8'))
      db.prepare('INSERT INTO migrations (number, name) VALUES (?, ?)').run(index + 1, name)
    }
    db.exec(`PRAGMA user_version = ${migrations.length}; PRAGMA application_id = ${applicationId}`)
  }
  if (schemaState(db, file) !== 'known') inTransaction(db, 'BEGIN IMMEDIATE', applyMissing)
}

const numberOf = (db: DatabaseSync, pragma: string): number => Number(db.prepare(`PRAGMA ${pragma}`).get()?.[pragma])
