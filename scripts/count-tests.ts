// Prints which tests failed and why, and how many passed, failed and were skipped, from the JSON reports of the test
// runner. A test file that could not be loaded has no tests to count, so it counts as one failure: otherwise it would
// look like success.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
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

/** Enough of a failure to know what it is; the whole of it stands further up. */
const linesPerFailure = 12

const paths = process.argv.slice(2)
if (paths.length === 0) throw new Error('Usage: count-tests.ts REPORT…')
// A report that is missing means that its tests never ended, so reading it must fail.
const testResults = paths.flatMap((path) => Report.parse(JSON.parse(readFileSync(path, 'utf8'))).testResults)

const tests = testResults.flatMap((file) => {
  const found = file.assertionResults.map((test) => ({
    status: test.status,
    name: `${relative('.', file.name)}: ${test.fullName}`,
    failure: test.failureMessages?.join('\n') ?? '',
  }))
  const unloaded = file.status === 'failed' && found.every((test) => test.status !== 'failed')
  return unloaded
    ? [...found, { status: 'failed' as const, name: relative('.', file.name), failure: file.message ?? '' }]
    : found
})
const failures = tests.filter((test) => test.status === 'failed')
const passed = tests.filter((test) => test.status === 'passed').length

for (const { name, failure } of failures) {
  console.log(`FAILED TEST: ${name}`)
  for (const line of failure.split('\n').slice(0, linesPerFailure)) console.log(`  ${line}`)
}
console.log(`${passed} passed, ${failures.length} failed, ${tests.length - passed - failures.length} skipped`)
if (failures.length > 0 || passed === 0) process.exitCode = 1
