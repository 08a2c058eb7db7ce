import { visibleScopes } from '../beliefs/scope.ts'
import { findBeliefs, listBeliefs } from '../memory/list.ts'
import { asOf } from '../memory/recall/as-of.ts'
import { optional, paging, text } from './field.ts'
import { noMirror } from './mirror-report.ts'
import { answerInHttpLayer, type Call, operation, servedBy, tool } from './operation.ts'
import { cacheFor, cacheForMs, cacheUntilChange, type Installation, type ServedMemory } from './served-memory.ts'
import { isInView } from './view.ts'

const doctorTtlMs = 60_000
/** How long the mirror status is cached: computing it reads files, and pages request the health of a memory often. */
const mirrorTtlMs = 2_000
/** The maximum share of time spent on counting during constant writes, because counting reads every belief. */
const countingShare = 0.02

/** Logging in and out, the state of the memory, and the mirror. */
export const system = {
  login: operation({
    summary: 'Exchange the token of the login link for a cookie.',
    access: 'anybody',
    http: 'POST /login',
    input: { token: text(200) },
    run: answerInHttpLayer<{ readonly ok: true }>,
  }),
  logout: operation({
    summary: 'End the session of the cookie.',
    http: 'POST /logout',
    input: {},
    run: answerInHttpLayer<{ readonly ok: true }>,
  }),
  sync: operation({
    summary: 'Answer a message of another device of the person, as `credence sync` sends it.',
    http: 'POST /sync',
    input: { message: text(undefined, 'JSON, compressed with gzip, in base64.') },
    run: async (call, { message }) => {
      const { answerPacked } = await import('../memory/sync/messages.ts')
      return { reply: await answerPacked(await syncOf(call), message) }
    },
  }),
  syncStatus: operation({
    summary: 'The other devices of the person, and how many changes are newer than the last sync with each target.',
    http: 'GET /sync',
    input: {},
    run: async (call) => (await import('../memory/sync/exchange.ts')).syncStatus(await syncOf(call)),
  }),
  health: operation({
    summary: 'Which memory this is, and how much is in it.',
    access: 'agents',
    http: 'GET /health',
    input: {},
    run: async (call) => {
      const served = servedBy(call)
      const { view, server, installation } = served
      const { number: head } = await served.ports.store.head()
      return {
        version: server.version,
        dir: installation?.dir ?? '',
        user: view.user,
        scopes: view.scopes,
        homeScopes: view.homeScopes,
        isDemo: server.isDemo,
        isInstallation: installation !== null,
        command: server.command,
        counts: await countsAt(served, head),
        // Cached, because counting reads every turn.
        meaning: await cacheForMs(served, 'meaning', mirrorTtlMs, () => call.memory.meaningStatus()),
        journalHead: head,
        mirror:
          installation === null
            ? noMirror
            : await cacheForMs(served, 'mirror', mirrorTtlMs, () => installation.mirror.status()),
        store: installation?.storeFile() ?? { file: '', bytes: 0, logBytes: 0 },
        evals: { root: installation?.evals.root ?? '', running: installation?.background.running() ?? null },
      }
    },
    tool: tool({
      name: 'memory_status',
      title: 'Status of memory',
      description:
        'Show the scopes in view and their sizes, the scope of new beliefs, and whether proposals wait for the person. ' +
        'Use it when the person asks about the memory itself, or when memory_search finds nothing that should be there. ' +
        'Do not use it to look for content.',
      input: {},
      async run({ memory, view, author, version }) {
        const visible = visibleScopes(view.scopes)
        const counts = new Map((await memory.scopes()).map(({ scope, beliefs }) => [scope, beliefs]))
        const waiting = (await memory.proposals()).filter(({ proposal }) => isInView(proposal, view.scopes, view.agent))
        const [last] = await memory.events({ limit: 1 })
        return {
          user: view.user,
          inView: visible.map((scope) => ({ scope, beliefs: counts.get(scope) ?? 0 })),
          /** Where memory_remember stores a statement without a scope. */
          writesTo: view.homeScopes,
          /** Number of the person's other scopes, which are not listed: name one only if the person does. */
          otherScopes: [...counts.keys()].filter((scope) => !visible.includes(scope)).length,
          /** Number of proposals in view that wait for the person. */
          proposals: waiting.length,
          lastChangeAt: last?.at ?? null,
          /** The author of your changes. */
          you: `${author.actor}:${author.origin}`,
          version,
        }
      },
    }),
  }),
  doctor: operation({
    summary: 'Check that the memory is sound. A large store takes a while; the answer is kept for a minute.',
    access: 'installation',
    http: 'GET /doctor',
    input: {},
    run: async (call) => {
      const served = servedBy(call)
      const { background } = installationOf(call)
      return cacheForMs(served, 'doctor', doctorTtlMs, async () => ({
        ...(await background.doctor()),
        checkedAt: served.server.now().toISOString(),
      }))
    },
  }),
  doctorProgress: operation({
    summary: 'The progress of the running check.',
    access: 'installation',
    http: 'GET /doctor/progress',
    input: {},
    run: async (call) => ({ progress: installationOf(call).background.checking() }),
  }),
  hosts: operation({
    summary: 'Which programs are connected to the memory, and when they last used it.',
    access: 'installation',
    http: 'GET /hosts',
    input: {},
    run: async (call) => ({ items: await installationOf(call).hosts() }),
  }),
  growth: operation({
    summary: 'How the memory grew and was used, day by day: numbers only.',
    http: 'GET /growth',
    input: {},
    run: async (call) => {
      const served = servedBy(call)
      const { counts } = served.ports
      const { user } = served.view
      // Cached, because it reads the whole journal.
      const beliefs = await cacheUntilChange(served, 'growth', async () => (await counts?.growth(user)) ?? [])
      return { beliefs, recalls: (await counts?.recallDays(user)) ?? [] }
    },
  }),
  pastBeliefs: operation({
    summary:
      'The beliefs that were current at an earlier time, latest changed first; with a query, those that contain its words, best first.',
    http: 'GET /growth/beliefs',
    input: {
      asOf: text(40, 'A time, or a day, which means its end in the time zone of the server.'),
      query: optional(text(2_000)),
      ...paging(50),
    },
    run: async (call, { asOf: time, query, ...page }) => {
      const served = servedBy(call)
      const { user } = served.view
      const request = { ...page, user, current: true }
      // Cached by the head of the journal, because reading takes time proportional to its length.
      const key = `${(await served.ports.store.head()).number} ${time}`
      const ports = await cacheFor(served, 'past', key, () => asOf(served.ports, user, time))
      if (query === undefined || query.trim() === '') return listBeliefs(ports, request)
      const { items, total } = await findBeliefs(ports, { ...request, query })
      return { items: items.map(({ belief }) => belief), total }
    },
  }),
  events: operation({
    summary:
      'Server-sent events: `hello` at the start, `journal` when the memory has changed, `evals` when runs have changed. Data is JSON.',
    http: 'GET /events',
    isStream: true,
    input: {},
    /** `evalsStamp` changes when a run, a pack or a baseline changes. */
    run: answerInHttpLayer<{ readonly journalHead: number; readonly evalsStamp: string }>,
  }),
  mirror: operation({
    summary: 'Whether MEMORY.md and the store agree.',
    access: 'installation',
    http: 'GET /mirror',
    input: {},
    run: (call) => installationOf(call).mirror.status(),
  }),
  syncMirror: operation({
    summary: 'Synchronise MEMORY.md and the store.',
    access: 'installation',
    http: 'POST /mirror/sync',
    input: {},
    run: (call) => installationOf(call).mirror.sync(),
  }),
}

async function syncOf(call: Call) {
  const { ports, view } = servedBy(call)
  return (await import('../memory/sync/exchange.ts')).openSyncContext(ports, view.user)
}

/** The installation of a call. The access `installation` must have been checked before. */
export function installationOf(call: Call): Installation {
  const { installation } = servedBy(call)
  if (installation === null) throw new Error('This operation needs the installation.')
  return installation
}

type Counts = Awaited<ReturnType<typeof countBeliefs>>
type LastCount = { readonly head: number; readonly at: number; readonly tookMs: number; readonly counts: Counts }
const lastCounts = new WeakMap<ServedMemory, LastCount>()

/** Counts again after a change, unless the last count is too recent for `countingShare`. */
async function countsAt(served: ServedMemory, head: number): Promise<Counts> {
  const { clock } = served.server
  const last = lastCounts.get(served)
  const at = clock()
  if (last !== undefined && (last.head === head || at - last.at < last.tookMs / countingShare)) return last.counts
  const counts = await countBeliefs(served)
  lastCounts.set(served, { head, at, tookMs: clock() - at, counts })
  return counts
}

async function countBeliefs({ memories: { dashboard } }: ServedMemory) {
  const count = async (filter: Parameters<typeof dashboard.list>[0]): Promise<number> =>
    (await dashboard.list({ ...filter, limit: 1 })).total
  const proposals = await count({ proposals: true })
  const candidates = await count({ candidates: true })
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
