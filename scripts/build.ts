// Builds the published package: the library as ES modules under dist/lib/, the command line as CommonJS under dist/cli/, the
// types under dist/types/, and the dashboard under dist/web/.
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'rolldown'
import { build as buildPages } from 'vite'
import { postgresMigrations } from '../src/store/postgres/migrations/migrate.ts'
import { migrations } from '../src/store/sqlite/migrations/migrate.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, 'dist')

/** Separate entry points, one per framework, which programs import in addition to the library. */
const adapters = ['ai-sdk', 'anthropic', 'langgraph', 'telemetry']

rmSync(target, { recursive: true, force: true })

const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
const { status, error } = spawnSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.build.json')], {
  cwd: root,
  stdio: 'inherit',
})
if (error !== undefined) throw error
if (status !== 0) process.exit(status ?? 1)
removeUnusedTypes(join(target, 'types'))

const inSource = (file: string): string => join(root, 'src', file)
const bundling = {
  platform: 'node',
  // Installed packages are not bundled.
  external: (id) => !id.startsWith('.') && !id.startsWith('/') && !/^[A-Za-z]:/.test(id),
  logLevel: 'warn',
  // The groups below decide which modules are loaded together. A dynamic import of a grouped module matters only for
  // unbundled sources, so this warning is off.
  checks: { ineffectiveDynamicImport: false },
} satisfies BuildOptions
// All files are in one folder two levels below the root, like the sources, so that relative paths stay valid.
const names = { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' }

/** Runs in a worker thread that is started by its file name. */
const worker = { 'embedding-worker': inSource('memory/meaning/embedding-worker.ts') }

const library = join(target, 'lib')
await build({
  ...bundling,
  input: {
    index: inSource('index.ts'),
    ...Object.fromEntries(adapters.map((name) => [name, inSource(`adapters/${name}.ts`)])),
    ...worker,
  },
  output: { ...names, dir: library, format: 'esm' },
})

/** The modules that a recall or the hook of a prompt loads. */
const onPromptPath = staticImports(
  [
    'cli/main.ts',
    'cli/commands/memory/recall.ts',
    'cli/commands/connect/hook.ts',
    'memory/learn/rules.ts',
    'memory/learn/secrets.ts',
    'memory/recall/render.ts',
    'search/turns/push.ts',
    'open-memory.ts',
  ].map(inSource),
)
const onChangePath = staticImports(['memory/use-cases.ts', 'store/sqlite/commit.ts'].map(inSource))

// A one-shot command needs more than 0.5 ms to load a module, and 10 ms for an ES module that imports from Node.
// `bin/credence.js` makes V8 compile all functions of the file `prompt` when it is loaded. Functions in other files are
// compiled when first called.
const commandLine = join(target, 'cli')
await build({
  ...bundling,
  input: { main: inSource('cli/main.ts'), ...worker },
  output: {
    ...names,
    dir: commandLine,
    format: 'cjs',
    banner: ({ name }) => (name === 'prompt' ? "require('node:v8').setFlagsFromString('--lazy')" : ''),
    codeSplitting: {
      groups: [
        { name: 'prompt', test: (id) => onPromptPath.has(id), priority: 2 },
        { name: 'change', test: (id) => onChangePath.has(id), priority: 1 },
      ],
    },
  },
})
writeFileSync(join(commandLine, 'package.json'), '{ "type": "commonjs" }\n')

for (const built of [library, commandLine]) {
  const data = ['search/ordinary-words.txt', 'search/turns/word-points.txt']
  const schema = [
    ...migrations.map((name) => `store/sqlite/migrations/${name}.sql`),
    ...postgresMigrations.map((name) => `store/postgres/migrations/${name}.sql`),
  ]
  for (const file of [...data, ...schema]) cpSync(inSource(file), join(built, basename(file)))
}
await buildPages({ configFile: join(root, 'web', 'vite.config.ts'), logLevel: 'warn' })

/** Removes declarations that no entry point exports; most belong to commands and servers, which programs do not import. */
function removeUnusedTypes(directory: string): void {
  const entrances = ['index', ...adapters.map((name) => `adapters/${name}`)]
  const used = new Set(entrances.map((name) => join(directory, `${name}.d.ts`)))
  for (const file of used) {
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)\.[jt]s['"]/g))
      used.add(join(dirname(file), `${path}.d.ts`))
  }
  for (const file of globSync('**/*.d.ts', { cwd: directory }))
    if (!used.has(join(directory, file))) rmSync(join(directory, file))
}

/** The source files that these files import statically, directly or indirectly. */
function staticImports(entries: readonly string[]): ReadonlySet<string> {
  const found = new Set(entries)
  for (const file of found) {
    for (const [, path] of readFileSync(file, 'utf8').matchAll(
      /^(?:import|export)(?! type\b)[^'"]*from '(\.[^']+)'/gm,
    )) {
      found.add(join(dirname(file), path as string))
    }
  }
  return found
}
