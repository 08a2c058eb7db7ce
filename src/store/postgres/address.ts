import { invalid } from '../../errors.ts'

/** The address of a PostgreSQL store. `label` is the address without the password. */
export type PostgresAddress = {
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
  readonly user: string
  readonly password: string | undefined
  readonly database: string
  /** Verified TLS, TLS without a check of the certificate, or none. */
  readonly tls: 'verified' | 'unverified' | 'off'
  /** The file of root certificates for the server; undefined uses the system's. */
  readonly rootCertificate: string | undefined
  readonly label: string
}

const example = 'Write postgres://user:password@host:5432/database, with a comma between several hosts.'

/** Whether a text is the address of a PostgreSQL store rather than a directory. */
export const isPostgresAddress = (text: string): boolean => /^postgres(?:ql)?:\/\//u.test(text)

/**
 * Parses `postgres://user:password@host:port,host:port/database?sslmode=…`. Several hosts are a primary and its standbys; the
 * one that accepts writes is used. No error repeats the text, which may contain a password.
 */
export function parseAddress(text: string): PostgresAddress {
  const [, credentials = '', hostList = '', database = '', query = ''] =
    text.match(/^postgres(?:ql)?:\/\/(?:([^@/]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/u) ?? []
  if (hostList === '') throw invalid('The address of the PostgreSQL store names no host.', example)
  const [user = '', password] = credentials.split(/:(.*)/su).map(decodeUrlPart)
  if (user === '') throw invalid('The address of the PostgreSQL store names no user.', example)
  if (decodeUrlPart(database) === '') throw invalid('The address of the PostgreSQL store names no database.', example)
  const hosts = hostList.split(',').map(parseHost)
  const parameters = new URLSearchParams(query)
  const tls = parseTls(parameters, hosts)
  const rootCertificate = parameters.get('sslrootcert') ?? undefined
  if (rootCertificate !== undefined && tls !== 'verified')
    throw invalid('sslrootcert is given, but the certificate is not checked.', 'Add sslmode=verify-full.')
  const places = hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(',')
  const label = `postgres://${encodeURIComponent(user)}@${places}/${encodeURIComponent(decodeUrlPart(database))}`
  const secret = password === '' ? undefined : password
  return { hosts, user, password: secret, database: decodeUrlPart(database), tls, rootCertificate, label }
}

function parseHost(text: string): PostgresAddress['hosts'][number] {
  const [, bracketed, plain, port = '5432'] = text.match(/^(?:\[([\da-f:.]+)\]|([^:[\]]*))(?::(\d{1,5}))?$/iu) ?? []
  const host = decodeUrlPart(bracketed ?? plain ?? '')
  if (host === '' || Number(port) < 1 || Number(port) > 65_535)
    throw invalid('The address of the PostgreSQL store contains an invalid host.', example)
  return { host, port: Number(port) }
}

const tlsModes: Readonly<Record<string, PostgresAddress['tls']>> = {
  disable: 'off',
  require: 'unverified',
  'no-verify': 'unverified',
  'verify-ca': 'verified',
  'verify-full': 'verified',
}

/** Defaults to no TLS on loopback and sockets, and to verified TLS elsewhere. `sslmode` overrides that. */
function parseTls(parameters: URLSearchParams, hosts: PostgresAddress['hosts']): PostgresAddress['tls'] {
  for (const name of parameters.keys())
    if (name !== 'sslmode' && name !== 'sslrootcert')
      throw invalid(
        `The address of the PostgreSQL store has the unknown parameter "${name}".`,
        'Allowed: sslmode, sslrootcert.',
      )
  const mode = parameters.get('sslmode')
  if (mode === null) return hosts.every(({ host }) => isLocal(host)) ? 'off' : 'verified'
  const tls = tlsModes[mode]
  if (tls !== undefined) return tls
  throw invalid(`The sslmode "${mode}" is unknown.`, `Allowed: ${Object.keys(tlsModes).join(', ')}.`)
}

const isLocal = (host: string): boolean => host.startsWith('/') || /^(?:localhost|127(?:\.\d+){3}|::1)$/u.test(host)

function decodeUrlPart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalid('The address of the PostgreSQL store contains an invalid percent encoding.', example)
  }
}
