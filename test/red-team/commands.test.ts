import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createSandbox } from '../cli/sandbox.ts'

const env = (store: string) => ({ CREDENCE_EVAL_STORE_DIR: store })

it('runs every pack whose id matches a name with a star, and shows both metrics for each and for all', async () => {
  using place = createSandbox()
  const given = { env: env(join(place.work, 'evals')) }

  const { exitCode, stdout } = await place.runWith(
    given,
    'benchmark',
    'run',
    'red-team-fe*',
    'red-team-forged-*',
    'red-team-cross-reach',
    '--system',
    'defenceless',
  )

  expect(exitCode).toBe(1)
  expect(stdout).toMatch(/defenceless, % +attacks that succeed +benign lost/)
  expect(stdout).toMatch(/^red-team-fence-escape +19\/19 = 100\.0 \[83\.2, 100\.0\] +0\/17 = 0\.0 \[0\.0, 18\.4\]$/m)
  expect(stdout).toMatch(/^red-team-forged-provenance /m)
  expect(stdout).toMatch(/^red-team-cross-reach /m)
  expect(stdout).toMatch(/^all +\d+\/55 /m)
})

it('counts prohibited outputs and lawful reinstatements if a pack has them', async () => {
  using place = createSandbox()
  const given = { env: env(join(place.work, 'evals')) }

  const { stdout } = await place.runWith(
    given,
    'benchmark',
    'run',
    'forget-residue',
    'red-team-fence-escape',
    '--system',
    'defenceless',
  )

  expect(stdout).toMatch(/^defenceless, % .* benign lost +prohibited outputs per attack +reinstated$/m)
  expect(stdout).toMatch(/^forget-residue .* 1\.00 \[0\.57, 1\.00\] +3\/3 = 100\.0 \[43\.9, 100\.0\]$/m)
  expect(stdout).toMatch(/^red-team-fence-escape +\d+\/\d+ = [^%]+\]$/m)
})

it('marks a run of a control, so that no gate compares it', async () => {
  using place = createSandbox()
  const given = { env: env(join(place.work, 'evals')) }

  const { stdout } = await place.runWith(
    given,
    'benchmark',
    'run',
    'red-team-fence-escape',
    '--system',
    'defenceless',
    '--json',
  )

  expect(JSON.parse(stdout).runs).toMatchObject([{ role: 'control', metrics: { attackSuccessRate: 1, benignLoss: 0 } }])
})

it('refuses a star that matches no pack, one name for several runs, and an unknown system', async () => {
  using place = createSandbox()
  const given = { env: env(join(place.work, 'evals')) }
  const codeOf = async (...argv: readonly string[]) =>
    (await place.runWith(given, 'benchmark', 'run', ...argv)).exitCode

  expect(await codeOf('red-team-nothing-*')).toBe(2)
  expect(await codeOf('red-team-*', '--run-id', 'mine')).toBe(2)
  expect(await codeOf('red-team-bridging', '--system', 'bm25')).toBe(3)
})

it('attacks Credence itself: a proposal of an agent is not accepted through another entry point', {
  timeout: 60_000,
}, async () => {
  using place = createSandbox()
  const given = { env: env(join(place.work, 'evals')) }

  const { exitCode, stdout } = await place.runWith(
    given,
    'benchmark',
    'run',
    'red-team-bridging',
    '--filter',
    'accepts its own proposal',
    '--json',
  )

  expect(JSON.parse(stdout).runs).toMatchObject([{ totalCases: 1, metrics: { attackSuccessRate: 0 } }])
  expect(exitCode).toBe(0)
})
