import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { workplace } from '../cli/workplace.ts'
import { saysJson, scriptedEndpoint } from '../models/scripted-endpoint.ts'

const message = 'Remember that Dr. Lee is the dentist here. How are you? Remember that the key is sk-abcdefghijklmnop.'

describe('credence learn', () => {
  it('takes in statements, and says what it left out and why', async () => {
    using place = workplace()
    const { exitCode, stdout } = await place.run('learn', message)

    expect(exitCode).toBe(0)
    expect(stdout).toContain('candidate "')
    expect(stdout).toContain('Dr. Lee is the dentist here.')
    expect(stdout).toContain('secret: ')
    expect(stdout).not.toContain('sk-abc')
    expect((await place.run('proposals')).stdout).toContain('Dr. Lee')
  })

  it('prints one document with --json', async () => {
    using place = workplace()
    const document = await place.json('learn', message, '--source', 'turn-3')

    expect(document).toMatchObject({
      dryRun: false,
      taken: [{ outcome: 'candidate', belief: { provenance: { sourceId: 'turn-3', actor: 'person' } } }],
      refused: [{ reason: 'secret' }],
    })
  })

  it('reads the message from standard input, and changes nothing on a dry run', async () => {
    using place = workplace()
    const { stdout } = await place.runWith(
      { stdin: 'Remember that the gym is called Flex.\n' },
      'learn',
      '-',
      '--dry-run',
    )

    expect(stdout).toContain('Nothing was changed')
    expect(stdout).toContain('the gym is called Flex.')
    expect((await place.run('beliefs')).stdout).not.toContain('Flex')
  })

  it('lists preferences for review, where they are accepted or rejected', async () => {
    using place = workplace()
    const document = await place.json('learn', 'I prefer window seats. I prefer black tea.')
    expect(document).toMatchObject({ taken: [{ outcome: 'candidate' }, { outcome: 'candidate' }] })

    const listed = (await place.run('proposals')).stdout
    expect(listed).toContain('I prefer black tea.')
    expect(listed).toContain('It was said once.')
    const { candidates } = (await place.json('proposals')) as { candidates: { belief: { id: string } }[] }
    const [first, second] = candidates.map(({ belief }) => belief.id)
    await place.run('proposals', 'accept', first ?? '')
    await place.run('proposals', 'reject', second ?? '')

    expect(await place.json('proposals')).toEqual({ proposals: [], candidates: [] })
  })

  it('may leave finding statements to a model, which writes as an agent', async () => {
    using place = workplace()
    const found = {
      type: 'relation',
      subtype: null,
      name: 'dentist',
      aliases: [],
      content: 'Dr. Lee is the dentist here.',
    }
    await using endpoint = await scriptedEndpoint([saysJson({ beliefs: [found] })])

    const document = await place.json('learn', message, '--extractor', `openai:listener@${endpoint.openaiUrl}`)

    expect(document).toMatchObject({
      taken: [{ belief: { candidate: true, provenance: { actor: 'model', model: 'openai:listener' } } }],
    })
  })

  it.each([
    [['learn', 'x', '--extractor', 'magic'], /Unknown extractor "magic"/u],
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
  const env = (store: string) => ({ CREDENCE_EVAL_STORE_DIR: store })

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

  it('is checked as the runner reads it', async () => {
    using place = workplace()
    const { exitCode, stdout } = await place.run('benchmark', 'validate', join(process.cwd(), 'packs', 'learning'))

    expect(exitCode).toBe(0)
    expect(stdout).toContain('learning')
  })
})
