import { defineConfig } from 'vitest/config'

/**
 * Tests of kills, full disks, crowds of processes, the browser, and the installed package. `npm run test:slow` runs them
 * and no others.
 */
const slow = ['src/**/*.slow.test.ts', 'test/**/*.slow.test.ts']
/** Properties that need many tries. `npm test` makes a fifth of them (test/full-counts.ts), `npm run test:slow` all. */
const laws = [
  'test/mirror/properties.test.ts',
  'test/mirror/authority.test.ts',
  'test/recall/other-processes.test.ts',
  'src/store/sqlite/sqlite-store.test.ts',
]
/** Tests with real hosts, which are installed from npm. `npm run test:hosts` runs them and no others. */
const hosts = ['test/**/*.hosts.test.ts']

const special: Readonly<Record<string, readonly string[]>> = { slow: [...slow, ...laws], hosts }

export default defineConfig(({ mode }) => ({
  test: {
    include: [...(special[mode] ?? ['src/**/*.test.ts', 'test/**/*.test.ts'])],
    exclude: ['**/node_modules/**', ...(special[mode] === undefined ? [...slow, ...hosts] : [])],
    setupFiles: ['test/setup.ts'],
    // Some tests start the real command line, on machines of any speed.
    testTimeout: special[mode] === undefined ? 180_000 : 900_000,
    hookTimeout: special[mode] === undefined ? 180_000 : 300_000,
    pool: 'forks',
    // Starting a process for every file would cost more than half of the fast tests.
    isolate: special[mode] !== undefined,
    maxWorkers: 2,
    passWithNoTests: false,
  },
}))
