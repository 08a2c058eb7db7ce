import { forget } from '../change/forget.ts'
import { change, erased } from '../change/transaction.ts'
import type { Ports } from '../ports.ts'

const author = { actor: 'person', origin: 'admin' } as const
const everything = { limit: Number.MAX_SAFE_INTEGER, offset: 0 }

/** Removes every text of an owner: beliefs whatever their status, turns, and what was undone. The journal keeps receipts. */
export async function eraseMemory(ports: Ports, user: string): Promise<void> {
  const { store } = ports
  await change<null>(
    ports,
    { user, author, operation: 'erase a memory' },
    async () => {
      const { items: beliefs } = await store.list({ user }, everything)
      const { items: turns } = await store.listTurns({ user }, everything)
      if (beliefs.length + turns.length === 0) return { kind: 'nothing', result: null }
      const forgottenTurns = turns.map(({ id }) => id)
      return { kind: 'forget', changes: beliefs.map(erased), forgottenTurns, result: () => null }
    },
    async () => null,
  )
  for (let before: number | undefined; ; ) {
    const page = { limit: 100, hearing: true, ...(before === undefined ? {} : { before }) }
    const events = await store.events(user, page)
    for (const { number } of events.filter(({ kind }) => kind === 'undo'))
      for (const { beliefId, outcome } of await store.revisions(user, number)) {
        const last = outcome === 'absent' ? (await store.history(user, beliefId)).at(-1) : undefined
        if (last?.outcome === 'absent') await forget(ports, { user, author, scopes: [], reference: beliefId })
      }
    before = events.at(-1)?.number
    if (before === undefined) return
  }
}
