import { isBuiltin } from 'node:module'
import { dirname, join, normalize } from 'node:path/posix'

/** A source file: its path from the repository's root, with forward slashes, and its text. */
export type SourceFile = { readonly file: string; readonly source: string }

type Layer = { readonly below: readonly string[]; readonly topLevel: readonly string[] }

const everyLayer = [
  'errors.ts',
  'json.ts',
  'omit-undefined.ts',
  'did-you-mean.ts',
  'recent-map.ts',
  'next-turn.ts',
  'local-time.ts',
]
const layer = (below: readonly string[], topLevel = everyLayer): Layer => ({ below, topLevel })

/** Each folder of `src` may import itself, the listed folders, and these files at the top of `src`; nothing else. */
const LAYERS: Readonly<Record<string, Layer>> = {
  beliefs: layer([]),
  search: layer(['beliefs']),
  files: layer([]),
  models: layer([]),
  memory: layer(['beliefs', 'search', 'files', 'models']),
  store: layer(['beliefs', 'search', 'files']),
  eval: layer(['beliefs', 'search', 'files', 'models', 'memory']),
  tasks: layer(['beliefs', 'search', 'files', 'models', 'memory', 'eval']),
  operations: layer(['beliefs', 'search', 'memory', 'eval']),
  http: layer(['beliefs', 'search', 'files', 'memory', 'eval', 'operations']),
  mcp: layer(['beliefs', 'search', 'memory', 'operations']),
  proxy: layer(['beliefs', 'files', 'memory']),
  adapters: layer(['beliefs', 'memory', 'operations', 'mcp', 'proxy'], [...everyLayer, 'library.ts']),
  cli: layer(
    ['beliefs', 'search', 'files', 'models', 'memory', 'store', 'eval', 'tasks', 'operations', 'http', 'mcp', 'proxy'],
    [...everyLayer, 'config.ts', 'open-memory.ts', 'open-server.ts', 'copied-texts.ts'],
  ),
}

/** What each file at the top of `src` may import. */
const TOP_LEVEL: Readonly<Record<string, Layer>> = {
  'errors.ts': layer([], []),
  'json.ts': layer([], []),
  'recent-map.ts': layer([], []),
  'next-turn.ts': layer([], []),
  'local-time.ts': layer([], ['errors.ts']),
  'omit-undefined.ts': layer([], []),
  'did-you-mean.ts': layer([], []),
  'config.ts': layer([], ['errors.ts', 'did-you-mean.ts']),
  'open-memory.ts': layer(
    ['beliefs', 'search', 'files', 'memory', 'store', 'eval'],
    [...everyLayer, 'library.ts', 'copied-texts.ts'],
  ),
  'copied-texts.ts': layer(['files', 'memory', 'store', 'eval'], ['open-memory.ts']),
  'check-arguments.ts': layer(['memory'], [...everyLayer, 'library-arguments.json']),
  'open-server.ts': layer(['search', 'store'], []),
  'library.ts': layer(['memory', 'eval'], [...everyLayer, 'check-arguments.ts', 'open-memory.ts', 'open-server.ts']),
  'index.ts': layer(['beliefs', 'search', 'memory', 'store', 'eval'], ['errors.ts', 'library.ts']),
}

/**
 * The only places that may import a third-party library, as paths below `src`. A name ending in `/` matches every package of the scope.
 */
const HOMES: Readonly<Record<string, readonly string[]>> = {
  'node:sqlite': ['store/', 'files/lock.ts', 'files/foreign-database.ts'],
  pg: ['store/postgres/'],
  stemmer: ['search/'],
  'chrono-node': ['search/', 'memory/'],
  hono: ['http/'],
  '@hono/': ['http/'],
  '@modelcontextprotocol/': ['mcp/', 'eval/system/'],
  '@lat.md/': ['search/', 'eval/system/'],
  ai: ['adapters/ai-sdk.ts'],
  '@anthropic-ai/': ['adapters/anthropic.ts'],
  '@langchain/': ['adapters/langgraph.ts'],
  '@opentelemetry/': ['adapters/telemetry.ts'],
  'mdast-util-from-markdown': ['memory/', 'tasks/'],
  mdast: ['memory/', 'tasks/'],
  yaml: ['tasks/'],
  fflate: ['tasks/', 'files/'],
  'age-encryption': ['memory/sync/'],
  'jsonc-parser': ['cli/'],
  'smol-toml': ['cli/'],
  diff: ['cli/', 'memory/mirror/'],
  zod: ['models/', 'memory/', 'eval/', 'tasks/', 'operations/', 'http/', 'mcp/', 'cli/', 'config.ts'],
}

/** The core neither reads the disk nor starts programs, so that the same input gives the same bytes everywhere. */
const PURE_LAYERS: readonly string[] = ['beliefs', 'search']
const IMPURE_BUILTINS: readonly string[] = ['fs', 'fs/promises', 'child_process']
/** These files read only data that is part of the package, such as a word list. */
const MAY_READ_ITS_ASSET: readonly string[] = ['ordinary-words.ts', 'turns/word-points.ts', 'minilm/minilm.ts'].map(
  (file) => `src/search/${file}`,
)

/**
 * Every import that breaks the architecture, one line each. `installable`: the packages that users of the published package can have,
 * which are its dependencies and peers.
 */
export function strayImports(files: readonly SourceFile[], installable: readonly string[]): string[] {
  return files.flatMap(({ file, source }) => {
    if (!isKnownPlace(file)) return [`${file}: is in no known layer; add it to test/layers.ts`]
    return importsOf(source).flatMap((specifier) => {
      const reason = specifier.startsWith('.')
        ? reasonAgainstFile(file, normalize(join(dirname(file), specifier)))
        : reasonAgainstPackage(file, specifier, installable)
      return reason === undefined ? [] : [`${file}: imports ${specifier}: ${reason}`]
    })
  })
}

/**
 * The specifiers a source imports, statically, dynamically or as types. Statements count only at the start of a line,
 * where the formatter puts them, so that an example in a comment is not an import.
 */
export function importsOf(source: string): string[] {
  const patterns = [
    /^import\s+(?:[\w$*\s{},]+?\s*from\s*)?(['"])(?<specifier>[^'"\n]+)\1/gm,
    /^export\s+(?:type\s+)?(?:\*(?:\s+as\s+[\w$]+)?|\{[^}]*\})\s*from\s*(['"])(?<specifier>[^'"\n]+)\1/gm,
    /\b(?:import|require|getBuiltinModule)\(\s*(['"])(?<specifier>[^'"\n]+)\1/g,
  ]
  return patterns.flatMap((pattern) => [...source.matchAll(pattern)].flatMap((match) => match.groups?.specifier ?? []))
}

const isTest = (file: string): boolean => /\.(?:test|contract)\.ts$/.test(file)

/** The folder of `src` that contains a file, or the name of the file if it is at the top of `src`. */
const placeOf = (file: string): string => file.split('/')[1] ?? ''

const isKnownPlace = (file: string): boolean =>
  isTest(file) || Object.hasOwn(file.split('/').length === 2 ? TOP_LEVEL : LAYERS, placeOf(file))

function reasonAgainstFile(file: string, target: string): string | undefined {
  if (target === 'src/index.ts') {
    return file === 'src/index.test.ts' ? undefined : 'the public entrance is for users; import the file itself'
  }
  // Tests may import from any layer, because they need real components and are not published.
  if (isTest(file)) return undefined
  if (!target.startsWith('src/')) return 'outside src is not part of the built package'
  if (isTest(target)) return 'tests are not part of the built package'

  const from = placeOf(file)
  const to = placeOf(target)
  const rule = (file.split('/').length === 2 ? TOP_LEVEL : LAYERS)[from]
  if (target.split('/').length === 2) return rule?.topLevel.includes(to) ? undefined : `${from} may not import ${to}`
  return from === to || rule?.below.includes(to) ? undefined : `${from} may not import ${to}`
}

function reasonAgainstPackage(file: string, specifier: string, installable: readonly string[]): string | undefined {
  if (isTest(file)) return undefined
  if (isBuiltin(specifier) && !Object.hasOwn(HOMES, specifier)) {
    const isImpure = IMPURE_BUILTINS.includes(specifier.replace('node:', ''))
    const isAllowed = !PURE_LAYERS.includes(placeOf(file)) || MAY_READ_ITS_ASSET.includes(file)
    return isImpure && !isAllowed ? `${placeOf(file)} neither reads the disk nor starts programs` : undefined
  }

  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
  if (!isBuiltin(name) && !installable.includes(name)) return `${name} is not among the package's dependencies`

  const homes = HOMES[name] ?? HOMES[`${name.split('/')[0]}/`]
  if (homes === undefined) return `${name} has no home yet; give it one in test/layers.ts`
  const isHome = homes.some((home) => file === `src/${home}` || (home.endsWith('/') && file.startsWith(`src/${home}`)))
  return isHome ? undefined : `${name} lives in ${homes.join(', ')} only`
}
