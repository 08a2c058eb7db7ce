import { setTimeout as sleep } from 'node:timers/promises'
import { MemoryError } from '../../../errors.ts'
import { bundleOf } from '../../../tasks/report/bundle.ts'
import { readTaskRun } from '../../../tasks/report/read-task-run.ts'
import { type ArenaRequest, readEntry, referencesIn, requestsFor, submit } from '../../../tasks/report/submit.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import { flag, one, text } from '../../command/options.ts'
import { columns, harmless } from '../../text/output.ts'
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
    'Five requests: register, read the brief, upload the Markdown, the artifact and the report. The key is read from CREDENCE_ARENA_KEY and never shown. A submission that broke off can be sent again.',
  examples: {
    'credence task submit RUN --match 24 --base-url https://arena.example': 'Shows what would be sent.',
    'credence task submit RUN --match 24 --base-url https://arena.example --send': 'Sends it.',
  },
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
      const message = `The evidence of "${runId}" was changed after the run: ${changed.slice(0, 3).join(', ')}.`
      throw new MemoryError('invalid', message, { hint: 'Run the tasks again; changed evidence is not submitted.' })
    }
    const bundle = await bundleOf(whole)
    if (!send) {
      const requests = requestsFor(entry, bundle)
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
    const { signal, release } = session.interruption()
    try {
      const steps = await submit(entry, bundle, {
        key: arenaKey.trim(),
        signal,
        wait: (ms) => sleep(ms, undefined, { signal }),
      })
      const references = referencesIn(steps)
      const missing = Object.entries(references).flatMap(([name, found]) => (found === null ? [name] : []))
      const rows = steps.map(({ step, status, reference }) => [step, String(status), reference ?? ''])
      return {
        document: { ok: true, sent: true, references, steps },
        text: () => harmless(columns([['step', 'status', 'reference'], ...rows], { indent: 0 })),
        // A report that refers to no upload may count for nothing.
        notes: missing.map((name) => `warning: The arena did not say where it put the ${name}.`),
      }
    } finally {
      release()
    }
  },
})

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
