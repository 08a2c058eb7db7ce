import { findBeliefs, listBeliefs } from '../../../memory/list.ts'
import { asOf } from '../../../memory/recall/as-of.ts'
import type { RouteAnswer } from '../contract.ts'
import { cached, cachedByKey, cachedUntilChange, type Handlers, type ServerDeps } from '../server-deps.ts'

const doctorTtlMs = 60_000
/** The status of the mirror reads files, and a page asks for the health of a memory often. */
const mirrorTtlMs = 2_000
/** Counting reads every belief; during constant writes it takes at most this share of the time. */
const countingShare = 0.02

export function systemHandlers(
  deps: ServerDeps,
): Handlers<'health' | 'doctor' | 'doctorProgress' | 'hosts' | 'growth' | 'pastBeliefs' | 'mirror' | 'syncMirror'> {
  const { clock } = deps
  const mirror = cached(deps.mirror.status, { clock, ttlMs: mirrorTtlMs })
  const counts = cachedCounts(deps)
  // It takes time in proportion to the journal to read.
  const past = cachedByKey((key: string) => asOf(deps.ports, deps.user, key.slice(key.indexOf(' ') + 1)))
  // It reads the journal.
  const growth = cachedUntilChange(deps, async () => (await deps.ports.counts?.growth(deps.user)) ?? [])
  const doctor = async () => ({ ...(await deps.background.doctor()), checkedAt: deps.now().toISOString() })
  return {
    health: async () => {
      const { number: head } = await deps.store.head()
      return {
        version: deps.version,
        dir: deps.dir,
        user: deps.user,
        scopes: deps.scopes,
        homeScopes: deps.homeScopes,
        isDemo: deps.isDemo,
        isInstallation: deps.isInstallation,
        command: deps.command,
        counts: await counts(head),
        journalHead: head,
        mirror: await mirror(),
        store: deps.storeFile(),
        evals: { root: deps.evalRoot, running: deps.background.running() },
      }
    },
    doctor: cached(doctor, { clock, ttlMs: doctorTtlMs }),
    doctorProgress: async () => ({ progress: deps.background.checking() }),
    hosts: async () => ({ items: deps.hosts() }),
    growth: async () => ({
      beliefs: await growth(),
      recalls: (await deps.ports.counts?.recallDays(deps.user)) ?? [],
    }),
    pastBeliefs: async ({ query: { asOf: time, query, ...page } }) => {
      const request = { ...page, user: deps.user, current: true }
      const ports = await past(`${(await deps.store.head()).number} ${time}`)
      if (query === undefined || query.trim() === '') return listBeliefs(ports, request)
      const { items, total } = await findBeliefs(ports, { ...request, query })
      return { items: items.map(({ belief }) => belief), total }
    },
    mirror: deps.mirror.status,
    syncMirror: deps.mirror.sync,
  }
}

type Counts = RouteAnswer<'health'>['counts']

/** Counts again after a change, unless the last count was a moment ago. */
function cachedCounts(deps: ServerDeps): (head: number) => Promise<Counts> {
  let last: { head: number; at: number; tookMs: number; counts: Counts } | null = null
  return async (head) => {
    const now = deps.clock()
    if (last !== null && (last.head === head || now - last.at < last.tookMs / countingShare)) return last.counts
    const counts = await countBeliefs(deps)
    last = { head, at: now, tookMs: deps.clock() - now, counts }
    return counts
  }
}

async function countBeliefs({ memories: { dashboard } }: ServerDeps): Promise<Counts> {
  const count = async (filter: Parameters<typeof dashboard.list>[0]): Promise<number> =>
    (await dashboard.list({ ...filter, limit: 1 })).total
  const [proposals, candidates] = [await count({ proposals: true }), await count({ candidates: true })]
  return {
    current: await count({ current: true }),
    retired: (await count({ current: false })) - proposals - candidates,
    proposals,
    candidates,
    pinned: await count({ current: true, pinned: true }),
    questions: await count({ current: true, types: ['open_question'] }),
    scopes: (await dashboard.scopes()).length,
  }
}
