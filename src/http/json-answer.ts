import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context, MiddlewareHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

/** Allows only this server's files, forbids framing, and prevents text from becoming markup. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
].join('; ')

const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
  // The default; a handler may override it.
  'cache-control': 'no-store',
}
const sentHeaders = Object.entries(securityHeaders)

/** Adds the security headers to every response, including refusals. `answerJson` adds them itself. */
export const withSecurityHeaders: MiddlewareHandler = async (context, next) => {
  await next()
  if (context.res === RESPONSE_ALREADY_SENT) return
  const { headers } = context.res
  for (const [name, value] of sentHeaders) if (!headers.has(name)) headers.set(name, value)
}

/**
 * Responds with JSON. If there is a Node response, writes to it directly, because creating a `Response` would take as long as
 * the recall itself. Headers that were set on the context are not sent in this case.
 */
export function answerJson(context: Context, value: object, status: ContentfulStatusCode): Response {
  const outgoing = (context.env as { readonly outgoing?: ServerResponse } | undefined)?.outgoing
  const text = JSON.stringify(value)
  const isCompressed = text.length >= minCompressedBytes && wantsCompressed(context)
  const body = isCompressed ? gzipSync(text) : text
  const length = Buffer.byteLength(body)
  const headers = {
    'content-type': 'application/json',
    'content-length': String(length),
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
  }
  if (outgoing === undefined)
    return context.body(typeof body === 'string' ? body : new Uint8Array(body), status, headers)
  outgoing.writeHead(status, { ...securityHeaders, ...headers })
  // For ASCII text, Node can write latin1 without encoding it first.
  if (length === body.length) outgoing.end(body, 'latin1')
  else outgoing.end(body)
  return RESPONSE_ALREADY_SENT
}

/** Shorter responses are not worth compressing. */
const minCompressedBytes = 1_000

/** Only for browsers, which may be far away; for a program on this machine, compressing would only take time. */
const wantsCompressed = ({ req }: Context): boolean =>
  req.header('sec-fetch-site') !== undefined && (req.header('accept-encoding') ?? '').includes('gzip')
