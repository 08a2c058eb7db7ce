import { z } from 'zod'
import { route, text } from '../route.ts'

const Mirror = z.object({
  exists: z.boolean(),
  file: z.string().nullable(),
  isInSync: z.boolean().nullable(),
  items: z.int().nullable(),
  lastSyncAt: z.string().nullable(),
  problems: z.array(z.string()),
})

const Finding = z.object({ check: z.string(), ok: z.boolean(), detail: z.string() })

/** The door, the state of the memory, and the mirror. */
export const systemRoutes = {
  login: route('POST', '/login', {
    summary: 'Exchange the token of the login link for a cookie.',
    body: z.strictObject({ token: text(200) }),
    answer: z.object({ ok: z.literal(true) }),
    access: 'anybody',
  }),
  logout: route('POST', '/logout', {
    summary: 'Take the cookie back.',
    answer: z.object({ ok: z.literal(true) }),
  }),
  health: route('GET', '/health', {
    summary: 'Which memory this is, and how much is in it.',
    answer: z.object({
      version: z.string(),
      dir: z.string(),
      user: z.string(),
      scopes: z.array(z.string()).describe('Active where a request names none.'),
      homeScopes: z.array(z.string()).describe('Where something new goes.'),
      isDemo: z.boolean().describe('Whether all of it is gone when the server ends.'),
      counts: z.object({
        current: z.int(),
        retired: z.int(),
        proposals: z.int(),
        candidates: z.int(),
        pinned: z.int(),
        questions: z.int(),
        scopes: z.int(),
      }),
      journalHead: z.int().describe('The number of the newest change; 0 when there is none.'),
      mirror: Mirror,
      store: z.object({ file: z.string(), bytes: z.int(), logBytes: z.int() }),
      evals: z.object({ root: z.string(), running: z.string().nullable().describe('The pack that is being run.') }),
    }),
  }),
  doctor: route('GET', '/doctor', {
    summary: 'Check that the memory is sound. A large store takes a while; the answer is kept for a minute.',
    answer: z.object({ ok: z.boolean(), checkedAt: z.string(), findings: z.array(Finding) }),
  }),
  events: route('GET', '/events', {
    summary:
      'Server-sent events: `hello` at once, `journal` when anybody changed the memory, `evals` when runs changed. Data is JSON.',
    answer: z.object({
      journalHead: z.int(),
      evalsStamp: z.string().describe('Changes when a run, a pack or a baseline does.'),
    }),
    form: 'stream',
  }),
  mirror: route('GET', '/mirror', {
    summary: 'How MEMORY.md and the store stand to each other.',
    answer: Mirror,
  }),
  syncMirror: route('POST', '/mirror/sync', {
    summary: 'Bring MEMORY.md and the store into line.',
    answer: Mirror,
  }),
}
