import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { workplace } from '../cli/workplace.ts'
import { saysJson, scriptedEndpoint } from '../models/scripted-endpoint.ts'

const message = 'My dentist is Dr. Lee. What is the weather like? My API key is sk-abcdefghijklmnop.'

describe('credence learn', () => {
  it('takes in statements, and says what it left out and why', async () => {
    using place = workplace()
    const { exitCode, stdout } = await place.run('learn', message)

    expect(exitCode).toBe(0)
    expect(stdout).toContain('remembered "dentist"')
    expect(stdout).toContain('question: What is the weather like?')
    expect(stdout).toContain('secret: ')
    expect(stdout).not.toContain('sk-abc')
    expect((await place.run('recall', 'who is my dentist?')).stdout).toContain('Dr. Lee')
  })

  it('prints one document with --json', async () => {
    using place = workplace()
    const document = await place.json('learn', message, '--source', 'turn-3')

    expect(document).toMatchObject({
      dryRun: false,
      taken: [
        { outcome: 'remembered', belief: { name: 'dentist', provenance: { sourceId: 'turn-3', actor: 'person' } } },
      ],
      refused: [{ reason: 'question' }, { reason: 'secret' }],
    })
  })

  it('reads the message from standard input, and changes nothing on a dry run', async () => {
    using place = workplace()
    const { stdout } = await place.runWith({ stdin: 'My gym is Flex.\n' }, 'learn', '-', '--dry-run')

    expect(stdout).toContain('Nothing was changed')
    expect(stdout).toContain('gym')
    expect((await place.run('beliefs')).stdout).not.toContain('Flex')
  })

  it('knows from earlier messages what a pronoun stands for', async () => {
    using place = workplace()
    const document = await place.json('learn', 'She lives in Porto.', '--earlier', 'Ana is my sister.')

    expect(document).toMatchObject({ taken: [{ belief: { content: 'She [Ana] lives in Porto.' } }] })
  })

  it('may leave finding statements to a model, which writes as an agent', async () => {
    using place = workplace()
    const found = {
      type: 'relation',
      subtype: null,
      name: 'dentist',
      aliases: [],
      content: 'My dentist is Dr. Lee.',
      why: '',
      certainty: 'said',
      kind: 'statement',
      replaces: [],
    }
    await using endpoint = await scriptedEndpoint([saysJson({ beliefs: [found] })])

    const document = await place.json('learn', message, '--extractor', `openai:listener@${endpoint.openaiUrl}`)

    expect(document).toMatchObject({
      taken: [{ belief: { provenance: { actor: 'agent', model: 'openai:listener' } } }],
    })
  })

  it.each([
    [['learn', 'x', '--extractor', 'magic'], /no extractor/u],
    [['learn', 'x', '--extractor', 'openai:m@http://example.com'], /neither https nor on this machine/u],
    [['learn', 'x', '--extractor', 'anthropic:m'], /no key for anthropic/u],
  ])('refuses %s', async (argv, reason) => {
    using place = workplace()
    const { exitCode, stderr } = await place.run(...argv)

    expect(exitCode).not.toBe(0)
    expect(stderr).toMatch(reason)
  })
})

describe('credence benchmark run learning', () => {
  const env = (store: string) => ({
    CREDENCE_EVAL_HARNESS_ENABLED: 'true',
    CREDENCE_BENCHMARK_BASELINE_SNAPSHOTS_ENABLED: 'true',
    CREDENCE_BENCHMARK_DELTA_REPORTER_ENABLED: 'true',
    CREDENCE_EVAL_STORE_DIR: store,
  })

  it('keeps a run with its metrics, which a baseline and a report are made of', async () => {
    using place = workplace()
    const store = join(place.work, 'evals')
    const run = (...argv: readonly string[]) => place.runWith({ env: env(store) }, ...argv, '--json')

    const first = await run('benchmark', 'run', 'learning')
    const [summary] = JSON.parse(first.stdout).runs
    expect(first.exitCode).toBe(0)
    expect(summary).toMatchObject({
      status: 'completed',
      failedCases: 0,
      system: { name: 'learn:rules' },
      metrics: { learnPrecision: 1, learnRecall: 1, askable: 1, silence: 1 },
    })

    expect((await run('benchmark', 'snapshot', '--snapshot-id', 'main')).exitCode).toBe(0)
    const control = await run('benchmark', 'run', 'learning', '--extractor', 'none')
    expect(control.exitCode).toBe(1)
    expect(JSON.parse(control.stdout).runs[0]).toMatchObject({
      system: { name: 'learn:none' },
      metrics: { learnRecall: 0 },
    })
    const report = await run('benchmark', 'report', '--snapshot-id', 'main')
    expect(report.stdout).toContain('learning')
    expect(report.exitCode).toBe(0)
  })

  it('is checked as the runner reads it', async () => {
    using place = workplace()
    const { exitCode, stdout } = await place.run('benchmark', 'validate', join(process.cwd(), 'packs', 'learning'))

    expect(exitCode).toBe(0)
    expect(stdout).toContain('learning')
  })
})
