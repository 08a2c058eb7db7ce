import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/**
 * Max lines of the sources of each folder, without tests. A file counts towards the most specific folder in this list.
 * Raising a budget needs a separate commit that explains why.
 */
const budgets: Readonly<Record<string, number>> = {
  '': 1_160,
  adapters: 680,
  beliefs: 900,
  cli: 14_860,
  'cli/resident': 300,
  eval: 10_830,
  files: 870,
  http: 1_610,
  mcp: 770,
  memory: 12_450,
  'memory/mirror': 2_300,
  'memory/sync': 1_250,
  models: 650,
  operations: 3_190,
  proxy: 900,
  search: 4_930,
  store: 1_030,
  'store/copy': 240,
  'store/postgres': 1_840,
  'store/sqlite': 5_090,
  tasks: 5_000,
}
const maxLines = 70_600
/** Max lines of the TypeScript and CSS of the dashboard, in `web`. */
const maxWebLines = 11_490

/** The files of a folder with one of the endings, without tests. */
function readSources(folder: string, endings: readonly string[]) {
  const root = new URL(`../${folder}/`, import.meta.url)
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => endings.some((ending) => path.endsWith(ending)) && !/\.(?:test|contract)\.ts$/u.test(path))
    .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }))
}

const sources = readSources('src', ['.ts'])

const linesOf = (text: string): number => text.split('\n').length - 1

/** The most specific folder with a budget that contains a file. */
const folderOf = (path: string): string =>
  Object.keys(budgets)
    .filter((folder) => folder === '' || path.startsWith(`${folder}/`))
    .sort((a, b) => b.length - a.length)[0] ?? ''

describe('the size of src', () => {
  it.each(Object.entries(budgets))('is within the budget of "%s"', (folder, max) => {
    const own = sources.filter(({ path }) => folderOf(path) === folder)

    expect(own.length).toBeGreaterThan(0)
    expect(own.reduce((sum, { text }) => sum + linesOf(text), 0)).toBeLessThanOrEqual(max)
  })

  it('is within the budget of all folders, each of which has its own', () => {
    const folders = new Set(sources.flatMap(({ path }) => path.split('/').slice(0, -1).slice(0, 1)))

    expect([...folders].filter((folder) => budgets[folder] === undefined)).toEqual([])
    expect(sources.reduce((sum, { text }) => sum + linesOf(text), 0)).toBeLessThanOrEqual(maxLines)
  })
})

describe('the size of web', () => {
  it('is within its budget', () => {
    const own = readSources('web', ['.ts', '.tsx', '.css'])

    expect(own.length).toBeGreaterThan(50)
    expect(own.reduce((sum, { text }) => sum + linesOf(text), 0)).toBeLessThanOrEqual(maxWebLines)
  })
})

describe('a name', () => {
  it('of an exported type is exported once', () => {
    const names = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/^export (?:declare )?(?:abstract )?(?:type|interface|class) (\w+)/gmu)].map(
        ([, name]) => [name, path] as const,
      ),
    )
    const files = Map.groupBy(names, ([name]) => name)
    const twice = [...files].filter(([, places]) => places.length > 1)

    expect(names.length).toBeGreaterThan(500)
    expect(twice.map(([name, places]) => [name, ...places.map(([, path]) => path)])).toEqual([])
  })

  it.each(['entriesOf', 'placeOf', 'keyOf', 'nameOf', 'textOf', 'wordsOf', 'hashOf'])(
    'of a helper contains its noun: %s is too short',
    (name) => {
      const declared = new RegExp(String.raw`^(?:export )?(?:const|(?:async )?function\*?) ${name}\b`, 'mu')

      expect(sources.filter(({ text }) => declared.test(text)).map(({ path }) => path)).toEqual([])
    },
  )
})
