import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from './temporary-directory.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** npm's messages for an unreachable registry, as opposed to a problem with the package. */
const UNREACHABLE =
  /\b(?:ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT_LOCALLY)\b/

describe('the published package', () => {
  it('contains what a user needs and no tests or sources, runs after installation, and has types that compile', {
    timeout: 600_000,
  }, (context) => {
    using tarballs = temporaryDirectory()
    using project = temporaryDirectory()

    // `prepack` builds first.
    const packed = run('npm', ['pack', '--silent', '--json', '--pack-destination', tarballs.path], root)
    expect(packed.status, packed.stderr).toBe(0)
    // The build may print before the document.
    const [tarball] = JSON.parse(packed.stdout.slice(packed.stdout.search(/^\[/m)))
    const packedFiles: string[] = tarball.files.map(({ path }: { path: string }) => path)

    expect(packedFiles).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'bin/credence.js',
        'bin/package.json',
        'dist/cli/main.js',
        'dist/cli/package.json',
        'dist/lib/index.js',
        'dist/types/index.d.ts',
        'dist/web/index.html',
        'docs/third-party.md',
        'docs/api.md',
      ]),
    )
    expect(packedFiles.filter((file) => /^(?:src|test|bench|scripts)\/|\.(?:test|contract)\./.test(file))).toEqual([])
    // A prompt loads one bundled file, whose first line switches off the compiling of whole files.
    const [prompt = '', ...others] = packedFiles.filter((file) => file.startsWith('dist/cli/prompt-'))
    expect(others).toEqual([])
    const code = readFileSync(join(root, prompt), 'utf8')
    expect(code.match(/require\("\.\/[^"]+"\)(?=;$)/gm)).toEqual([expect.stringMatching(/rolldown-runtime-/)])
    expect(code).toMatch(/^require\("node:v8"\)\.setFlagsFromString\("--lazy"\)/)

    writeFileSync(
      join(project.path, 'package.json'),
      JSON.stringify({ name: 'user', private: true, type: 'module', allowScripts: { node: true } }),
    )
    const install = ['install', '--prefer-offline', '--fetch-retries=0', '--no-audit', '--no-fund']
    // The oldest supported Node, in addition to the one that runs the tests.
    const oldest = manifest.engines.node.replace('>=', '')
    const installed = run('npm', [...install, join(tarballs.path, tarball.filename), `node@${oldest}`], project.path)
    if (installed.status !== 0 && UNREACHABLE.test(installed.stderr)) {
      console.warn(`Not installed, because npm cannot reach its registry:\n${installed.stderr}`)
      context.skip('npm cannot reach its registry')
    }
    expect(installed.status, installed.stderr).toBe(0)

    const linked = run('npm', ['exec', '--offline', '--', 'credence', '--version'], project.path)
    expect(linked).toMatchObject({ status: 0, stdout: `${manifest.version}\n` })

    const oldNode = join(project.path, 'node_modules', 'node', 'bin', 'node')
    expect(run(oldNode, ['--version'], project.path).stdout).toContain(`v${oldest}.`)
    for (const node of [process.execPath, oldNode]) {
      const version = run(node, ['node_modules/credence/bin/credence.js', '--version'], project.path)
      expect(version).toEqual({ status: 0, stdout: `${manifest.version}\n`, stderr: '' })

      const tour = run(node, ['node_modules/credence/bin/credence.js', 'tour', '--json'], project.path)
      expect(tour).toMatchObject({ status: 0, stderr: '' })
      expect(JSON.parse(tour.stdout).length).toBeGreaterThan(3)

      const script = "import * as credence from 'credence'; console.log(JSON.stringify(Object.keys(credence)))"
      const library = run(node, ['--input-type=module', '--eval', script], project.path)
      expect(library).toMatchObject({ status: 0, stderr: '' })
      expect(JSON.parse(library.stdout)).toContain('MemoryError')
    }

    const installedFile = (path: string): string => join(project.path, 'node_modules', 'credence', path)
    const links = [...readFileSync(installedFile('README.md'), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/gu)]
    expect(links.length).toBeGreaterThan(10)
    expect(links.map(([, path]) => path as string).filter((path) => !existsSync(installedFile(path)))).toEqual([])

    const programs = [...readFileSync(installedFile('docs/api.md'), 'utf8').matchAll(/```ts\n(.*?)```/gsu)]
    const files = programs.map(([, program], at) => {
      writeFileSync(join(project.path, `program-${at}.ts`), program as string)
      return `program-${at}.ts`
    })
    expect(files.length).toBeGreaterThan(2)
    for (const [module, moduleResolution] of [
      ['node16', 'node16'],
      ['esnext', 'bundler'],
    ]) {
      const compilerOptions = { module, moduleResolution, target: 'es2022', strict: true, noEmit: true, types: [] }
      const config = { compilerOptions: { ...compilerOptions, skipLibCheck: false }, files }
      writeFileSync(join(project.path, 'tsconfig.json'), JSON.stringify(config))
      const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
      const compiled = run(process.execPath, [compiler, '-p', '.'], project.path)
      expect(compiled, moduleResolution).toEqual({ status: 0, stdout: '', stderr: '' })
    }
  })
})

function run(command: string, args: readonly string[], cwd: string) {
  // npm passes its project to scripts in the environment; an npm for another project must not inherit it.
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
