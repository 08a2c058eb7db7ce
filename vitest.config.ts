import { defineConfig } from 'vitest/config'

/** Tests that take minutes, such as installing the package. `npm run test:slow` runs them and no others. */
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
    maxWorkers: 2,
    passWithNoTests: false,
  },
}))
