import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { invalid } from '../../../errors.ts'
import { runFolder } from '../../../eval/store/documents.ts'
import { readTextFile } from '../../../files/read-text.ts'
import { buildBundle } from '../../../tasks/report/bundle.ts'
import { readTaskRun } from '../../../tasks/report/read-task-run.ts'
import { readSubmission, type SubmissionRequest, submissionRequests, submit } from '../../../tasks/report/submit.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import { flag, one, text } from '../../command/options.ts'
import { evalStore, evalStoreOptions } from '../evaluate/benchmark-store.ts'

export const taskSubmit = defineCommand({
  args: { run: one('A run of tasks.') },
  options: {
    arena: text(
      '<url>',
      'The page of the match, such as https://arena.example/matches/24; the arena alone with --steps.',
    ),
    steps: text('<file>', 'The JSON of the workflow, if the page shows other steps than the usual five.'),
    dryRun: flag('Show the requests and send nothing.'),
    yes: flag('Send without asking.'),
    ...evalStoreOptions,
  },
  description:
    'Registers, reads the brief, and uploads the report as Markdown, the workspaces and the figures. Shows every request before it asks. A key in CREDENCE_ARENA_KEY is sent with the requests and never shown. Requests that fail are repeated; after an interruption the same command continues, and nothing is submitted twice.',
  examples: {
    'credence task submit RUN --arena https://arena.example/matches/24 --dry-run': 'Shows the five requests.',
    'credence task submit RUN --arena https://arena.example --steps workflow.json': 'Sends the steps of a file.',
  },
  async run({ args: { run: runId }, options }, session) {
    const { arena, steps: file, dryRun, yes } = options
    if (arena === undefined) throw new UsageError('--arena is missing.', 'Give the page of the match.')
    const { root } = evalStore(session, options)
    const submission = readSubmission(
      arena,
      file === undefined ? null : readTextFile(resolve(session.places.workingDirectory(), file)),
    )
    const whole = await readTaskRun(root, runId)
    const changed = whole.tasks.flatMap(({ changed: files }) => files)
    if (changed.length > 0) {
      const message = `The evidence of "${runId}" was changed after the run: ${changed.slice(0, 3).join(', ')}.`
      throw invalid(message, 'Run the tasks again; changed evidence is not submitted.')
    }
    const bundle = await buildBundle(whole)
    const requests = submissionRequests(submission, bundle)
    const shown = requests.map(requestText).join('\n\n')
    const unsent = { sent: false, requests: requests.map(describeRequest) }
    if (dryRun) return { document: unsent, text: () => shown, notes: ['Nothing was sent.'] }
    const refusal = new UsageError(
      `${requests.length} requests would be sent, and there is no terminal to ask for confirmation.`,
      'Give --dry-run to see them, and --yes to send them.',
    )
    if (!yes && !(await session.terminal.confirm(`${shown}\n\nSend this to ${submission.arena}?`, refusal)))
      return { document: unsent, text: () => 'Nothing was sent.' }
    const { arenaKey: key } = await session.taskWork()
    const { signal, release } = session.program.interruption()
    try {
      const done = await submit(submission, bundle, {
        key,
        signal,
        runFolder: runFolder(root, runId),
        wait: (ms) => sleep(ms, undefined, { signal }),
      })
      const unnamed = done.filter(
        ({ step, reference }) => /^upload_(?:markdown|artifact)$/u.test(step) && reference === null,
      )
      return {
        document: { sent: true, steps: done },
        shown: done.map(({ step, status, reference }) => ({ step, status, reference })),
        // A warning, because the arena may not count a report without a reference to an upload.
        notes: unnamed.map(({ step }) => `warning: The answer to ${step} has no reference, so the report has none.`),
      }
    } finally {
      release()
    }
  },
})

const maxShown = 80

/** A request, with long texts and bytes shortened for display. */
function describeRequest({ step, method, url, idempotencyKey, body, file }: SubmissionRequest) {
  const brief = (value: unknown): unknown => {
    const length = typeof value === 'string' ? value.length : JSON.stringify(value).length
    if (length <= maxShown) return value
    return typeof value === 'string' ? `${value.slice(0, maxShown)}… (${length} characters)` : `(${length} characters)`
  }
  const fields = body === null ? null : Object.entries(body).map(([name, value]) => [name, brief(value)] as const)
  return {
    step,
    method,
    url,
    ...(method === 'POST' ? { idempotencyKey } : {}),
    ...(fields === null ? {} : { body: Object.fromEntries(fields) }),
    ...(file === null ? {} : { file: `${file.name} (${file.bytes.length} bytes)` }),
  }
}

function requestText(request: SubmissionRequest): string {
  const { step, method, url, body = {}, file } = describeRequest(request)
  const fields = Object.entries({ ...body, ...(file === undefined ? {} : { file }) })
  const shown = (value: unknown): string =>
    typeof value === 'string' ? value.replaceAll('\n', ' ') : JSON.stringify(value)
  return [`${method} ${url}   (${step})`, ...fields.map(([name, value]) => `  ${name}: ${shown(value)}`)].join('\n')
}
