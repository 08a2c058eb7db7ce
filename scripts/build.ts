// Builds the published package: src/ bundled into a few files under dist/lib/, since every module a one-shot command
// loads costs it more than half a millisecond, the types under dist/types/, and the dashboard under dist/web/.
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { build as buildPages } from 'vite'
import { postgresMigrations } from '../src/store/postgres/migrations/migrate.ts'
import { migrations } from '../src/store/sqlite/migrations/migrate.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, 'dist')

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
/** What a message costs. */
const onRecallPath = staticImports(
  ['cli/main.ts', 'cli/commands/memory/recall.ts', 'memory/recall/render.ts', 'open-memory.ts'].map(inSource),
)
/** What a message costs besides where something was said, which may be quoted. */
const onQuotesPath = staticImports([inSource('search/turns/push.ts')])
/** What hooks need besides, which recall for every prompt and keep it. */
const onHookPath = staticImports(['cli/commands/connect/hook.ts', 'memory/learn/rules.ts'].map(inSource))
const onChangePath = staticImports(['memory/use-cases.ts', 'store/sqlite/commit.ts'].map(inSource))

await build({
  input: {
    index: inSource('index.ts'),
    main: inSource('cli/main.ts'),
    // Started by their paths, as threads.
    'store-thread-program': inSource('store/sqlite/store-thread-program.ts'),
    'memory-thread-program': inSource('cli/proxy/memory-thread-program.ts'),
  },
  platform: 'node',
  // Everything installed beside the package stays there.
  external: (id) => !id.startsWith('.') && !id.startsWith('/') && !/^[A-Za-z]:/.test(id),
  logLevel: 'warn',
  // The groups below decide what is loaded together; a dynamic import of a module in them is meant for the sources.
  checks: { ineffectiveDynamicImport: false },
  // All files in one folder two below the root, where the sources are too: what is found by a relative path still is.
  output: {
    dir: join(target, 'lib'),
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    // What one recall needs is one file, and nothing else is in it; what quotes, a hook and a change need besides are others.
    codeSplitting: {
      groups: [
        { name: 'recall', test: (id) => onRecallPath.has(id), priority: 4 },
        { name: 'quotes', test: (id) => onQuotesPath.has(id), priority: 3 },
        { name: 'hook', test: (id) => onHookPath.has(id), priority: 2 },
        { name: 'change', test: (id) => onChangePath.has(id), priority: 1 },
      ],
    },
  },
})
cpSync(join(root, 'src/search/ordinary-words.txt'), join(target, 'lib/ordinary-words.txt'))
cpSync(join(root, 'src/search/turns/word-points.txt'), join(target, 'lib/word-points.txt'))
for (const name of postgresMigrations)
  cpSync(join(root, `src/store/postgres/migrations/${name}.sql`), join(target, `lib/${name}.sql`))
for (const name of migrations)
  cpSync(join(root, `src/store/sqlite/migrations/${name}.sql`), join(target, `lib/${name}.sql`))
await buildPages({ configFile: join(root, 'web', 'vite.config.ts'), logLevel: 'warn' })

/** Most declarations are of commands and servers, which no program imports. */
function removeUnusedTypes(directory: string): void {
  const used = new Set([join(directory, 'index.d.ts')])
  for (const file of used) {
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)\.[jt]s['"]/g))
      used.add(join(dirname(file), `${path}.d.ts`))
  }
  for (const file of globSync('**/*.d.ts', { cwd: directory }))
    if (!used.has(join(directory, file))) rmSync(join(directory, file))
}

/** Every source file that these files load before they do anything. */
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
