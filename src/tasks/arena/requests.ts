import { MemoryError } from '../../errors.ts'
import { type Bundle, bundleNames } from './bundle.ts'

export const stepNames = [
  'register_match',
  'read_task_brief',
  'upload_markdown',
  'upload_artifact',
  'upload_report',
] as const
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
export type References = { readonly markdown: string | null; readonly artifact: string | null }

export type Entry = { readonly baseUrl: URL; readonly matchId: string }

/** Checks the address. Every request carries the key, so it must be encrypted. */
export function readEntry(baseUrl: string, matchId: string): Entry {
  const url = URL.parse(baseUrl)
  const refuse = (message: string, hint: string): MemoryError => new MemoryError('invalid', message, { hint })
  if (url === null) throw refuse(`"${baseUrl}" is not an address.`, 'Give one such as https://arena.example.')
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw refuse(
      `"${url.origin}" must come without user, query and fragment.`,
      'The key is read from CREDENCE_ARENA_KEY.',
    )
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

/** The five requests, in order. */
export function requestsFor(
  { baseUrl, matchId }: Entry,
  { markdown, artifact, report }: Bundle,
  found: References,
): readonly ArenaRequest[] {
  const url = (path: string): string => `${baseUrl.origin}${baseUrl.pathname.replace(/\/+$/u, '')}${path}`
  const match = encodeURIComponent(matchId)
  const runId = report.run_id
  const common = { match_id: matchId, run_id: runId }
  const post = (step: StepName, path: string, body: ArenaRequest['body']): ArenaRequest => ({
    step,
    method: 'POST',
    url: url(path),
    // A server that keeps these keys can tell a repeated request from a second one.
    headers: { 'Idempotency-Key': `${runId}-${step}`, Accept: 'application/json' },
    body,
  })
  const { report_md, workspace_artifact_zip } = report.hashes
  const references = { markdown_path: found.markdown, artifact_path: found.artifact }
  return [
    post('register_match', `/api/v1/matches/${match}/register`, { kind: 'json', value: {} }),
    {
      step: 'read_task_brief',
      method: 'GET',
      url: url(`/matches/${match}`),
      headers: { Accept: 'text/html, application/json, text/plain' },
      body: { kind: 'none' },
    },
    post('upload_markdown', '/api/v1/agent-reports/markdown', {
      kind: 'json',
      value: { ...common, filename: bundleNames.markdown, content: markdown, sha256: report_md },
    }),
    post('upload_artifact', '/api/v1/agent-reports/artifacts', {
      kind: 'form',
      fields: { ...common, sha256: workspace_artifact_zip },
      file: artifact,
      filename: bundleNames.artifact,
    }),
    post('upload_report', '/api/v1/agent-reports', {
      kind: 'json',
      value: { match_id: matchId, ...references, ...report },
    }),
  ]
}
