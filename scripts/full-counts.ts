/**
 * Runs the forty tests of docs/reliability.md with their full counts, one file at a time, and prints the figures that they
 * report. Continues where it stopped: files that passed at the same commit are not run again.
 *
 *   npm run test:full -- [--only TEXT] [--list]
 *
 * A file may take 20 minutes. Exits with 1 if a file failed or took longer. Results: test-results/full-counts.json.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs, stripVTControlCharacters } from 'node:util'

type Result = {
  readonly file: string
  readonly outcome: 'passed' | 'failed' | 'took longer than 20 minutes'
  readonly seconds: number
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** The lines that the tests printed. */
  readonly figures: readonly string[]
}
type Results = { readonly commit: string; readonly files: Readonly<Record<string, Result>> }

const maxMs = 20 * 60_000
const root = join(import.meta.dirname, '..')
const resultsPath = join(root, 'test-results', 'full-counts.json')

const { values } = parseArgs({ options: { only: { type: 'string' }, list: { type: 'boolean', default: false } } })

/** The test files that the table of the forty tests names. A name without a folder refers to the folder of the previous file. */
function testFiles(): readonly string[] {
  const table = readFileSync(join(root, 'docs/reliability.md'), 'utf8')
  const section = table.slice(table.indexOf('## The forty tests'), table.indexOf('## Text made to be slow'))
  let folder = ''
  const files = [...section.matchAll(/`([^`\s]+\.test\.ts)`/gu)].map(([, path = '']) => {
    if (path.includes('/')) folder = dirname(path)
    return path.includes('/') ? path : join(folder, path)
  })
  return [...new Set(files)].filter((file) => values.only === undefined || file.includes(values.only))
}

/** The results of earlier runs at the same commit. With a changed working tree, earlier results do not count. */
function readResults(): Results {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout.trim()
  const isClean = git('status', '--porcelain', '--untracked-files=no') === ''
  const commit = isClean ? git('rev-parse', '--short', 'HEAD') : `${git('rev-parse', '--short', 'HEAD')}, changed`
  try {
    const results = JSON.parse(readFileSync(resultsPath, 'utf8')) as Results
    if (isClean && results.commit === commit) return results
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return { commit, files: {} }
}

async function runFile(file: string): Promise<Result> {
  const report = join(tmpdir(), `credence-full-${process.pid}.json`)
  const began = performance.now()
  const child = spawn(
    join(root, 'node_modules/.bin/vitest'),
    ['run', ...modeOf(file), '--reporter=default', '--reporter=json', `--outputFile=${report}`, file],
    { cwd: root, env: { ...process.env, CREDENCE_TEST_FULL: 'true' }, detached: true },
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  // Kills the whole process group, because the tests start processes of their own.
  const timer = setTimeout(() => process.kill(-(child.pid as number), 'SIGKILL'), maxMs)
  const stop = (): never => {
    process.kill(-(child.pid as number), 'SIGKILL')
    process.exit(130)
  }
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const code = await new Promise<number | null>((done) => child.once('close', done))
  clearTimeout(timer)
  process.off('SIGINT', stop).off('SIGTERM', stop)
  const seconds = Math.round((performance.now() - began) / 1_000)
  const figures = printedLines(stripVTControlCharacters(output))
  if (code === null)
    return { file, outcome: 'took longer than 20 minutes', seconds, passed: 0, failed: 0, skipped: 0, figures }
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, 'utf8'))
  rmSync(report)
  const outcome = code === 0 && numPassedTests > 0 ? 'passed' : 'failed'
  return { file, outcome, seconds, passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests, figures }
}

const modeOf = (file: string): readonly string[] => (file.endsWith('.slow.test.ts') ? ['--mode', 'slow'] : [])

/** The lines that tests printed. Vitest prints them below a heading "stdout | file > test", up to an empty line. */
const printedLines = (output: string): readonly string[] =>
  [...output.matchAll(/^stdout \| .*\n((?:.+\n)+)/gmu)].flatMap(([, lines = '']) => lines.trim().split('\n'))

const files = testFiles()
let results = readResults()
if (values.list) {
  for (const file of files) console.log(`${results.files[file]?.outcome ?? 'not run'}  ${file}`)
  process.exit(0)
}
if (files.length === 0) throw new Error(`No test file of docs/reliability.md contains "${values.only}".`)
console.log(`${files.length} test files with full counts, commit ${results.commit}.`)
for (const [index, file] of files.entries()) {
  if (results.files[file]?.outcome === 'passed') continue
  const result = await runFile(file)
  results = { ...results, files: { ...results.files, [file]: result } }
  mkdirSync(dirname(resultsPath), { recursive: true })
  writeFileSync(resultsPath, `${JSON.stringify(results, null, 2)}\n`)
  const { outcome, seconds, passed, failed, skipped, figures } = result
  console.log(
    `${index + 1}/${files.length} ${outcome} ${file} (${seconds} s): ${passed} passed, ${failed} failed, ${skipped} skipped`,
  )
  for (const line of figures) console.log(`  ${line}`)
}
const bad = files.filter((file) => results.files[file]?.outcome !== 'passed')
console.log(bad.length === 0 ? `All ${files.length} files passed.` : `Not passed: ${bad.join(', ')}`)
if (bad.length > 0) process.exitCode = 1
