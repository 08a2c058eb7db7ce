import { type ChangeRequest, change, type Ports } from '../change/transaction.ts'
import { type BuriedIds, type ImportPlan, planImport } from './plan-import.ts'
import { type PlacedRecord, readRecords } from './read-records.ts'

export type ImportRequest = Omit<ChangeRequest, 'key'> & {
  /** A JSON array of beliefs, one belief, or JSON Lines; or any Markdown. */
  readonly text: string
  /** What the text is. Default `records`. */
  readonly format?: 'records' | 'markdown'
  /** Where the text came from; the origin of beliefs that name none. */
  readonly source: string
  /** For beliefs that name no scope. */
  readonly scopes: readonly string[]
}

export type Imported = {
  readonly added: number
  /** Already here, word for word. */
  readonly unchanged: number
  /** Here under another id, saying the same; it counts as said once more. */
  readonly reinforced: number
  /** Took the place of something that said otherwise. */
  readonly corrected: number
  /** Would take the place of something written by a higher authority. */
  readonly proposed: number
  readonly warnings: readonly string[]
  /** One for each user in the file that something changed for. */
  readonly events: readonly number[]
}

/** Takes in a file of beliefs: the whole of it or, when any of it is wrong, nothing. Doing it again changes nothing. */
export async function importBeliefs(ports: Ports, request: ImportRequest): Promise<Imported> {
  const { records, warnings } =
    request.format === 'markdown' ? await readAnyMarkdown(ports, request) : readRecords(ports, request)
  return importRecords(ports, request, records, warnings)
}

/** The parser is large, and most imports do without it. */
const readAnyMarkdown = async (ports: Ports, request: ImportRequest) =>
  (await import('../markdown/read-markdown.ts')).readMarkdown(ports, request)

/** Takes in beliefs that have been read already. */
export async function importRecords(
  ports: Ports,
  request: Omit<ChangeRequest, 'key'>,
  records: readonly PlacedRecord[],
  warnings: readonly string[] = [],
): Promise<Imported> {
  const { actor } = request.author
  const parts = [...Map.groupBy(records, ({ record }) => record.user)]
  // Nothing is written for the first user before it is known that the last one's records can be.
  if (parts.length > 1) {
    const at = ports.now().toISOString()
    for (const [, placed] of parts) await planImport(ports, { actor, placed, at, buried: new Map() })
  }
  const tally = { added: 0, unchanged: 0, reinforced: 0, corrected: 0, proposed: 0 }
  const told = [...warnings]
  const events: number[] = []
  for (const [user, placed] of parts) {
    const { plan, event } = await importFor(ports, { user, author: request.author, placed })
    for (const kind of Object.keys(tally) as (keyof typeof tally)[]) tally[kind] += plan.tally[kind]
    told.push(...plan.warnings)
    if (event !== null) events.push(event)
  }
  return { ...tally, warnings: told, events }
}

async function importFor(
  ports: Ports,
  { user, author, placed }: Omit<ChangeRequest, 'key'> & { readonly placed: readonly PlacedRecord[] },
): Promise<{ readonly plan: ImportPlan; readonly event: number | null }> {
  let isRetry = false
  return change(
    ports,
    { user, author, operation: 'import' },
    async (at) => {
      // Ids that were used before are rare, and looking for them is not free: only once the store has refused.
      const buried = isRetry ? await buriedIds(ports, user, placed) : new Map()
      isRetry = true
      const plan = await planImport(ports, { actor: author.actor, placed, at, buried })
      if (plan.changes.length === 0) return { kind: 'nothing', result: { plan, event: null } }
      return { kind: 'import', changes: plan.changes, result: (event) => ({ plan, event: event.number }) }
    },
    () => Promise.reject(new Error('an import has no key to replay')),
  )
}

async function buriedIds({ store }: Ports, user: string, placed: readonly PlacedRecord[]): Promise<BuriedIds> {
  const buried = new Map<string, number | null>()
  for (const { record } of placed) {
    const revisions = await store.history(user, record.id)
    const last = revisions.at(-1)
    if (last?.outcome === 'erased') buried.set(record.id, null)
    if (last?.outcome === 'absent')
      buried.set(record.id, Math.max(...revisions.map(({ belief }) => belief?.version ?? 0)))
  }
  return buried
}
