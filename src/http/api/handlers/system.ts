import { kept } from '../../kept.ts'
import type { Answer } from '../contract.ts'
import type { Desk, Handlers } from '../handlers.ts'

const doctorKeptMs = 60_000
/** Looking at the mirror reads files; a page asks for the health of a memory often. */
const mirrorKeptMs = 2_000
/** Counting looks at every belief; while somebody writes all the time, it may take this share of it at most. */
const countingShare = 0.02

export function systemHandlers(desk: Desk): Handlers<'health' | 'doctor' | 'mirror' | 'syncMirror'> {
  const { clock } = desk
  const mirror = kept(desk.mirror.status, { clock, keptMs: mirrorKeptMs })
  const counts = keptCounts(desk)
  const doctor = kept(async () => ({ ...(await desk.background.doctor()), checkedAt: desk.now().toISOString() }), {
    clock,
    keptMs: doctorKeptMs,
  })
  return {
    health: async () => {
      const { number: head } = await desk.store.head()
      return {
        version: desk.version,
        dir: desk.dir,
        user: desk.user,
        scopes: desk.scopes,
        homeScopes: desk.homeScopes,
        isDemo: desk.isDemo,
        counts: await counts(head),
        journalHead: head,
        mirror: await mirror(),
        store: desk.storeFile(),
        evals: { root: desk.evalRoot, running: desk.background.running() },
      }
    },
    doctor,
    mirror: desk.mirror.status,
    syncMirror: desk.mirror.sync,
  }
}

/** Counts again when something has changed, unless that was done a moment ago. */
function keptCounts(desk: Desk): (head: number) => Promise<Answer<'health'>['counts']> {
  let last: { head: number; at: number; tookMs: number; counts: Answer<'health'>['counts'] } | null = null
  return async (head) => {
    const now = desk.clock()
    if (last !== null && (last.head === head || now - last.at < last.tookMs / countingShare)) return last.counts
    const counts = await countBeliefs(desk)
    last = { head, at: now, tookMs: desk.clock() - now, counts }
    return counts
  }
}

async function countBeliefs({ memories: { dashboard } }: Desk): Promise<Answer<'health'>['counts']> {
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
