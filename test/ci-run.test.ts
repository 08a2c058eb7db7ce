import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryDirectory } from './temporary-directory.ts'

const ciRun = readFileSync('.ci/run', 'utf8')
const suiteFunction = ciRun.slice(ciRun.indexOf('max_repeated='), ciRun.indexOf('\n}\n', ciRun.indexOf('suite()')) + 3)

/**
 * A test runner that reports planted results of suite $1: `$1.json`, or `$1.alone.json` when the suite is run again.
 */
const runner = `
runner() {
  local report="$work/$1.json" result=1
  for option; do
    case $option in
      --maxWorkers=1) report="$work/$1.alone.json"; result=$result_alone ;;
      --outputFile=*) cp "$report" "\${option#*=}" ;;
    esac
  done
  return $result
}`

/**
 * Runs suites in which these files fail, with the function of .ci/run. Returns the failed steps and the counts of
 * tests.
 */
function runSuites(suites: readonly (readonly string[])[], again: 'passed' | 'failed'): readonly string[] {
  using place = temporaryDirectory()
  const report = (files: readonly string[], status: 'passed' | 'failed') =>
    files.map((name) => ({
      name: join(process.cwd(), name),
      status,
      assertionResults: [{ fullName: 'a test', status, failureMessages: [] }],
    }))
  const plant = (name: string, testResults: object): void =>
    writeFileSync(join(place.path, name), JSON.stringify({ testResults }))
  suites.forEach((files, index) => {
    plant(`${index}.json`, [...report(files, 'failed'), ...report(['steady.test.ts'], 'passed')])
    plant(`${index}.alone.json`, report(files, again))
  })
  const script = [
    `work=$1; result_alone=${again === 'passed' ? 0 : 1}; failed_steps=()`,
    suiteFunction,
    runner,
    ...suites.map((_, index) => `suite suite-${index} runner ${index} >"$work/log"`),
    `for name in "\${failed_steps[@]}"; do echo "FAILED: $name"; done`,
    `node scripts/count-tests.ts ${suites.map((_, index) => `"$work/suite-${index}.json"`).join(' ')}`,
  ]
  const { stdout, stderr } = spawnSync('bash', ['-c', script.join('\n'), 'bash', place.path], { encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout.trimEnd().split('\n')
}

it('lists the files that failed once and then passed alone, right before the count of tests', () => {
  const lines = runSuites([['a.test.ts', 'b.test.ts']], 'passed')

  expect(lines.slice(-3)).toEqual([
    'REPEATED: a.test.ts (failed once, passed alone)',
    'REPEATED: b.test.ts (failed once, passed alone)',
    '3 passed, 0 failed, 0 skipped',
  ])
  expect(lines.join('\n')).not.toContain('FAILED:')
})

it.each([
  ['one suite', [['a.test.ts', 'b.test.ts', 'c.test.ts']], ['FAILED: runner 0', '1 passed, 3 failed, 0 skipped']],
  ['two suites', [['a.test.ts', 'b.test.ts'], ['c.test.ts']], ['FAILED: runner 1', '4 passed, 1 failed, 0 skipped']],
])('repeats no third file, in %s', (_, suites, [failed, count]) => {
  const lines = runSuites(suites, 'passed')

  expect([lines[0], lines.at(-1)]).toEqual([failed, count])
})

it('fails for a file that also fails alone', () => {
  const lines = runSuites([['a.test.ts']], 'failed')

  expect([lines[0], lines.at(-1)]).toEqual(['FAILED: runner 0', '1 passed, 1 failed, 0 skipped'])
  expect(lines.join('\n')).not.toContain('REPEATED')
})
