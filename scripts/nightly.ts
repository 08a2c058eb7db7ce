// Runs all tests with a new seed for the property tests, and prints the seed: `FC_SEED=<seed> npm test` repeats the run.
import { spawnSync } from 'node:child_process'

const seed = process.env.FC_SEED ?? String(Date.now() % 2 ** 31)
console.log(`Property tests use the seed ${seed}. Repeat with FC_SEED=${seed}.`)
const env = { ...process.env, FC_SEED: seed }
const failed = ['test', 'test:slow'].filter(
  (script) => spawnSync('npm', ['run', script], { env, stdio: 'inherit' }).status !== 0,
)
console.log(failed.length === 0 ? `Seed ${seed}: all tests passed.` : `Seed ${seed}: ${failed.join(' and ')} failed.`)
process.exitCode = failed.length === 0 ? 0 : 1
