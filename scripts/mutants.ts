/**
 * Plants faults in a copy of the sources, one at a time, and runs the tests that should notice. A fault that no test notices
 * (a survivor) shows a promise that nothing checks.
 *
 *   npm run test:mutants -- [--only ID …] [--json] [--jobs N]
 *
 * `scripts/mutants.json` lists the planted faults, one for each promise, the areas for random ones, and why a survivor is
 * accepted. Exits with 1 if fewer than 90 % are killed, if a survivor has no explanation, or if the list is out of date.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'

type Mutant = {
  readonly id: string
  readonly promise: string
  readonly file: string
  /** Must occur exactly once in the file. */
  readonly from: string
  readonly to: string
  readonly tests: readonly string[]
}

/**
 * An area of the code. The `count` possible faults with the smallest hashes are planted in it, one at a time. `tests` are run
 * in addition to those that import the file.
 */
type Area = { readonly name: string; readonly files: string; readonly count: number; readonly tests: readonly string[] }

type MutantList = {
  readonly mutants: readonly Mutant[]
  readonly seed: string
  readonly areas: readonly Area[]
  /** Why a survivor is accepted, by its id. */
  readonly survivors: Readonly<Record<string, string>>
}

type Outcome = 'killed' | 'survived' | 'timeout'
type Result = Mutant & {
  readonly outcome: Outcome
  readonly seconds: number
  readonly killedBy: string | null
  readonly explanation: string | null
}

const root = resolve(import.meta.dirname, '..')
const minKilledShare = 0.9
const timeoutMs = 300_000

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '2' },
  },
})

async function main({ mutants, seed, areas, survivors }: MutantList): Promise<number> {
  const all = [...mutants, ...areas.flatMap((area) => randomMutants(area, seed))]
  const problems = problemsOf(all, survivors)
  if (problems.length > 0) {
    for (const problem of problems) log(problem)
    log('Correct scripts/mutants.json.')
    return 1
  }
  const wanted = values.only === undefined ? all : all.filter(({ id }) => values.only?.includes(id))
  if (wanted.length === 0) {
    log(`Unknown ids: ${values.only?.join(', ')}. Ids: ${all.map(({ id }) => id).join(' ')}`)
    return 1
  }
  const tests = [...new Set(wanted.flatMap((one) => one.tests))].sort()
  const jobs = Math.max(1, Math.min(Number(values.jobs), wanted.length))
  const copies = Array.from({ length: jobs }, copyOfSources)
  try {
    log(`${wanted.length} faults, ${tests.length} test files. First the tests without a fault.`)
    const control = await runTests(copies[0] as string, tests, timeoutMs * 10)
    if (control.outcome !== 'survived') {
      log('Without a fault, these tests must pass:')
      log(control.failed.join('\n') || 'The tests did not run.')
      return 1
    }
    const results = await plantAll(wanted, copies, survivors)
    return report(results)
  } finally {
    for (const copy of copies) rmSync(copy, { recursive: true, force: true })
  }
}

/** Stale entries. Without this check, a fault that cannot be planted or a missing test would count as killed. */
function problemsOf(all: readonly Mutant[], survivors: MutantList['survivors']): readonly string[] {
  const ids = all.map(({ id }) => id)
  return [
    ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `${id}: the id is used twice.`),
    ...Object.keys(survivors).flatMap((id) =>
      ids.includes(id) ? [] : [`${id}: explained, but there is no such fault.`],
    ),
    ...all.flatMap(({ id, file, from, to, tests }) => {
      const text = existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : ''
      const found = text.split(from).length - 1
      return [
        ...(found === 1 && from !== to ? [] : [`${id}: "${from}" occurs ${found} times in ${file}, not once.`]),
        ...tests.flatMap((test) => (existsSync(join(root, test)) ? [] : [`${id}: there is no test ${test}.`])),
        ...(tests.length === 0 ? [`${id}: no test is named for ${file}.`] : []),
      ]
    }),
  ]
}

/** A copy of the working tree without its history; `node_modules` is a link. */
function copyOfSources(): string {
  const copy = mkdtempSync(join(tmpdir(), 'credence-mutants-'))
  const listed = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' })
  for (const file of listed.stdout.split('\0'))
    if (file !== '' && existsSync(join(root, file))) cpSync(join(root, file), join(copy, file))
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

async function plantAll(wanted: readonly Mutant[], copies: readonly string[], survivors: MutantList['survivors']) {
  const waiting = [...wanted]
  const results: Result[] = []
  const work = async (copy: string): Promise<void> => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const path = join(copy, mutant.file)
      const text = readFileSync(path, 'utf8')
      const began = performance.now()
      // A function, so that "$&" in the replacement is not special.
      writeFileSync(
        path,
        text.replace(mutant.from, () => mutant.to),
      )
      const { outcome, failed } = await runTests(copy, mutant.tests, timeoutMs)
      writeFileSync(path, text)
      const seconds = Math.round((performance.now() - began) / 1_000)
      results.push({
        ...mutant,
        outcome,
        seconds,
        killedBy: failed[0] ?? null,
        explanation: survivors[mutant.id] ?? null,
      })
      log(`${results.length}/${wanted.length} ${outcome.padEnd(8)} ${mutant.id} (${seconds} s): ${mutant.promise}`)
    }
  }
  await Promise.all(copies.map(work))
  return results
}

/** Runs tests in a copy. `failed` has the names of the failed tests, up to the first file that fails. */
function runTests(copy: string, tests: readonly string[], limitMs: number) {
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--bail', '1', '--no-file-parallelism', '--no-color', ...tests]
  const child = spawn(process.execPath, args, { cwd: copy, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk))
  return new Promise<{ readonly outcome: Outcome; readonly failed: readonly string[] }>((settle) => {
    const timer = setTimeout(() => {
      process.kill(-(child.pid as number), 'SIGKILL')
      settle({ outcome: 'timeout', failed: [] })
    }, limitMs)
    child.on('close', (code) => {
      clearTimeout(timer)
      const failed = [...printed.matchAll(/^ *FAIL +(.+)$/gmu)].map(([, name = '']) => name)
      settle({ outcome: code === 0 ? 'survived' : 'killed', failed: [...new Set(failed)] })
    })
  })
}

/** Prints the counts and the survivors, and returns the exit code. A timeout counts as killed: the tests would hang. */
function report(results: readonly Result[]): number {
  const survivors = results.filter(({ outcome }) => outcome === 'survived')
  const unexplained = survivors.filter(({ explanation }) => explanation === null)
  const killed = results.length - survivors.length
  const hasEnough = killed >= minKilledShare * results.length || values.only !== undefined
  if (values.json) console.log(JSON.stringify({ total: results.length, killed, survivors, results }, null, 2))
  else {
    console.log(`${killed} of ${results.length} killed (${Math.floor((100 * killed) / results.length)} %).`)
    for (const { id, file, from, to, explanation } of survivors)
      console.log(
        `${id} survived in ${file}\n  - ${from.trim()}\n  + ${to.trim()}\n  ${explanation ?? 'NOT EXPLAINED'}`,
      )
  }
  for (const { id, outcome, explanation } of results)
    if (outcome !== 'survived' && explanation !== null) log(`${id} is killed now; remove its explanation.`)
  return unexplained.length === 0 && hasEnough ? 0 : 1
}

/** Replacements within a line that keep the syntax valid. */
const operators: readonly (readonly [string, RegExp, string])[] = [
  ['>= to >', />=/gu, '>'],
  ['<= to <', /<=/gu, '<'],
  ['&& to ||', /&&/gu, '||'],
  ['|| to &&', /\|\|/gu, '&&'],
  ['=== to !==', /===/gu, '!=='],
  ['true to false', /\btrue\b/gu, 'false'],
  ['false to true', /\bfalse\b/gu, 'true'],
  ['no + 1', / \+ 1\b/gu, ''],
  ['no return', /^( +)if \(.*\) return .*$/gu, '$1'],
]

/** The faults of an area with the smallest hashes, so that changing one file does not affect the choice in others. */
function randomMutants({ name, files, count, tests }: Area, seed: string): readonly Mutant[] {
  const sites = globSync(files, { cwd: root })
    .filter((file) => file.endsWith('.ts') && !/\.(?:test|contract)\.ts$/u.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      return text.split('\n').flatMap((line) => {
        // Leaves out comments and types, which have no effect, and repeated lines, which could not be identified.
        if (/^\s*(?:\/[/*]|\*|import|export type|type|readonly)/u.test(line) || text.split(line).length !== 2) return []
        return operators.flatMap(([operator, pattern, to]) => {
          const changed = [...line.matchAll(pattern)].map(({ index, 0: found }) => {
            const replacement = found.replace(new RegExp(pattern.source, 'u'), to)
            return `${line.slice(0, index)}${replacement}${line.slice(index + found.length)}`
          })
          return changed.map((after, nth) => ({
            hash: createHash('sha256').update([seed, file, line, operator, nth].join('\n')).digest('hex'),
            file,
            from: line,
            to: after,
            operator,
          }))
        })
      })
    })
  return sites
    .toSorted((a, b) => (a.hash < b.hash ? -1 : 1))
    .slice(0, count)
    .map(({ hash, file, from, to, operator }) => ({
      id: `${name}-${hash.slice(0, 6)}`,
      promise: `random: ${operator} in ${file}`,
      file,
      from,
      to,
      tests: [...new Set([...testsImporting(file), ...tests])],
    }))
}

/** Fast tests that import a file directly, in any folder. */
function testsImporting(file: string): readonly string[] {
  return globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root })
    .filter((test) => !/\.(?:slow|hosts)\.test\.ts$/u.test(test))
    .filter((test) =>
      [...readFileSync(join(root, test), 'utf8').matchAll(/(?:from |import\()'(\.[^']+)'/gu)].some(
        ([, path = '']) => relative(root, resolve(root, dirname(test), path)) === file,
      ),
    )
    .sort()
}

function log(line: string): void {
  console.error(line)
}

process.exitCode = await main(JSON.parse(readFileSync(join(root, 'scripts/mutants.json'), 'utf8')))
