import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type ErrorCode, MemoryError } from '../../errors.ts'
import { asJson, writeAtomically } from '../../files/atomic-write.ts'
import { codeOf } from '../../files/leftovers.ts'
import { takeLock } from '../../files/lock.ts'
import type { Bundle } from './bundle.ts'
import { type ArenaRequest, type Entry, type References, requestsFor, stepNames } from './requests.ts'

const Step = z.strictObject({
  step: z.enum(stepNames),
  status: z.int(),
  at: z.string(),
  /** Where the arena put it, as it names the place. */
  reference: z.string().nullable(),
  answer: z.string(),
})

const Journal = z.strictObject({
  schemaVersion: z.literal(1),
  baseUrl: z.string(),
  matchId: z.string(),
  runId: z.string(),
  hashes: z.strictObject({ report_md: z.string(), workspace_artifact_zip: z.string() }),
  steps: z.array(Step),
})
export type SubmissionJournal = z.infer<typeof Journal>
type DoneStep = z.infer<typeof Step>

type SubmissionOptions = {
  readonly key: string
  /** The folder of the run, where the journal is kept. */
  readonly runFolder: string
  readonly now: () => Date
  readonly signal: AbortSignal
  /** Waits between attempts. */
  readonly wait: (ms: number) => Promise<void>
  readonly onStep?: (step: DoneStep, isNew: boolean) => void
}

const attempts = 4
const timeoutMs = 60_000
const longestAnswer = 16_384

/** The journal of one run's submission to one match. */
export const journalPath = (runFolder: string, { baseUrl, matchId }: Entry): string => {
  const digest = createHash('sha256').update(`${baseUrl.href}\n${matchId}`).digest('hex').slice(0, 12)
  return join(runFolder, `submission-${matchId}-${digest}.json`)
}

/**
 * Takes the steps that are left, one after the other. Every completed one is on disk before the next begins, so that a
 * repeated call goes on where the last one stopped.
 */
export async function submit(entry: Entry, bundle: Bundle, options: SubmissionOptions): Promise<SubmissionJournal> {
  const path = journalPath(options.runFolder, entry)
  const release = await takeLock(`${path}.lock`, `The submission to match ${entry.matchId}`)
  try {
    let journal = await journalFor(path, entry, bundle)
    for (const [index, step] of stepNames.entries()) {
      const done = journal.steps.find((one) => one.step === step)
      if (done !== undefined) {
        options.onStep?.(done, false)
        continue
      }
      const request = requestsFor(entry, bundle, referencesIn(journal))[index]
      if (request === undefined) throw new Error(`There is no request for ${step}.`)
      const taken = await take(request, options)
      journal = { ...journal, steps: [...journal.steps, taken] }
      await writeAtomically(path, asJson(journal), { existing: 'replace' })
      options.onStep?.(taken, true)
    }
    return journal
  } finally {
    release()
  }
}

async function journalFor(path: string, { baseUrl, matchId }: Entry, { report }: Bundle): Promise<SubmissionJournal> {
  const { hashes, run_id: runId } = report
  const begun: SubmissionJournal = { schemaVersion: 1, baseUrl: baseUrl.href, matchId, runId, hashes, steps: [] }
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  })
  if (text === null) return begun
  const checked = Journal.safeParse(parsed(text))
  const hint = `Remove ${path} to begin anew.`
  if (!checked.success) throw new MemoryError('invalid', `The journal ${path} cannot be read.`, { hint })
  const isSame =
    checked.data.hashes.report_md === hashes.report_md &&
    checked.data.hashes.workspace_artifact_zip === hashes.workspace_artifact_zip
  if (isSame) return checked.data
  throw new MemoryError('conflict', 'The report of this run has changed since its submission began.', { hint })
}

export function referencesIn({ steps }: Pick<SubmissionJournal, 'steps'>): References {
  const of = (step: DoneStep['step']): string | null => steps.find((one) => one.step === step)?.reference ?? null
  return { markdown: of('upload_markdown'), artifact: of('upload_artifact') }
}

type ArenaAnswer = {
  readonly status: number
  readonly text: string
  readonly isPage: boolean
  /** Where a redirect points to. */
  readonly location: string | null
}

/** One request, again when the server or the way to it breaks; nothing else is worth another try. */
async function take(request: ArenaRequest, options: SubmissionOptions): Promise<DoneStep> {
  const { key, now, signal, wait } = options
  let problem = ''
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (attempt > 0) await wait(500 * 2 ** (attempt - 1))
    signal.throwIfAborted()
    let answer: ArenaAnswer
    try {
      answer = await sent(request, key, signal)
    } catch (error) {
      signal.throwIfAborted()
      problem = error instanceof Error ? causeOf(error) : String(error)
      continue
    }
    const refusal = refusalOf(request, answer)
    if (refusal !== null) throw refusal
    const { status, text } = answer
    // 409 means that it is there already.
    if (status < 300 || status === 409) {
      return { step: request.step, status, at: now().toISOString(), reference: referenceIn(text), answer: text }
    }
    problem = `status ${status}`
  }
  throw new MemoryError('unavailable', `${request.step} failed ${attempts} times: ${problem}.`, { hint: goesOn })
}

async function sent(
  { url, method, headers, body }: ArenaRequest,
  key: string,
  signal: AbortSignal,
): Promise<ArenaAnswer> {
  const given = new Headers({ ...headers, Authorization: `Bearer ${key}` })
  let content: string | FormData | undefined
  if (body.kind === 'json') {
    given.set('Content-Type', 'application/json')
    content = JSON.stringify(body.value)
  } else if (body.kind === 'form') {
    content = new FormData()
    for (const [name, value] of Object.entries(body.fields)) content.set(name, value)
    // A copy, because a view may be backed by memory that is shared.
    content.set('file', new Blob([new Uint8Array(body.file)], { type: 'application/zip' }), body.filename)
  }
  const response = await fetch(url, {
    method,
    headers: given,
    ...(content === undefined ? {} : { body: content }),
    // The key is for this server and no other.
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  })
  return {
    status: response.status,
    text: (await textOf(response)).replaceAll(key, '[key]').slice(0, longestAnswer),
    isPage: /^text\/html\b/iu.test(response.headers.get('content-type') ?? ''),
    location: response.headers.get('location'),
  }
}

/** The beginning of an answer, which is all that is used. */
async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > longestAnswer * 4) break
  }
  return text
}

const causeOf = (error: Error): string =>
  error.cause instanceof Error && error.cause.message !== ''
    ? `${error.message}: ${error.cause.message}`
    : error.message

const goesOn = 'Completed steps are kept; the same command continues after them.'

/** Why an answer ends the submission at once; null for one that completes the step or is worth another attempt. */
function refusalOf({ step, url, method }: ArenaRequest, answer: ArenaAnswer): MemoryError | null {
  const { status, text, isPage, location } = answer
  const refuse = (code: ErrorCode, message: string, hint: string): MemoryError =>
    new MemoryError(code, `${step} ${message}.`, { hint })
  if (status >= 300 && status < 400) {
    const target = location === null ? null : URL.parse(location, url)
    // The query of a redirect may hold a key, so only its path is shown.
    const where = target === null ? 'elsewhere' : `to ${target.origin}${target.pathname}`
    const message = `was sent on ${where}, which is not followed: the key is not for it`
    return refuse('invalid', message, 'If that is the arena, give its address as --base-url.')
  }
  if (status < 300 && method === 'POST' && isPage) {
    const message = `was answered with a web page and not by an API: ${url}`
    return refuse('invalid', message, 'Check --base-url, and whether a login page stands before the arena.')
  }
  if (status < 300 || status >= 500 || [409, 429, 408].includes(status)) return null
  const said = text.replaceAll(/\s+/gu, ' ').trim().slice(0, 300)
  const message = `was refused with status ${status}${said === '' ? '' : `: ${said}`}`
  if (status === 401 || status === 403) return refuse('forbidden', message, 'Check the key in CREDENCE_ARENA_KEY.')
  if (status === 404) return refuse('not_found', message, 'Check --base-url and --match.')
  return refuse('invalid', message, goesOn)
}

const referenceNames = ['path', 'file_path', 'markdown_path', 'artifact_path', 'url', 'id', 'report_id'] as const

/** Arenas name the place of an upload differently; the first known name counts. */
function referenceIn(text: string): string | null {
  const document = parsed(text)
  for (const value of [document, inner(document, 'data'), inner(document, 'result')]) {
    for (const name of referenceNames) {
      const found = inner(value, name)
      if (typeof found === 'string' || typeof found === 'number') return String(found)
    }
  }
  return null
}

const inner = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
