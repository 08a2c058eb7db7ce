import { type ErrorCode, MemoryError } from '../../errors.ts'
import { isObject, objectIn } from '../json.ts'
import { type Bundle, bundleNames } from './bundle.ts'

const stepNames = ['register_match', 'read_task_brief', 'upload_markdown', 'upload_artifact', 'upload_report'] as const
type StepName = (typeof stepNames)[number]

/** One of the five requests. The last refers to the answers to the others, so requests are made as they are sent. */
export type ArenaRequest = {
  readonly step: StepName
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body:
    | { readonly kind: 'none' }
    | { readonly kind: 'json'; readonly value: Readonly<Record<string, unknown>> }
    | {
        readonly kind: 'form'
        readonly fields: Readonly<Record<string, string>>
        readonly file: Uint8Array
        readonly filename: string
      }
}

/** Where the arena put the uploads, as it names the place; null while unknown. */
type References = { readonly markdown: string | null; readonly artifact: string | null }

export type Entry = { readonly baseUrl: URL; readonly matchId: string }

/** Checks the address. Every request carries the key, so it must be encrypted. */
export function readEntry(baseUrl: string, matchId: string): Entry {
  const url = URL.parse(baseUrl)
  const refuse = (message: string, hint: string): MemoryError => new MemoryError('invalid', message, { hint })
  if (url === null) throw refuse(`"${baseUrl}" is not an address.`, 'Give one such as https://arena.example.')
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    const message = `"${url.origin}" must come without user, query and fragment.`
    throw refuse(message, 'The key is read from CREDENCE_ARENA_KEY.')
  }
  const isOwn = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u.test(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isOwn)) {
    throw refuse(`"${baseUrl}" is not https.`, 'Use https; plain http is only for this machine.')
  }
  if (!/^[\w-]{1,64}$/u.test(matchId)) {
    throw refuse(`"${matchId}" is not the id of a match.`, 'Give a number or a word, such as 24.')
  }
  return { baseUrl: url, matchId }
}

export function requestsFor(
  { baseUrl, matchId }: Entry,
  { markdown, artifact, report }: Bundle,
  found: References = { markdown: null, artifact: null },
): readonly ArenaRequest[] {
  const base = `${baseUrl.origin}${baseUrl.pathname.replace(/\/+$/u, '')}`
  const common = { match_id: matchId, run_id: report.run_id }
  const post = (step: StepName, path: string, body: ArenaRequest['body']): ArenaRequest => ({
    ...{ step, method: 'POST', url: base + path, body },
    // A server that knows this header can tell a repeated request from a second one.
    headers: { 'Idempotency-Key': `${report.run_id}-${step}`, Accept: 'application/json' },
  })
  const { report_md, workspace_artifact_zip } = report.hashes
  return [
    post('register_match', `/api/v1/matches/${matchId}/register`, { kind: 'json', value: {} }),
    {
      ...{ step: 'read_task_brief', method: 'GET', url: `${base}/matches/${matchId}`, body: { kind: 'none' } },
      headers: { Accept: 'text/html, application/json, text/plain' },
    },
    post('upload_markdown', '/api/v1/agent-reports/markdown', {
      kind: 'json',
      value: { ...common, filename: bundleNames.markdown, content: markdown, sha256: report_md },
    }),
    post('upload_artifact', '/api/v1/agent-reports/artifacts', {
      ...{ kind: 'form', fields: { ...common, sha256: workspace_artifact_zip } },
      ...{ file: artifact, filename: bundleNames.artifact },
    }),
    post('upload_report', '/api/v1/agent-reports', {
      kind: 'json',
      value: { match_id: matchId, markdown_path: found.markdown, artifact_path: found.artifact, ...report },
    }),
  ]
}

type DoneStep = {
  readonly step: StepName
  readonly status: number
  readonly reference: string | null
}

type SubmissionOptions = {
  readonly key: string
  readonly signal: AbortSignal
  readonly wait: (ms: number) => Promise<void>
}

const attempts = 4
const timeoutMs = 60_000
const longestAnswer = 16_384

/**
 * Sends the five requests one after the other. A submission that broke off is sent again from the beginning: the match is
 * registered already, and uploads carry the same idempotency keys.
 */
export async function submit(entry: Entry, bundle: Bundle, options: SubmissionOptions): Promise<readonly DoneStep[]> {
  const done: DoneStep[] = []
  for (const index of stepNames.keys()) {
    const request = requestsFor(entry, bundle, referencesIn(done))[index]
    if (request !== undefined) done.push(await take(request, options))
  }
  return done
}

export function referencesIn(steps: readonly DoneStep[]): References {
  const of = (step: StepName): string | null => steps.find((one) => one.step === step)?.reference ?? null
  return { markdown: of('upload_markdown'), artifact: of('upload_artifact') }
}

/** Sends one request, again when the server or the connection breaks; other failures are final. */
async function take(request: ArenaRequest, { key, signal, wait }: SubmissionOptions): Promise<DoneStep> {
  let problem = ''
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (attempt > 0) await wait(500 * 2 ** (attempt - 1))
    signal.throwIfAborted()
    let response: Response
    let text: string
    try {
      response = await send(request, key, signal)
      text = (await beginningOf(response)).replaceAll(key, '[key]').slice(0, longestAnswer)
    } catch (error) {
      signal.throwIfAborted()
      const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''
      problem = `${error instanceof Error ? error.message : String(error)}${cause}`
      continue
    }
    const { status } = response
    const refusal = refusalOf(request, response, text)
    if (refusal !== null) throw refusal
    // 409 means that it is there already.
    if (status < 300 || status === 409) {
      return { step: request.step, status, reference: referenceIn(text) }
    }
    problem = `status ${status}`
  }
  throw new MemoryError('unavailable', `${request.step} failed ${attempts} times: ${problem}.`, {
    hint: 'Send it again later.',
  })
}

function send({ url, method, headers, body }: ArenaRequest, key: string, signal: AbortSignal): Promise<Response> {
  const given = new Headers({ ...headers, Authorization: `Bearer ${key}` })
  let content: string | FormData | undefined
  if (body.kind === 'json') {
    given.set('Content-Type', 'application/json')
    content = JSON.stringify(body.value)
  } else if (body.kind === 'form') {
    content = new FormData()
    for (const [name, value] of Object.entries(body.fields)) content.set(name, value)
    content.set('file', new Blob([new Uint8Array(body.file)], { type: 'application/zip' }), body.filename)
  }
  return fetch(url, {
    ...{ method, headers: given, ...(content === undefined ? {} : { body: content }) },
    // The key is for this server and no other.
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  })
}

/** The beginning of an answer, which is all that is used. */
async function beginningOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > longestAnswer * 4) break
  }
  return text
}

/** Why an answer ends the submission at once; null for one that completes the step or is worth another attempt. */
function refusalOf({ step, url, method }: ArenaRequest, response: Response, text: string): MemoryError | null {
  const { status, headers } = response
  const refuse = (code: ErrorCode, message: string, hint: string): MemoryError =>
    new MemoryError(code, `${step} ${message}.`, { hint })
  if (status >= 300 && status < 400) {
    const target = URL.parse(headers.get('location') ?? '', url)
    // The query of a redirect may hold a key, so only its path is shown.
    const where = target === null ? 'elsewhere' : `to ${target.origin}${target.pathname}`
    const message = `was redirected ${where}, which is not followed: the key is not for it`
    return refuse('invalid', message, 'If that is the arena, give its address as --base-url.')
  }
  if (status < 300 && method === 'POST' && headers.get('content-type')?.startsWith('text/html')) {
    const message = `was answered with a web page and not by an API: ${url}`
    return refuse('invalid', message, 'Check --base-url, and whether a login page stands before the arena.')
  }
  if (status < 300 || status >= 500 || [409, 429, 408].includes(status)) return null
  const said = text.replaceAll(/\s+/gu, ' ').trim().slice(0, 300)
  const message = `was refused with status ${status}${said === '' ? '' : `: ${said}`}`
  if (status === 401 || status === 403) return refuse('forbidden', message, 'Check the key in CREDENCE_ARENA_KEY.')
  if (status === 404) return refuse('not_found', message, 'Check --base-url and --match.')
  return refuse('invalid', message, 'Compare the printed requests with what the arena expects.')
}

/** Arenas name the place of an upload differently; the first known name counts. */
const referenceNames = ['path', 'file_path', 'markdown_path', 'artifact_path', 'url', 'id', 'report_id']

function referenceIn(text: string): string | null {
  const document = objectIn(text) ?? {}
  const objects = [document, document.data, document.result].filter(isObject)
  const found = objects.flatMap((one) => referenceNames.map((name) => one[name]))
  const reference = found.find((value) => typeof value === 'string' || typeof value === 'number')
  return reference === undefined ? null : String(reference)
}
