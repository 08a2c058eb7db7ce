// Makes credence.mcpb, which Claude Desktop and other hosts install with one click: the published package with all its
// dependencies, and a manifest. Usage: node scripts/mcpb.ts [FILE]
import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { zipSync } from 'fflate'
import { tools } from '../src/mcp/memory-mcp.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { name, version, license, description, homepage, engines } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)
const [target = join(root, `${name}.mcpb`)] = process.argv.slice(2)
const entry = `server/node_modules/${name}/bin/credence.js`

/** See https://github.com/modelcontextprotocol/mcpb, MANIFEST.md. */
const manifest = {
  manifest_version: '0.3',
  name,
  display_name: 'Credence',
  version,
  description,
  author: { name: 'Credence', url: homepage },
  license,
  server: {
    type: 'node',
    entry_point: entry,
    mcp_config: { command: 'node', args: [`\${__dirname}/${entry}`, 'mcp', '--host', 'claude-desktop'] },
  },
  tools: tools.map(({ name: tool, config }) => ({ name: tool, description: config.title })),
  compatibility: { platforms: ['darwin', 'win32', 'linux'], runtimes: { node: engines.node } },
}

const draft = mkdtempSync(join(tmpdir(), 'credence-mcpb-'))
try {
  const npm = (...args: readonly string[]): string =>
    execFileSync('npm', [...args], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  const [packed] = JSON.parse(npm('pack', '--json', '--ignore-scripts', '--pack-destination', draft))
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--omit=dev', '--omit=peer']
  npm('install', '--prefix', join(draft, 'server'), ...quiet, join(draft, packed.filename))
  const files = globSync('server/**', { cwd: draft, exclude: ['server/node_modules/.bin/**'] })
    .filter((path) => statSync(join(draft, path)).isFile())
    .map((path) => [path.replaceAll('\\', '/'), readFileSync(join(draft, path))] as const)
  const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
  writeFileSync(target, zipSync({ 'manifest.json': text, ...Object.fromEntries(files) }))
  console.log(`${target}: ${files.length + 1} files, ${Math.round(statSync(target).size / 1e6)} MB`)
} finally {
  rmSync(draft, { recursive: true, force: true })
}
