import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { conflict, forbidden, invalid, type MemoryError, notFound, unavailable } from '../../errors.ts'
import { formatJson, writeAtomically } from '../../files/atomic-write.ts'
import { nullIfMissing } from '../../files/leftovers.ts'
import { takeLock } from '../../files/lock.ts'
import { isObject, parseJson } from '../../json.ts'
import { readBoundedText } from '../../models/endpoint.ts'
import { endpointUrl } from '../../models/model-spec.ts'
import { type Bundle, bundleNames } from './bundle.ts'

const stepNames = ['register_match', 'read_task_brief', 'upload_markdown', 'upload_artifact', 'upload_report'] as const

/** The workflow, in the format printed on the page of a match. A `WEB` step is a page to read. */
const Workflow = z.object({
  steps: z
    .array(
      z.object({
        name: z.enum(stepNames),
        method: z.enum(['GET', 'POST', 'WEB']),
        path: z.string().regex(/^\/(?!\/)[^\s?#\\]*$/u, 'must be a path that begins with one /'),
      }),
    )
    .min(1)
    .refine((steps) => new Set(steps.map(({ name }) => name)).size === steps.length, 'has a step twice'),
})
type Step = z.infer<typeof Workflow>['steps'][number]

/** An arena, and the steps of one of its matches. */
export type Submission = { readonly arena: string; readonly steps: readonly Step[] }

/**
 * `address` is the arena, or the page of a match in it, such as https://arena.example/matches/24. `workflow` is the JSON of that page.
 * If it is null, the steps are the usual five of a match, and the match's id is taken from the address.
 */
export function readSubmission(address: string, workflow: string | null): Submission {
  const page = endpointUrl(address, 'Give the page of the match, such as https://arena.example/matches/24.')
  const [, arena = page, match] = /^(.*)\/matches\/([\w-]{1,64})$/u.exec(page) ?? []
  if (workflow !== null) {
    const { data, error } = Workflow.safeParse(parseJson(workflow))
    if (data !== undefined) return { arena, steps: data.steps }
    const [issue] = error.issues
    throw invalid(
      `The steps are not a workflow: ${issue?.path.join('.') || 'the file'}: ${issue?.message}.`,
      `Write {"steps": [{"name": "…", "method": "POST", "path": "/…"}]}; the names are ${stepNames.join(', ')}.`,
    )
  }
  if (match === undefined) {
    const hint = 'Give the page of the match, such as https://arena.example/matches/24, or its steps with --steps.'
    throw invalid(`"${page}" names no match.`, hint)
  }
  const paths = [`/api/v1/matches/${match}/register`, `/matches/${match}`]
  const reports = ['/api/v1/agent-reports/markdown', '/api/v1/agent-reports/artifacts', '/api/v1/agent-reports']
  const steps = [...paths, ...reports].map((path, index) => ({ name: stepNames[index] as Step['name'], path }))
  return { arena, steps: steps.map((step) => ({ ...step, method: step.name === 'read_task_brief' ? 'WEB' : 'POST' })) }
}

/** A request of a submission. `body` is null, a JSON document, or the fields of a form that also contains `file`. */
export type SubmissionRequest = {
  readonly step: Step['name']
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly idempotencyKey: string
  readonly body: Readonly<Record<string, unknown>> | null
  readonly file: { readonly name: string; readonly bytes: Uint8Array } | null
}

/** The requests in order. The last request refers to the uploads by the names that the arena gave them, if `done` contains these. */
export function submissionRequests(
  submission: Submission,
  { markdown, artifact, report }: Bundle,
  done: readonly DoneStep[] = [],
): readonly SubmissionRequest[] {
  const common = { run_id: report.run_id }
  const reference = (step: Step['name']) => done.find((one) => one.step === step)?.reference ?? null
  const bodies: Readonly<Record<Step['name'], SubmissionRequest['body']>> = {
    register_match: {},
    read_task_brief: null,
    upload_markdown: {
      ...common,
      filename: bundleNames.markdown,
      sha256: report.hashes.report_md,
      content: markdown,
    },
    upload_artifact: { ...common, sha256: report.hashes.workspace_artifact_zip },
    upload_report: {
      markdown_path: reference('upload_markdown'),
      artifact_path: reference('upload_artifact'),
      ...report,
    },
  }
  return submission.steps.map(({ name, method, path }) => ({
    step: name,
    method: method === 'POST' ? 'POST' : 'GET',
    url: submission.arena + path,
    idempotencyKey: `${report.run_id}-${name}-${valueDigest([submission, report.hashes])}`,
    body: method === 'POST' ? bodies[name] : null,
    file: name === 'upload_artifact' ? { name: bundleNames.artifact, bytes: artifact } : null,
  }))
}

const valueDigest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 12)

const State = z.strictObject({
  schemaVersion: z.literal(1),
  arena: z.string(),
  /** The hashes of the bundle that is being sent. */
  hashes: z.record(z.string(), z.string()),
  done: z.array(
    z.strictObject({
      step: z.enum(stepNames),
      status: z.int(),
      /** The arena's name for an upload; null if its response has none. */
      reference: z.string().nullable(),
    }),
  ),
})
export type DoneStep = z.infer<typeof State>['done'][number]

export type SubmitOptions = {
  /** Null for an arena that needs no key. Never stored or shown. */
  readonly key: string | null
  /** The folder of the run, which stores the finished steps. */
  readonly runFolder: string
  readonly signal: AbortSignal
  readonly wait: (ms: number) => Promise<void>
  readonly timeoutMs?: number
}

const maxAttempts = 4
const maxAnswerBytes = 1_048_576
const continues = 'Finished steps are stored; the same command continues after them.'

/**
 * Carries out the remaining steps. Every finished step is written to disk before the next begins, and a repeated request has
 * the same idempotency key, so that neither a retry nor a second call submits anything twice.
 */
export async function submit(submission: Submission, bundle: Bundle, options: SubmitOptions) {
  const path = join(options.runFolder, `submission-${valueDigest(submission)}.json`)
  const release = await takeLock(`${path}.lock`, `The submission to ${submission.arena}`)
  try {
    const done = [...finishedSteps(path, bundle)]
    for (const [index, { name }] of submission.steps.entries()) {
      const request = submissionRequests(submission, bundle, done)[index]
      if (request === undefined || done.some(({ step }) => step === name)) continue
      done.push(await send(request, options))
      const state = { schemaVersion: 1, arena: submission.arena, hashes: bundle.report.hashes, done }
      await writeAtomically(path, formatJson(state), { existing: 'replace' })
    }
    return done
  } finally {
    release()
  }
}

function finishedSteps(path: string, { report: { hashes } }: Bundle): readonly DoneStep[] {
  const text = nullIfMissing(() => readFileSync(path, 'utf8'))
  if (text === null) return []
  const hint = `Remove ${path} to submit from the beginning.`
  const { data: state } = State.safeParse(parseJson(text))
  if (state === undefined) throw invalid(`The state of the submission in ${path} is damaged.`, hint)
  if (JSON.stringify(state.hashes) === JSON.stringify(hashes)) return state.done
  throw conflict('The report of this run has changed since its submission began.', hint)
}

/** Sends a request, at most `maxAttempts` times. Retries if the server or the connection fails; a refusal is final. */
async function send(request: SubmissionRequest, options: SubmitOptions): Promise<DoneStep> {
  const { key, signal, wait } = options
  let problem = ''
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    if (attempt > 1) await wait(250 * 2 ** attempt)
    signal.throwIfAborted()
    const answer = await fetchAnswer(request, options).catch((error: unknown) => {
      signal.throwIfAborted()
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
      return cause instanceof Error ? cause.message : String(cause)
    })
    if (typeof answer === 'string') problem = answer
    else {
      const { response, text } = answer
      const { status } = response
      // 409: an earlier attempt, whose response was lost, has already reached the arena.
      if (isAnswer(request, response)) return { step: request.step, status, reference: referenceIn(text) }
      const refusal = refusalOf(request, response, key === null ? text : text.replaceAll(key, '[key]'))
      if (refusal !== null) throw refusal
      problem = `status ${status}`
    }
  }
  throw unavailable(`${request.step} failed ${maxAttempts} times: ${problem}.`, continues)
}

async function fetchAnswer(
  { method, url, idempotencyKey, body, file }: SubmissionRequest,
  { key, signal, timeoutMs = 60_000 }: SubmitOptions,
) {
  const form = new FormData()
  if (file !== null) {
    for (const [name, value] of Object.entries(body ?? {})) form.set(name, String(value))
    form.set('file', new Blob([new Uint8Array(file.bytes)], { type: 'application/zip' }), file.name)
  }
  const response = await fetch(url, {
    method,
    headers: {
      accept: method === 'POST' ? 'application/json' : 'text/html, application/json',
      ...(method === 'POST' ? { 'idempotency-key': idempotencyKey } : {}),
      ...(body !== null && file === null ? { 'content-type': 'application/json' } : {}),
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    },
    ...(body === null ? {} : { body: file === null ? JSON.stringify(body) : form }),
    // A redirect must not send the key to another server.
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  })
  const tooLong = (): MemoryError => unavailable(`the answer has more than ${maxAnswerBytes} bytes`)
  return { response, text: await readBoundedText(response, maxAnswerBytes, tooLong) }
}

const isPage = ({ headers }: Response): boolean => headers.get('content-type')?.startsWith('text/html') ?? false

const isAnswer = ({ method }: SubmissionRequest, response: Response): boolean =>
  response.status === 409 || (response.ok && !(method === 'POST' && isPage(response)))

/** The error for a refusal; null if another attempt may succeed. */
function refusalOf({ step, url }: SubmissionRequest, response: Response, text: string): MemoryError | null {
  const { status } = response
  if (status >= 500 || status === 408 || status === 429) return null
  if (status >= 300 && status < 400)
    return invalid(`${step} was redirected, which is not followed: the key is for ${url} alone.`, 'Check --arena.')
  if (response.ok) return invalid(`${step}: ${url} answered with a web page, not as an API.`, 'Check --arena.')
  const reason = isPage(response) ? '' : `: ${text.replaceAll(/\s+/gu, ' ').trim().slice(0, 300)}`
  const message = `${step} was refused with status ${status}${reason}`
  if (status === 401 || status === 403) return forbidden(message, 'Set CREDENCE_ARENA_KEY to the key of your agent.')
  return status === 404 ? notFound(message, 'Check --arena and --steps.') : invalid(message, continues)
}

/** Arenas use different fields for the reference to an upload; the first known field counts. */
const referenceNames = ['path', 'file_path', 'markdown_path', 'artifact_path', 'url', 'id', 'report_id']

function referenceIn(text: string): string | null {
  const document = parseJson(text)
  const objects = isObject(document) ? [document, document.data, document.result].filter(isObject) : []
  const values = objects.flatMap((object) => referenceNames.map((name) => object[name]))
  const reference = values.find((value) => typeof value === 'string' || typeof value === 'number')
  return reference === undefined ? null : String(reference)
}
