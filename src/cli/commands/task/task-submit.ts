import { setTimeout as sleep } from 'node:timers/promises'
import { MemoryError } from '../../../errors.ts'
import { runFolder } from '../../../eval/store/layout.ts'
import { bundleOf } from '../../../tasks/arena/bundle.ts'
import { type ArenaRequest, readEntry, requestsFor } from '../../../tasks/arena/requests.ts'
import { journalPath, referencesIn, type SubmissionJournal, submit } from '../../../tasks/arena/submit.ts'
import { readTaskRun } from '../../../tasks/report/read-task-run.ts'
import { defineCommand, flag, one, text } from '../../command.ts'
import { harmless } from '../../output.ts'
import { columns } from '../../text-layout.ts'
import { UsageError } from '../../usage-error.ts'
import { evalStore, storeOptions } from '../evaluate/benchmark-store.ts'

const shownKey = 'Bearer $CREDENCE_ARENA_KEY'

export const taskSubmit = defineCommand({
  args: { run: one('A run of tasks.') },
  options: {
    match: text('<id>', 'The match of the arena.'),
    baseUrl: text('<url>', 'The arena: https, or http on this machine.'),
    send: flag('Send it. Without this the five requests are only printed.'),
    ...storeOptions,
  },
  description:
    'Five requests: register, read the brief, upload the Markdown, the artifact and the report. The key is read from CREDENCE_ARENA_KEY and never shown. Every step that is done is kept with the run, and the same command goes on after the last one.',
  examples: [
    {
      command: 'credence task submit RUN --match 24 --base-url https://arena.example',
      effect: 'Shows what would be sent.',
    },
    { command: 'credence task submit RUN --match 24 --base-url https://arena.example --send', effect: 'Sends it.' },
  ],
  async run({ args: { run: runId }, options }, session) {
    const { match, baseUrl, send } = options
    if (match === undefined || baseUrl === undefined) {
      throw new UsageError(`${match === undefined ? '--match' : '--base-url'} is missing.`)
    }
    const { root } = evalStore(session, options)
    const entry = readEntry(baseUrl, match)
    const whole = await readTaskRun(root, runId)
    const changed = whole.tasks.flatMap(({ changed: files }) => files)
    if (changed.length > 0) {
      throw new MemoryError(
        'invalid',
        `The evidence of "${runId}" is not what it was: ${changed.slice(0, 3).join(', ')}.`,
        {
          hint: 'Run the tasks again; what was changed is not submitted.',
        },
      )
    }
    const bundle = await bundleOf(whole)
    if (!send) {
      const requests = requestsFor(entry, bundle, { markdown: null, artifact: null })
      return {
        document: { ok: true, sent: false, requests: requests.map(described) },
        text: () => harmless(requests.map(requestText).join('\n\n')),
        notes: ['Nothing was sent. Add --send to send it.'],
      }
    }
    const { arenaKey = '' } = await session.taskWork()
    if (arenaKey.trim() === '') {
      throw new MemoryError('unavailable', 'CREDENCE_ARENA_KEY is not set.', {
        hint: 'Set it to the key the arena gave you.',
      })
    }
    const folder = runFolder(root, runId)
    const { signal, release } = session.interruption()
    try {
      const fresh: string[] = []
      const journal = await submit(entry, bundle, {
        key: arenaKey.trim(),
        runFolder: folder,
        now: () => new Date(),
        signal,
        wait: async (ms) => {
          await sleep(ms, undefined, { signal })
        },
        onStep: ({ step }, isNew) => {
          if (isNew) fresh.push(step)
        },
      })
      const rows = journal.steps.map(({ step, status, at, reference }) => [
        step,
        String(status),
        fresh.includes(step) ? 'now' : `before, ${at}`,
        reference ?? '',
      ])
      return {
        document: {
          ok: true,
          sent: true,
          journal: journalPath(folder, entry),
          references: referencesIn(journal),
          steps: journal.steps,
        },
        text: () => harmless(columns([['step', 'status', 'when', 'reference'], ...rows], { indent: 0 })),
        notes: missingReferences(journal),
      }
    } finally {
      release()
    }
  },
})

/** A report that refers to nothing may count for nothing, so that is said. */
function missingReferences(journal: SubmissionJournal): readonly string[] {
  const missing = Object.entries(referencesIn(journal)).flatMap(([what, found]) => (found === null ? [what] : []))
  if (missing.length === 0) return []
  return [
    `warning: The arena did not say where it put the ${missing.join(' and the ')}, so the report does not either.`,
  ]
}

const longestShown = 400

/** A request as it can be shown: without the key, and with the sizes of what is too long to read. */
function described({ step, method, url, headers, body }: ArenaRequest) {
  const shown = (value: unknown): unknown =>
    typeof value === 'string' && value.length > longestShown
      ? `${value.slice(0, 80)}… (${value.length} characters)`
      : value
  const content =
    body.kind === 'none'
      ? null
      : body.kind === 'form'
        ? { ...body.fields, file: `${body.filename} (${body.file.length} bytes)` }
        : Object.fromEntries(
            Object.entries(body.value).map(([name, value]) => [
              name,
              Array.isArray(value) ? `${value.length} entries` : shown(value),
            ]),
          )
  return { step, method, url, headers: { ...headers, Authorization: shownKey }, kind: body.kind, body: content }
}

function requestText(request: ArenaRequest): string {
  const { step, method, url, headers, kind, body } = described(request)
  return [
    `${method} ${url}   (${step})`,
    ...Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`),
    ...(body === null ? [] : [`  ${kind === 'form' ? 'multipart/form-data' : 'application/json'}`]),
    ...Object.entries(body ?? {}).map(
      ([name, value]) =>
        `    ${name}: ${typeof value === 'string' ? value.replaceAll('\n', ' ') : JSON.stringify(value)}`,
    ),
  ].join('\n')
}
