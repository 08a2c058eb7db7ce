import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from './temporary-directory.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** How npm says that it cannot reach its registry, as opposed to finding something wrong with the package. */
const UNREACHABLE =
  /\b(?:ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT_LOCALLY)\b/

describe('the published package', () => {
  it('holds what a user needs and no tests or sources, and runs where it is installed', {
    timeout: 300_000,
  }, (context) => {
    using tarballs = temporaryDirectory()
    using project = temporaryDirectory()

    // Builds first: `prepack` does.
    const packed = run('npm', ['pack', '--silent', '--json', '--pack-destination', tarballs.path], root)
    expect(packed.status, packed.stderr).toBe(0)
    // The build may print before the document does.
    const [tarball] = JSON.parse(packed.stdout.slice(packed.stdout.search(/^\[/m)))
    const files: string[] = tarball.files.map(({ path }: { path: string }) => path)

    expect(files).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'bin/credence.js',
        'dist/lib/index.js',
        'dist/types/index.d.ts',
        'dist/web/index.html',
        'docs/third-party.md',
      ]),
    )
    expect(files.filter((file) => /^(?:src|test|bench|scripts)\/|\.(?:test|contract)\./.test(file))).toEqual([])

    writeFileSync(join(project.path, 'package.json'), JSON.stringify({ name: 'user', private: true, type: 'module' }))
    const installed = run(
      'npm',
      [
        'install',
        '--prefer-offline',
        '--fetch-retries=0',
        '--no-audit',
        '--no-fund',
        join(tarballs.path, tarball.filename),
      ],
      project.path,
    )
    if (installed.status !== 0 && UNREACHABLE.test(installed.stderr)) {
      console.warn(`Not installed, because npm cannot reach its registry:\n${installed.stderr}`)
      context.skip('npm cannot reach its registry')
    }
    expect(installed.status, installed.stderr).toBe(0)

    const version = run(process.execPath, ['node_modules/credence/bin/credence.js', '--version'], project.path)
    expect(version).toEqual({ status: 0, stdout: `${manifest.version}\n`, stderr: '' })

    const linked = run('npm', ['exec', '--offline', '--', 'credence', '--version'], project.path)
    expect(linked).toMatchObject({ status: 0, stdout: `${manifest.version}\n` })

    const script = "import * as credence from 'credence'; console.log(JSON.stringify(Object.keys(credence)))"
    const library = run(process.execPath, ['--input-type=module', '--eval', script], project.path)
    expect(library).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(library.stdout)).toContain('MemoryError')
  })
})

function run(command: string, args: readonly string[], cwd: string) {
  // npm tells its scripts which project they belong to; an npm started for another project must not believe it.
  const foreign = /^(?:npm_config_(?:local_)?prefix|npm_package_|npm_lifecycle_|INIT_CWD)/
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)))
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    env,
    encoding: 'utf8',
    shell: process.platform === 'win32' && command === 'npm',
  })
  if (error !== undefined) throw error
  return { status, stdout, stderr }
}
