import { defineConfig } from 'vitest/config'

/**
 * Tests of kills, full disks, crowds of processes, the browser, and the installed package. `npm run test:slow` runs them
 * and no others.
 */
const slow = ['src/**/*.slow.test.ts', 'test/**/*.slow.test.ts']

export default defineConfig(({ mode }) => ({
  test: {
    include: mode === 'slow' ? slow : ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', ...(mode === 'slow' ? [] : slow)],
    setupFiles: ['test/setup.ts'],
    // Some tests start the real command line, on machines of any speed.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Starting a process for every file would cost more than half of the fast tests.
    isolate: mode === 'slow',
    maxWorkers: 2,
    passWithNoTests: false,
  },
}))
