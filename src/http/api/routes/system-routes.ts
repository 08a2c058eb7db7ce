import { z } from 'zod'
import * as shape from '../memory-shapes.ts'
import { done, forAgents, forAnybody, forInstallation, listOf, paging, route, text } from '../route.ts'

const Mirror = z.object({
  exists: z.boolean(),
  file: z.string().nullable(),
  isInSync: z.boolean().nullable(),
  items: z.int().nullable(),
  lastSyncAt: z.string().nullable(),
  conflicts: z.int().describe('Files that keep saves of MEMORY.md which could not be merged.'),
  isHeld: z.boolean().describe('Whether an edit that removes many lines waits for a person.'),
  problems: z.array(z.string()),
})

const Finding = z.object({ check: z.string(), ok: z.boolean(), detail: z.string() })

/** The door, the state of the memory, and the mirror. */
export const systemRoutes = {
  login: forAnybody('POST', '/login', {
    summary: 'Exchange the token of the login link for a cookie.',
    body: z.strictObject({ token: text(200) }),
    answer: done,
  }),
  logout: route('POST', '/logout', {
    summary: 'End the session of the cookie.',
    answer: done,
  }),
  health: forAgents('GET', '/health', {
    summary: 'Which memory this is, and how much is in it.',
    answer: z.object({
      version: z.string(),
      dir: z.string(),
      user: z.string(),
      scopes: z.array(z.string()).describe('Active where a request names none.'),
      homeScopes: z.array(z.string()).describe('Where something new goes.'),
      isDemo: z.boolean().describe('Whether all of it is gone when the server ends.'),
      isInstallation: z
        .boolean()
        .describe('Whether MEMORY.md, evaluation, hosts and checks are open to the caller, and not only a memory.'),
      command: z.string().describe('What a person types to start Credence on this machine, such as `npx credence`.'),
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
  doctor: forInstallation('GET', '/doctor', {
    summary: 'Check that the memory is sound. A large store takes a while; the answer is kept for a minute.',
    answer: z.object({ ok: z.boolean(), checkedAt: z.string(), findings: z.array(Finding) }),
  }),
  doctorProgress: forInstallation('GET', '/doctor/progress', {
    summary: 'How far the check under way has come.',
    answer: z.object({
      progress: z.object({ label: z.string(), done: z.int(), total: z.int() }).nullable(),
    }),
  }),
  hosts: forInstallation('GET', '/hosts', {
    summary: 'Which programs are connected to the memory, and when they last used it.',
    answer: z.object({
      items: z.array(
        z.object({
          host: z.string(),
          connected: z.enum(['yes', 'partly', 'no']),
          detected: z.boolean().describe('A file of the user’s own configuration of the program exists.'),
          levels: z.array(z.string()),
          files: z.array(z.object({ path: z.string(), connected: z.boolean(), problem: z.string().nullable() })),
          version: z.object({ at: z.string(), version: z.string() }).nullable(),
          lastHook: z.object({ at: z.string(), event: z.string(), outcome: z.string() }).nullable(),
          lastCall: z.object({ at: z.string(), tool: z.string() }).nullable(),
        }),
      ),
    }),
  }),
  growth: route('GET', '/growth', {
    summary: 'How the memory grew and was used, day by day: numbers only.',
    answer: z.object({
      beliefs: z
        .array(
          z.object({
            day: z.string(),
            actor: shape.ActorKind,
            origin: z.string(),
            scope: z.string().nullable().describe('Null where the text was forgotten since.'),
            beliefs: z.int(),
          }),
        )
        .describe('Beliefs that were first remembered on a day, oldest first.'),
      recalls: z.array(z.object({ day: z.string(), recalls: z.int(), silent: z.int(), meanMs: z.number() })),
    }),
  }),
  pastBeliefs: route('GET', '/growth/beliefs', {
    summary:
      'The beliefs that held at an earlier time, latest changed first; with a query those with its words, best first.',
    query: z.strictObject({
      asOf: text(40).describe('A time, or a day, which means its end in the time zone of the server.'),
      query: text(2_000).optional(),
      ...paging(50),
    }),
    answer: listOf(shape.Belief),
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
  mirror: forInstallation('GET', '/mirror', {
    summary: 'How MEMORY.md and the store stand to each other.',
    answer: Mirror,
  }),
  syncMirror: forInstallation('POST', '/mirror/sync', {
    summary: 'Bring MEMORY.md and the store into line.',
    answer: Mirror,
  }),
}
