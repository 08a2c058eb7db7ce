import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importsOf, strayImports } from './layers.ts'

const root = new URL('../', import.meta.url)
const manifest = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
const installable = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })

describe('the architecture', () => {
  it('is kept: every file of src imports only allowed layers', () => {
    const files = readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' })
      .map((path) => `src/${path.replaceAll('\\', '/')}`)
      .filter((file) => file.endsWith('.ts'))
      .map((file) => ({ file, source: readFileSync(new URL(file, root), 'utf8') }))

    expect(files.length).toBeGreaterThan(0)
    expect(strayImports(files, installable)).toEqual([])
  })

  const everyPackage = ['node:sqlite', 'hono', '@hono/node-server', 'zod', 'left-pad'].concat(
    '@modelcontextprotocol/server',
    '@modelcontextprotocol/client',
    '@lat.md/embed',
  )

  it.each([
    ['beliefs/scope.ts', '../errors.ts'],
    ['search/bm25.ts', '../beliefs/belief.ts'],
    ['search/bm25.ts', './explanation.ts'],
    ['search/ordinary-words.ts', 'node:fs'],
    ['memory/recall.ts', '../search/analyse.ts'],
    ['memory/recall.ts', 'zod'],
    ['memory/mirror.ts', 'node:fs/promises'],
    ['store/sqlite/open.ts', '../../search/form-index.ts'],
    ['store/sqlite/open.ts', 'node:sqlite'],
    ['eval/system/credence.ts', '../../memory/recall.ts'],
    ['eval/system/mcp.ts', '@modelcontextprotocol/client'],
    ['tasks/session.ts', '../eval/run.ts'],
    ['operations/recall.ts', '../memory/recall.ts'],
    ['operations/evaluation.ts', '../eval/run.ts'],
    ['http/recall.ts', '../operations/recall.ts'],
    ['mcp/recall.ts', '../operations/recall.ts'],
    ['http/recall.ts', 'hono/cors'],
    ['http/serve.ts', '@hono/node-server'],
    ['mcp/recall.ts', '@modelcontextprotocol/server'],
    ['cli/compose.ts', '../store/sqlite/open.ts'],
    ['cli/compose.ts', '../config.ts'],
    ['cli/commands/tour.ts', '../../tasks/session.ts'],
    ['cli/main.ts', 'zod'],
    ['config.ts', 'zod'],
    ['index.ts', './store/sqlite/open.ts'],
    ['index.test.ts', './index.ts'],
    ['store/sqlite/open.test.ts', '../../memory/recall.ts'],
    ['search/bm25.test.ts', 'fast-check'],
    ['search/bm25.test.ts', 'node:fs'],
  ])('lets %s import %s', (file, specifier) => {
    expect(strayImports([planted(file, specifier)], everyPackage)).toEqual([])
  })

  it.each([
    ['beliefs/scope.ts', '../search/analyse.ts', 'beliefs may not import search'],
    ['search/bm25.ts', '../memory/recall.ts', 'search may not import memory'],
    ['search/bm25.ts', 'node:fs', 'search neither reads the disk'],
    ['search/bm25.ts', 'fs/promises', 'search neither reads the disk'],
    ['beliefs/scope.ts', 'node:child_process', 'beliefs neither reads the disk'],
    ['beliefs/scope.ts', 'zod', 'zod lives in'],
    ['memory/recall.ts', '../store/sqlite/open.ts', 'memory may not import store'],
    ['memory/recall.ts', 'node:sqlite', 'node:sqlite lives in store/, files/lock.ts, files/foreign-database.ts only'],
    ['memory/recall.ts', '../config.ts', 'memory may not import config.ts'],
    ['store/sqlite/open.ts', '../../memory/recall.ts', 'store may not import memory'],
    ['eval/run.ts', '../store/sqlite/open.ts', 'eval may not import store'],
    ['eval/run.ts', '../tasks/session.ts', 'eval may not import tasks'],
    ['eval/run.ts', '@modelcontextprotocol/client', 'lives in mcp/, eval/system/ only'],
    ['operations/recall.ts', '../http/recall.ts', 'operations may not import http'],
    ['operations/recall.ts', '../tasks/session.ts', 'operations may not import tasks'],
    ['memory/recall.ts', '../operations/recall.ts', 'memory may not import operations'],
    ['http/recall.ts', '../mcp/recall.ts', 'http may not import mcp'],
    ['http/recall.ts', 'node:sqlite', 'node:sqlite lives in store/, files/lock.ts, files/foreign-database.ts only'],
    ['mcp/recall.ts', '../tasks/session.ts', 'mcp may not import tasks'],
    ['mcp/recall.ts', 'hono', 'hono lives in http/ only'],
    ['tasks/session.ts', '../cli/main.ts', 'tasks may not import cli'],
    ['cli/main.ts', '../index.ts', 'the public entrance is for users'],
    ['cli/main.test.ts', '../index.ts', 'the public entrance is for users'],
    ['cli/main.ts', '../../test/layers.ts', 'outside src'],
    ['cli/main.ts', '../store/belief-store.contract.ts', 'tests are not part of the built package'],
    ['cli/main.ts', 'left-pad', 'left-pad has no home yet'],
    ['cli/main.ts', 'vitest', "vitest is not among the package's dependencies"],
    ['errors.ts', './config.ts', 'errors.ts may not import config.ts'],
    ['config.ts', './cli/main.ts', 'config.ts may not import cli'],
    ['config.ts', 'node:sqlite', 'node:sqlite lives in store/, files/lock.ts, files/foreign-database.ts only'],
    ['index.ts', './http/serve.ts', 'index.ts may not import http'],
    ['helpers/dates.ts', '../errors.ts', 'is in no known layer'],
    ['dates.ts', './errors.ts', 'is in no known layer'],
  ])('does not let %s import %s', (file, specifier, reason) => {
    expect(strayImports([planted(file, specifier)], everyPackage)).toEqual([expect.stringContaining(reason)])
  })
})

describe('finding imports', () => {
  it('finds every form of import', () => {
    const source = `
import './a.ts'
import b from './b.ts'
import * as c from "./c.ts"
import type { D } from './d.ts'
import e, {
  type E,
  f as g,
} from './e.ts'
export * from './f.ts'
export * as g from './g.ts'
export {
  h,
} from './h.ts'
export type { I } from './i.ts'
const j = await import('./j.ts')
type K = import('./k.ts').K
const l = require(
  './l.ts',
)
const m = process.getBuiltinModule('m')
`

    expect(importsOf(source).sort()).toEqual([...'abcdefghijkl'].map((name) => `./${name}.ts`).concat('m'))
  })

  it('ignores comments, plain exports and strings', () => {
    const source = `
/**
 * import { remember } from './a.ts'
 */
// import './b.ts'
export const from = 'c'
export function d() {
  return \`taken from './e.ts'\`
}
`

    expect(importsOf(source)).toEqual([])
  })
})

function planted(file: string, specifier: string) {
  return { file: `src/${file}`, source: `import { something } from '${specifier}'\n` }
}
