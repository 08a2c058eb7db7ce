import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Cluster, openAt, postgresPrograms, undurable } from '../../src/store/postgres/cluster.contract.ts'
import { beliefCommit } from './acknowledged-writes.ts'

const hasOpenssl = (() => {
  try {
    return execFileSync('openssl', ['version']).length > 0
  } catch {
    console.log('openssl is not installed, so TLS to PostgreSQL is not tested.')
    return false
  }
})()

/** Creates a certificate authority and a server certificate for the given name. Returns the authority's file. */
function certify(cluster: Cluster, name: string): string {
  // Run as the server's account, because the server reads only a key that it owns.
  const openssl = (argv: string) => cluster.run('env', ['openssl', ...argv.split(' ')], '/usr/bin')
  const key = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
  const data = join(cluster.directory, 'data')
  cluster.run('env', ['sh', '-c', `echo subjectAltName=${name} > names; rm -f data/server.key`], '/usr/bin')
  openssl(`req -x509 ${key} -keyout authority.key -out authority.pem -subj /CN=authority -days 2`)
  openssl(`req ${key} -keyout ${data}/server.key -out server.csr -subj /CN=server`)
  openssl(
    `x509 -req -in server.csr -CA authority.pem -CAkey authority.key -CAcreateserial -extfile names -days 2 -out ${data}/server.crt`,
  )
  return join(cluster.directory, 'authority.pem')
}

describe.skipIf(postgresPrograms === null || !hasOpenssl)('TLS to PostgreSQL', () => {
  it('is refused, unverified or verified, as sslmode requires', { timeout: 300_000 }, async () => {
    const cluster = await Cluster.start(undurable)
    try {
      const told = async (parameters: string): Promise<string> => {
        const store = openAt(`${cluster.address()}${parameters}`, { connections: 1, patienceMs: 0 })
        try {
          await store.commit(beliefCommit('ada', `b${Math.random()}`))
          const [{ tls = false } = {}] = await cluster.query<{ tls: boolean }>(
            `SELECT bool_or(ssl) AS tls FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'credence'`,
          )
          return tls ? 'encrypted' : 'plain'
        } catch (error) {
          expect(error).toMatchObject({ code: 'unavailable' })
          return (error as Error).message
        } finally {
          await store.close()
        }
      }
      expect(await told('')).toBe('plain')
      expect(await told('?sslmode=require')).toContain('does not support SSL')

      const authority = certify(cluster, 'IP:127.0.0.1')
      await cluster.restart(['ssl=on'])
      expect(await told('?sslmode=disable')).toBe('plain')
      expect(await told('?sslmode=require')).toBe('encrypted')
      expect(await told('?sslmode=verify-full')).toMatch(/certificate/u)
      expect(await told(`?sslmode=verify-full&sslrootcert=${encodeURIComponent(authority)}`)).toBe('encrypted')

      const other = certify(cluster, 'DNS:localhost')
      await cluster.restart(['ssl=on'])
      const trusted = `?sslmode=verify-full&sslrootcert=${encodeURIComponent(other)}`
      expect(await told(trusted)).toContain('127.0.0.1')
    } finally {
      await cluster.stop()
    }
  })

  it('requires readable certificates', () => {
    const address = 'postgres://ada@db.example.org/credence'
    expect(() => openAt(`${address}?sslrootcert=/nowhere/root.pem`)).toThrow(/sslrootcert cannot be read/u)
    expect(() => openAt(`${address}?sslmode=require&sslrootcert=/nowhere/root.pem`)).toThrow(/not checked/u)
  })
})
