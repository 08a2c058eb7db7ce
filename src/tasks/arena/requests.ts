import { MemoryError } from '../../errors.ts'
import { type Bundle, bundleNames } from './bundle.ts'

export const stepNames = [
  'register_match',
  'read_task_brief',
  'upload_markdown',
  'upload_artifact',
  'upload_report',
] as const
export type StepName = (typeof stepNames)[number]

/** One request of the five. `body` is made when it is sent, for the last needs what the others were answered. */
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

/** Where uploads were put, in the arena's words; null while they are not. */
export type References = { readonly markdown: string | null; readonly artifact: string | null }

export type Entry = { readonly baseUrl: URL; readonly matchId: string }

/** The key travels with every request, so it must not travel in the clear. */
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
    throw refuse(`"${matchId}" is not the id of a match.`, 'It is a number or a word, such as 24.')
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
  // A server that keeps them can tell a repeated request from a second one.
  const headers = (step: StepName) => ({ 'Idempotency-Key': `${runId}-${step}`, Accept: 'application/json' })
  return [
    {
      step: 'register_match',
      method: 'POST',
      url: url(`/api/v1/matches/${match}/register`),
      headers: headers('register_match'),
      body: { kind: 'json', value: {} },
    },
    {
      step: 'read_task_brief',
      method: 'GET',
      url: url(`/matches/${match}`),
      headers: { Accept: 'text/html, application/json, text/plain' },
      body: { kind: 'none' },
    },
    {
      step: 'upload_markdown',
      method: 'POST',
      url: url('/api/v1/agent-reports/markdown'),
      headers: headers('upload_markdown'),
      body: {
        kind: 'json',
        value: { ...common, filename: bundleNames.markdown, content: markdown, sha256: report.hashes.report_md },
      },
    },
    {
      step: 'upload_artifact',
      method: 'POST',
      url: url('/api/v1/agent-reports/artifacts'),
      headers: headers('upload_artifact'),
      body: {
        kind: 'form',
        fields: { ...common, sha256: report.hashes.workspace_artifact_zip },
        file: artifact,
        filename: bundleNames.artifact,
      },
    },
    {
      step: 'upload_report',
      method: 'POST',
      url: url('/api/v1/agent-reports'),
      headers: headers('upload_report'),
      body: {
        kind: 'json',
        value: { match_id: matchId, markdown_path: found.markdown, artifact_path: found.artifact, ...report },
      },
    },
  ]
}
