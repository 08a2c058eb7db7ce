// Prints how many tests passed, failed and were skipped, from the JSON report of the test runner. A test file that
// could not be loaded has no tests to count, so it counts as one failure: otherwise it would look like success.
import { readFileSync } from 'node:fs'
import { z } from 'zod'

const Report = z.object({
  testResults: z.array(
    z.object({
      status: z.enum(['passed', 'failed']),
      assertionResults: z.array(
        z.object({ status: z.enum(['passed', 'failed', 'skipped', 'pending', 'todo', 'disabled']) }),
      ),
    }),
  ),
})

const [path] = process.argv.slice(2)
if (path === undefined) throw new Error('Usage: count-tests.ts REPORT')
const { testResults } = Report.parse(JSON.parse(readFileSync(path, 'utf8')))

const tests = testResults.flatMap(({ status, assertionResults }) => {
  const statuses = assertionResults.map((test) => test.status)
  return status === 'failed' && !statuses.includes('failed') ? [...statuses, 'failed' as const] : statuses
})
const passed = tests.filter((status) => status === 'passed').length
const failed = tests.filter((status) => status === 'failed').length

console.log(`${passed} passed, ${failed} failed, ${tests.length - passed - failed} skipped`)
if (failed > 0 || passed === 0) process.exitCode = 1
