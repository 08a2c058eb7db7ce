// Prints the failed tests with their errors, and the numbers of passed, failed and skipped tests, from the JSON reports of the test
// runner. A test file that could not be loaded counts as one failure: it has no tests to count, and would otherwise look like
// success. If NAME.again.json exists next to NAME.json, the failed tests were run again: those that passed then are listed as
// unsteady, and their files as repeated. With --failed-files, prints only the files with failed tests.
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'

const Report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.enum(['passed', 'failed']),
      message: z.string().optional(),
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          status: z.enum(['passed', 'failed', 'skipped', 'pending', 'todo', 'disabled']),
          failureMessages: z.array(z.string()).nullish(),
        }),
      ),
    }),
  ),
})

/** Max lines that are printed of a failure, enough to recognise it. The full output is further up. */
const linesPerFailure = 12

const { values, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: { 'failed-files': { type: 'boolean', default: false } },
})
if (paths.length === 0) throw new Error('Usage: count-tests.ts [--failed-files] REPORT…')

// A missing report means that its tests never ended, so reading it must fail.
const testsOf = (path: string) =>
  Report.parse(JSON.parse(readFileSync(path, 'utf8'))).testResults.flatMap((result) => {
    const file = relative('.', result.name)
    const found = result.assertionResults.map((test) => ({
      file,
      status: test.status,
      name: `${file}: ${test.fullName}`,
      failure: test.failureMessages?.join('\n') ?? '',
    }))
    const unloaded = result.status === 'failed' && found.every((test) => test.status !== 'failed')
    return unloaded ? [...found, { file, status: 'failed' as const, name: file, failure: result.message ?? '' }] : found
  })

const tests = paths.flatMap((path) => {
  const again = path.replace(/\.json$/u, '.again.json')
  const second = existsSync(again) ? testsOf(again) : []
  const passedAgain = new Set(second.filter((test) => test.status === 'passed').map((test) => test.name))
  const failedAgain = new Set(second.filter((test) => test.status === 'failed').map((test) => test.file))
  return testsOf(path).map((test) => {
    // A file that could not be loaded counts as unsteady if none of its tests fails when the file is run again.
    const passes =
      test.name === test.file ? second.length > 0 && !failedAgain.has(test.file) : passedAgain.has(test.name)
    return test.status === 'failed' && passes ? { ...test, status: 'unsteady' as const } : test
  })
})
const failures = tests.filter((test) => test.status === 'failed')

if (values['failed-files']) {
  for (const file of new Set(failures.map((test) => test.file))) console.log(file)
} else {
  const unsteady = tests.filter((test) => test.status === 'unsteady')
  const passed = tests.filter((test) => test.status === 'passed').length + unsteady.length
  for (const { status, name, failure } of [...unsteady, ...failures]) {
    console.log(`${status === 'failed' ? 'FAILED TEST' : 'UNSTEADY TEST, passed when run again'}: ${name}`)
    for (const line of failure.split('\n').slice(0, linesPerFailure)) console.log(`  ${line}`)
  }
  const repeated = new Set(unsteady.map((test) => test.file))
  for (const { file } of failures) repeated.delete(file)
  for (const file of repeated) console.log(`REPEATED: ${file} (failed once, passed alone)`)
  console.log(`${passed} passed, ${failures.length} failed, ${tests.length - passed - failures.length} skipped`)
  if (failures.length > 0 || passed === 0) process.exitCode = 1
}
