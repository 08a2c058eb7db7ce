import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../cli/sandbox.ts'

const message = 'Remember that Dr. Lee is the dentist here. How are you? Remember that the key is sk-abcdefghijklmnop.'

describe('credence hear', () => {
  it('stores a message and learns from it, without its secrets', async () => {
    using place = createSandbox()

    const { exitCode, stdout } = await place.run('hear', message)

    expect(exitCode).toBe(0)
    expect(stdout).toContain('candidate "')
    expect(stdout).toContain('Dr. Lee is the dentist here.')
    expect(stdout).not.toContain('sk-abc')
    expect((await place.run('review')).stdout).toContain('Dr. Lee')
  })

  it('marks a waiting statement as perhaps pasted when it is quoted', async () => {
    using place = createSandbox()
    await place.run('hear', 'Actually the staging port is 5433, not 5432.\nMy name is Bo.\n\ntl;dr?')
    await place.run('hear', 'The staging host is called heron.')

    const { stdout } = await place.run('recall', 'which staging port and which staging host do we use?')

    expect(stdout).toMatch(/, you \(perhaps pasted\): ".*staging port is 5433/u)
    expect(stdout).toMatch(/, you: "The staging host is called heron\."/u)
  })

  it('with --dry-run shows what would be stored and learned, and changes nothing', async () => {
    using place = createSandbox()
    const gym = 'Remember that the gym is called Flex.'

    const { stdout } = await place.run('hear', gym, '--dry-run')
    const lines = await place.runWith({ stdin: JSON.stringify({ text: gym }) }, 'hear', '-', '--dry-run')

    expect(stdout).toMatch(/^Nothing was changed\. Without --dry-run:\nStored in .*\nLearned:\n {2}remembered "/u)
    expect(stdout).toContain('the gym is called Flex.')
    expect(lines.stdout).toContain('1 turn would be stored')
    expect((await place.json('beliefs')).total).toBe(0)
    expect((await place.json('conversations')).total).toBe(0)
  })

  it('lists preferences for review, where they are accepted or rejected', async () => {
    using place = createSandbox()
    const document = await place.json('hear', 'I prefer window seats. I prefer black tea.')
    expect(document).toMatchObject({ dryRun: false, taken: [{ outcome: 'candidate' }, { outcome: 'candidate' }] })

    const listed = (await place.run('review')).stdout
    expect(listed).toContain('I prefer black tea.')
    expect(listed).toContain('It was said once.')
    const { items } = (await place.json('review')) as { items: { belief: { id: string } }[] }
    const [first, second] = items.map(({ belief }) => belief.id)
    await place.run('review', 'accept', first ?? '')
    await place.run('review', 'reject', second ?? '')

    expect(await place.json('review')).toMatchObject({ total: 0, items: [] })
  })
})

describe('credence review --extractor', () => {
  it.each([
    ['magic', /Unknown extractor "magic"/u],
    ['openai:m@http://example.com', /neither https nor on this machine/u],
    ['anthropic:m', /no key for anthropic/u],
  ])('refuses %s', async (extractor, reason) => {
    using place = createSandbox()
    await place.run('remember', 'A dinghy.', '--name', 'Albatross')

    const { exitCode, stderr } = await place.run('review', '--extractor', extractor)

    expect(exitCode).not.toBe(0)
    expect(stderr).toMatch(reason)
  })
})

describe('credence benchmark run learning', () => {
  const env = (store: string) => ({ CREDENCE_EVAL_STORE_DIR: store })

  it('stores a run with its metrics, for a baseline and a report', async () => {
    using place = createSandbox()
    const store = join(place.work, 'evals')
    const run = (...argv: readonly string[]) => place.runWith({ env: env(store) }, ...argv, '--json')

    const first = await run('benchmark', 'run', 'learning')
    const [summary] = JSON.parse(first.stdout).runs
    expect(first.exitCode).toBe(0)
    expect(summary).toMatchObject({
      status: 'completed',
      failedCases: 0,
      system: { name: 'learn:rules' },
      metrics: { learnPrecision: 1, learnRecall: 1, silence: 1, kept: 1 },
    })

    expect((await run('benchmark', 'snapshot', '--snapshot-id', 'main')).exitCode).toBe(0)
    const control = await run('benchmark', 'run', 'learning', '--extractor', 'none')
    expect(control.exitCode).toBe(1)
    expect(JSON.parse(control.stdout).runs[0]).toMatchObject({
      system: { name: 'learn:none' },
      metrics: { learnRecall: 0 },
    })
    await run('benchmark', 'run', 'learning')
    const report = await run('benchmark', 'report', '--snapshot-id', 'main')
    expect(report.stdout).toContain('learning')
    expect(report.exitCode).toBe(0)
  })

  it('is checked by its reader', async () => {
    using place = createSandbox()
    const { exitCode, stdout } = await place.run('benchmark', 'validate', join(process.cwd(), 'packs', 'learning'))

    expect(exitCode).toBe(0)
    expect(stdout).toContain('learning')
  })
})
