import { readdirSync, readFileSync } from 'node:fs'
import vm from 'node:vm'
import { parseAst } from 'rolldown/parseAst'
import { describe, expect, it } from 'vitest'
import { hostileTexts } from './hostile-texts.ts'

/** The code that reads foreign text: messages, documents, requests, answers of models. */
const folders = ['beliefs', 'cli/hooks', 'http', 'mcp', 'memory', 'models', 'search', 'tasks/parse']
const root = new URL('../../src/', import.meta.url)

type Found = { readonly file: string; readonly pattern: RegExp }

const patterns: readonly Found[] = folders.flatMap((folder) =>
  readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/\.(?:test|contract)\.ts$/u.test(name))
    .flatMap((name) => {
      const file = `${folder}/${name.replaceAll('\\', '/')}`
      return literalsIn(readFileSync(new URL(file, root), 'utf8'), file).map((pattern) => ({ file, pattern }))
    }),
)

/** Every regular expression literal of a source. */
function literalsIn(source: string, file: string): readonly RegExp[] {
  const found: RegExp[] = []
  const visit = (node: unknown): void => {
    if (node === null || typeof node !== 'object') return
    if ('regex' in node && node.regex !== null && typeof node.regex === 'object') {
      const { pattern, flags } = node.regex as { pattern: string; flags: string }
      found.push(new RegExp(pattern, flags))
      return
    }
    for (const inner of Object.values(node)) visit(inner)
  }
  visit(parseAst(source, { lang: 'ts' }, file))
  return found
}

const maxMs = 3_000
const subject = vm.createContext({ pattern: /x/, text: '' })
const search = new vm.Script('pattern.global ? [...text.matchAll(pattern)].length : pattern.exec(text)')

/** CPU milliseconds of a search in this process; infinite if it does not end. */
function costOf(pattern: RegExp, text: string): number {
  const before = process.cpuUsage()
  pattern.lastIndex = 0
  Object.assign(subject, { pattern, text })
  try {
    search.runInContext(subject, { timeout: maxMs })
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return Number.POSITIVE_INFINITY
    throw error
  }
  return process.cpuUsage(before).user / 1_000
}

/**
 * The long text has 16 times the length of the short one, so a quadratic pattern takes 256 times as long. Times below
 * `minSlowMs` are noise.
 */
const short = 3_000
const long = 48_000
const minSlowMs = 1
const maxGrowth = 80

/** Whether a search is slower than linear in each of several attempts. */
const grows = (pattern: RegExp, place: number): boolean =>
  Array.from({ length: 3 }).every(() => {
    const cost = costOf(pattern, hostileTexts(pattern, long)[place] as string)
    if (cost <= minSlowMs * maxGrowth || cost === Number.POSITIVE_INFINITY) return cost > minSlowMs * maxGrowth
    return cost / Math.max(minSlowMs, costOf(pattern, hostileTexts(pattern, short)[place] as string)) > maxGrowth
  })

/** A text for which a pattern takes too long; null if there is none. */
function slowText(pattern: RegExp): string | null {
  const texts = hostileTexts(pattern, long)
  const place = texts.findIndex((text, at) => costOf(pattern, text) > minSlowMs * maxGrowth && grows(pattern, at))
  const text = texts[place]
  return text === undefined ? null : `${JSON.stringify(text.slice(0, 40))} … ${JSON.stringify(text.slice(-12))}`
}

describe('a pattern for untrusted texts', () => {
  it('is found wherever the sources contain one', () => {
    expect(patterns.length).toBeGreaterThan(200)
    expect(literalsIn('const a: RegExp = /x+/u\nf(b.replace(/y\\/z/g, ""))', 'a.ts')).toEqual([/x+/u, /y\/z/g])
  })

  it.each([/\s+$/, /(?:a|b)*c/, /<[a-z]+>[\s\S]*<\/a>$/, /^(?:\w+\s?)*$/, /<!--(?:.|\n)*?-->/g])(
    'is distinguished from one with faster growth: %s',
    (pattern) => {
      expect(slowText(pattern)).not.toBeNull()
    },
  )

  it.each(patterns)('takes linear time: $file $pattern', ({ pattern }) => {
    expect(slowText(pattern)).toBeNull()
  })
})
