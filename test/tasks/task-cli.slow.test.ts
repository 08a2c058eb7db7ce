import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { unzipSync } from 'fflate'
import { describe, expect, it, vi } from 'vitest'
import { findPython, openSandbox } from '../../src/tasks/grade/sandbox.ts'
import { createSandbox } from '../cli/sandbox.ts'
import { saysJson, scriptedEndpoint } from '../models/scripted-endpoint.ts'
import { boatTask, notebookAgent, writeTask } from './boat-task.ts'
import { localArena } from './local-arena.ts'

const sandbox = await openSandbox({ python: await findPython() })
const canGrade = sandbox.state === 'ready'

/** A sandbox with the task, an eval store and the notebook agent. */
function harbor() {
  const place = createSandbox()
  const task = writeTask(place.work, 'task_boat', boatTask)
  const script = join(place.work, 'agent.mjs')
  writeFileSync(script, notebookAgent)
  const store = join(place.work, 'evals')
  const agent = (how = ''): string => `command:${process.execPath} ${script} ${how}`.trim()
  /** Runs a command and returns its document, whatever its exit code. */
  const task_ = async (...argv: readonly string[]) => {
    const ending = await place.runWith(
      { env: { PATH: process.env.PATH ?? '' } },
      'task',
      ...argv,
      '--evals',
      store,
      '--json',
    )
    if (ending.stdout === '') throw new Error(ending.stderr)
    return { ...ending, document: JSON.parse(ending.stdout) }
  }
  return { ...place, task, store, agent, ask: task_, [Symbol.dispose]: () => place[Symbol.dispose]() }
}

const plainLines = (text: string): readonly string[] => stripVTControlCharacters(text).split('\n')

describe.skipIf(!canGrade)('credence task run', () => {
  it('runs a task, stores the evidence and grades it with every grader', async () => {
    using place = harbor()

    const { document, exitCode } = await place.ask('run', place.task, '--agent', 'reference', '--run-id', 'first')

    const [result] = document.tasks
    expect(result).toMatchObject({
      taskId: 'task_boat',
      state: 'scored',
      verdict: 'pass',
      automatedScore: 1,
      answerScore: 1,
      recallScore: 1,
      judgeScore: null,
      score: 1,
      isComplete: false,
      judge: { state: 'unjudged' },
    })
    expect(exitCode).toBe(0)
    expect(result.sessions.map(({ isFresh, priorMessages }: never) => [isFresh, priorMessages])).toMatchObject([
      [true, 0],
      [false, expect.any(Number)],
      [true, 0],
    ])
    expect(existsSync(join(place.store, result.evidence, 'evidence.json'))).toBe(true)
    expect(document.coverage).toMatchObject({ tasks: 1, graded: 1, complete: 0, unjudged: 1 })
  })

  it('grades a task of the original format, which declares no checks of answers, with its Python code', async () => {
    using place = harbor()
    const original = writeTask(place.work, 'original', boatTask.replace(/^credence:.*?^---$/msu, '---'))

    const { document } = await place.ask('run', original, '--agent', 'reference')
    const { document: without } = await place.ask('run', original, '--agent', 'none')

    expect(document.tasks[0]).toMatchObject({ automatedScore: 1, answerScore: null, checks: [], verdict: 'pass' })
    expect(without.tasks[0]).toMatchObject({ automatedScore: 0, answerScore: null, verdict: 'fail' })
  })

  it('gives no points to an agent that does nothing, and reports it without errors', async () => {
    using place = harbor()

    const { document, exitCode } = await place.ask('run', place.task, '--agent', 'none')

    expect(document.tasks[0]).toMatchObject({
      state: 'scored',
      verdict: 'fail',
      score: 0,
      answerScore: 0,
      automatedScore: 0,
    })
    expect(exitCode).toBe(1)
  })

  it('grades any program as an agent, and distinguishes its failure from a fault of the harness', async () => {
    using place = harbor()

    const good = await place.ask('run', place.task, '--agent', place.agent())
    const broken = await place.ask('run', place.task, '--agent', place.agent('fail'))
    const missing = await place.ask('run', place.task, '--agent', 'command:no-such-program-anywhere {prompt}')

    expect(good.document.tasks[0]).toMatchObject({ state: 'scored', automatedScore: 1, recallScore: 1 })
    expect(broken.document.tasks[0]).toMatchObject({ state: 'agent_failed', verdict: 'fail', score: 0 })
    expect(missing.document.tasks[0]).toMatchObject({
      state: 'infra_error',
      verdict: 'error',
      score: null,
      answerScore: null,
    })
    expect(missing.document.means).toMatchObject({ score: null })
    expect(missing.document.coverage).toMatchObject({ graded: 0, byState: { infra_error: 1 } })
  })

  it('does not count leaving out forbidden text as recall', async () => {
    using place = harbor()
    const checks = '{ id: boat, session: back, expect: [Halcyon] }, { id: code, session: back, forbid: ["4711"] }'
    const file = writeTask(
      place.work,
      'forbidding',
      boatTask.replace(/^credence:.*?^---$/msu, `credence: { answer_checks: [${checks}] }\n---`),
    )
    const { document } = await place.ask('run', file, '--agent', place.agent('forget'))

    expect(document.means).toMatchObject({ recallScore: 0, answerScore: 0 })
  })

  it('stores its runs where every other command of the harness finds them', async () => {
    using place = harbor()
    const at = ['--evals', place.store]

    await place.ask('run', place.task, '--agent', 'reference', '--run-id', 'one', '--repeats', '2')
    const snapshot = await place.run('benchmark', 'snapshot', '--snapshot-id', 'main', ...at)
    await place.ask('run', place.task, '--agent', 'reference', '--run-id', 'two', '--repeats', '2')
    const report = await place.run('benchmark', 'report', '--snapshot-id', 'main', ...at)
    const diff = await place.run('benchmark', 'diff', 'one', 'two', ...at)

    for (const ending of [snapshot, report, diff]) expect(ending, ending.stderr).toMatchObject({ exitCode: 0 })
  })

  it('has a judge score by the weights of the rubric', async () => {
    using place = harbor()
    await using endpoint = await scriptedEndpoint(() =>
      saysJson({ scores: { c1: { score: 1, reason: 'stored' }, c2: { score: 0.5, reason: 'half' } }, notes: '' }),
    )
    const judge = ['--judge', `openai:judge@${endpoint.openaiUrl}`]

    const { document } = await place.ask('run', place.task, '--agent', 'reference', ...judge)

    expect(document.tasks[0]).toMatchObject({
      state: 'scored',
      judgeScore: 0.625,
      judge: { mean: 0.75 },
      isComplete: true,
    })
    expect(document.tasks[0].score).toBeCloseTo((1 * 0.6 + 0.625 * 0.4) / 1, 10)
    expect(endpoint.requests).toHaveLength(1)
  })

  it('shows the automated half if the judge fails', async () => {
    using place = harbor()
    await using endpoint = await scriptedEndpoint(() => saysJson({ score: 85 }))

    const { document } = await place.ask(
      'run',
      place.task,
      '--agent',
      'reference',
      '--judge',
      `anthropic:j@${endpoint.anthropicUrl}`,
    )

    expect(document.tasks[0]).toMatchObject({
      state: 'judge_error',
      verdict: 'error',
      score: 1,
      isComplete: false,
      automatedScore: 1,
      judgeScore: null,
    })
  })

  it('reports that a grader failed, whatever the agent did', async () => {
    using place = harbor()
    const broken = writeTask(
      place.work,
      'task_broken',
      boatTask.replaceAll('task_boat', 'task_broken').replace('return {', 'return 1 / 0, {'),
    )

    const { document } = await place.ask('run', broken, '--agent', 'reference')

    expect(document.tasks[0]).toMatchObject({
      state: 'grader_error',
      verdict: 'error',
      automatedScore: null,
      answerScore: 1,
    })
    expect(document.tasks[0].reason).toContain('ZeroDivisionError')
  })

  it('leaves a judged task unjudged without a judge or another grader', async () => {
    using place = harbor()
    const text =
      '---\nid: task_poem\nname: Poem\ncategory: writing\ngrading_type: llm_judge\ntimeout_seconds: 60\n---\n## Prompt\n\nWrite a poem.\n\n## LLM Judge Rubric\n\n### Criterion 1: Rhyme (Weight: 100%)\n'

    const { document } = await place.ask('run', writeTask(place.work, 'task_poem', text), '--agent', place.agent())

    expect(document.tasks[0]).toMatchObject({ state: 'skipped', verdict: 'unjudged', score: null })
    expect(document.run).toMatchObject({ unjudgedCases: 1, failedCases: 0 })
  })

  it('completes an interrupted run, without repeating any part', async () => {
    using place = harbor()
    const slow = join(place.work, 'slow.mjs')
    // Blocks until an interrupt, or until it is released.
    writeFileSync(
      slow,
      `import { existsSync } from 'node:fs'\nif (existsSync(${JSON.stringify(join(place.work, 'go'))})) await import('./agent.mjs'); else { process.stdout.write('waiting'); setInterval(() => {}, 1000) }`,
    )
    const argv = [
      'task',
      'run',
      place.task,
      '--agent',
      `command:${process.execPath} ${slow}`,
      '--run-id',
      'cut',
      '--evals',
      place.store,
    ]
    const child = place.start(argv)
    const folder = join(place.store, 'runs/cut/evidence/task_boat/1')
    await vi.waitFor(() => expect(existsSync(join(folder, 'evidence.json'))).toBe(true), { timeout: 20_000 })
    child.kill('SIGINT')
    const exitCode = await new Promise((resolve) => child.on('close', resolve))
    writeFileSync(join(place.work, 'go'), '')

    const { document } = await place.ask('run', '--resume', 'cut')

    expect(exitCode).toBe(130)
    expect(document.run).toMatchObject({ runId: 'cut', status: 'completed', totalCases: 1 })
    expect(document.tasks).toHaveLength(1)
    expect(document.tasks[0]).toMatchObject({ state: 'scored', automatedScore: 1 })
  }, 30_000)

  it.each([
    [[], 'No task is given.'],
    [['second-brain'], '--agent is missing.'],
    [['second-brain', '--agent', 'nobody'], 'There is no agent "nobody".'],
    [['no-such-task', '--agent', 'none'], 'There is no task "no-such-task"'],
    [['second-brain', '--agent', 'none', '--pass-at', '2'], 'is not a number from 0 to 1'],
    [['second-brain', '--agent', 'none', '--judge', 'gpt'], '"gpt" is not the name of a model'],
  ])('refuses %j with a reason', async (argv, reason) => {
    using place = createSandbox()
    const ending = await place.run('task', 'run', ...argv)

    expect(ending.exitCode).not.toBe(0)
    expect(ending.stderr).toContain(reason)
  })

  it('prints a readable report', async () => {
    using place = harbor()
    const { stdout } = await place.run('task', 'run', place.task, '--agent', 'reference', '--evals', place.store)

    expect(stdout).toMatch(/^task +state +score +automated +answers +recall +judge\n/u)
    expect(stdout).toMatch(/^task_boat +scored, incomplete +1\.00 +1\.00 +1\.00 +1\.00 +–$/mu)
    expect(stdout).toContain('coverage  0 of 1 graded in every part')
  })

  it('fits a terminal of 80 columns, in colour, even if all of it failed', async () => {
    using place = harbor()

    const { stdout } = await place.runWith(
      { columns: 80, env: { PATH: process.env.PATH ?? '' } },
      'task',
      'run',
      place.task,
      '--agent',
      place.agent('forget'),
      '--evals',
      place.store,
    )

    // Lines with paths and ids may be longer, because these are not shortened.
    const lines = plainLines(stdout).filter((line) => !/evidence|^ *(?:run|store) |runs|\d{8}-\d{6}/u.test(line))
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    expect(lines).toContain('  ✗ task_boat: facts 0.00')
    expect(stdout).toContain('\u001b[31m✗\u001b[39m')
    expect(stdout).not.toContain('\u{fffd}')
  })
})

describe.skipIf(!canGrade)('credence task regrade', () => {
  it('grades stored evidence again and keeps the old grades', async () => {
    using place = harbor()
    await place.ask('run', place.task, '--agent', place.agent(), '--run-id', 'old')
    const before = readFileSync(join(place.store, 'runs/old/grades/task_boat/1.json'), 'utf8')
    await using endpoint = await scriptedEndpoint(() => saysJson({ scores: { c1: 1, c2: 1 } }))

    const { document } = await place.ask(
      'regrade',
      'old',
      '--run-id',
      'new',
      '--judge',
      `openai:judge@${endpoint.openaiUrl}`,
    )

    expect(document.changes).toMatchObject([
      { taskId: 'task_boat', before: { score: 1, judgeScore: null }, after: { score: 1, judgeScore: 1 } },
    ])
    expect(document.tasks[0]).toMatchObject({ isComplete: true, evidence: 'runs/old/evidence/task_boat/1' })
    expect(readFileSync(join(place.store, 'runs/old/grades/task_boat/1.json'), 'utf8')).toBe(before)
    expect(existsSync(join(place.store, 'runs/new/evidence'))).toBe(false)
    const again = await place.ask('report', 'new')
    expect(again.document.tasks[0]).toMatchObject({ judgeScore: 1 })
  })

  it('does not grade evidence that was changed', async () => {
    using place = harbor()
    await place.ask('run', place.task, '--agent', place.agent(), '--run-id', 'old')
    writeFileSync(join(place.store, 'runs/old/evidence/task_boat/1/workspace/memory/MEMORY.md'), 'better')

    const { document } = await place.ask('regrade', 'old')
    const report = await place.ask('report', 'old')

    expect(document.tasks[0]).toMatchObject({ state: 'infra_error', verdict: 'error', score: null })
    expect(document.tasks[0].reason).toContain('workspace/memory/MEMORY.md')
    expect(report).toMatchObject({ exitCode: 1, document: { ok: false } })
  })

  it('refuses a run that has no tasks', async () => {
    using place = harbor()
    const ending = await place.run('task', 'regrade', 'nothing', '--evals', place.store)

    expect(ending).toMatchObject({ exitCode: 3 })
    expect(ending.stderr).toContain('There is no run "nothing"')
  })
})

describe.skipIf(!canGrade)('credence task report', () => {
  it('reports that the bundle cannot be written', async () => {
    using place = harbor()
    await place.ask('run', place.task, '--agent', 'none', '--run-id', 'one')

    const over = await place.run('task', 'report', 'one', '--bundle', 'agent.mjs', '--evals', place.store)
    const below = await place.run('task', 'report', 'one', '--bundle', 'agent.mjs/x', '--evals', place.store)

    for (const { exitCode, stderr } of [over, below]) {
      expect(exitCode).toBe(3)
      expect(stderr).toMatch(
        /^error: .*agent\.mjs.* cannot be written: a file is in the place of a directory\.\nhint: /u,
      )
    }
  })

  it('writes a bundle that matches the evidence, with the same bytes every time', async () => {
    using place = harbor()
    await place.ask('run', place.task, '--agent', place.agent(), '--run-id', 'one')
    const read = (folder: string, name: string): Buffer => readFileSync(join(place.work, folder, name))

    await place.run('task', 'report', 'one', '--bundle', 'a', '--evals', place.store)
    await place.run('task', 'report', 'one', '--bundle', 'b', '--evals', place.store)

    for (const name of ['report.md', 'report.json', 'workspace-artifact.zip']) {
      expect(read('a', name).equals(read('b', name)), name).toBe(true)
    }
    const files = unzipSync(new Uint8Array(read('a', 'workspace-artifact.zip')))
    expect(Object.keys(files)).toEqual(['memory/MEMORY.md'])
    expect(Buffer.from(files['memory/MEMORY.md'] ?? []).toString()).toContain('Halcyon')

    const markdown = read('a', 'report.md').toString()
    for (const part of ['## Understanding', '## Sessions', '## Evidence', '## Self-assessment', '## Limits']) {
      expect(markdown).toContain(part)
    }
    expect(markdown).toContain('> Saved to memory/MEMORY.md.')
    expect(markdown).toContain('The rubric was not applied: No judge was named.')
    expect(markdown).not.toContain(place.work)

    const report = JSON.parse(read('a', 'report.json').toString())
    expect(report).toMatchObject({
      schemaVersion: 2,
      run_id: 'one',
      framework: 'command:node',
      accuracy: 1,
      security_issue_count: 0,
      coverage: { tasks: 1, graded: 1 },
    })
    expect(report.criterion_breakdown.length).toBeGreaterThan(5)
  })

  it('reports changed evidence, in the report and in the bundle', async () => {
    using place = harbor()
    await place.ask('run', place.task, '--agent', place.agent(), '--run-id', 'one')
    writeFileSync(join(place.store, 'runs/one/evidence/task_boat/1/transcript.jsonl'), '{}\n')

    const ending = await place.run('task', 'report', 'one', '--bundle', 'a', '--evals', place.store)

    expect(ending).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('transcript.jsonl was changed after the run.'),
    })
    expect(JSON.parse(readFileSync(join(place.work, 'a/report.json'), 'utf8'))).toMatchObject({
      security_issue_count: 1,
      security_issues: ['The evidence was changed after the run: task_boat: transcript.jsonl'],
    })
  })

  it('writes no bundle of a workspace that was changed', async () => {
    using place = harbor()
    await place.ask('run', place.task, '--agent', place.agent(), '--run-id', 'one')
    writeFileSync(join(place.store, 'runs/one/evidence/task_boat/1/workspace/memory/MEMORY.md'), 'better')

    const ending = await place.run('task', 'report', 'one', '--bundle', 'a', '--evals', place.store)

    expect(ending).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('workspace/memory/MEMORY.md') })
    expect(existsSync(join(place.work, 'a'))).toBe(false)
  })
})

describe.skipIf(!canGrade)('credence task submit', () => {
  const key = 'agent_secret_key'
  const env = { CREDENCE_ARENA_KEY: key }

  it('shows the five requests and sends nothing with --dry-run, or without consent', async () => {
    using place = harbor()
    await using arena = await localArena(key)
    await place.ask('run', place.task, '--agent', place.agent(), '--run-id', 'one')
    const argv = ['task', 'submit', 'one', '--arena', `${arena.url}/matches/24`, '--evals', place.store]

    const shown = await place.runWith({ env }, ...argv, '--dry-run')
    const json = await place.runWith({ env }, ...argv, '--dry-run', '--json')
    const unasked = await place.runWith({ env }, ...argv)
    const refused = await place.runWith({ env, columns: 120, stdin: 'n\n' }, ...argv)

    expect(shown.exitCode).toBe(0)
    expect(shown.stdout.match(/^(?:GET|POST) /gmu)).toHaveLength(5)
    expect(shown.stdout).toContain(`POST ${arena.url}/api/v1/agent-reports/artifacts   (upload_artifact)`)
    expect(shown.stdout + shown.stderr).not.toContain(key)
    expect(JSON.parse(json.stdout)).toMatchObject({ sent: false, requests: { length: 5 } })
    expect(unasked).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('no terminal to ask') })
    expect(refused.stdout).toContain('Nothing was sent.')
    expect(stripVTControlCharacters(refused.stderr)).toMatch(/\(upload_report\)(?:.|\n)*Send this to/u)
    expect(arena.calls).toEqual([])
  })

  it('submits a run after consent, continues after a failure, and reports an upload without a name', async () => {
    using place = harbor()
    await using arena = await localArena(key, { '/api/v1/agent-reports/artifacts': [401, 'nameless'] })
    await place.ask('run', place.task, '--agent', place.agent(), '--run-id', 'one')
    const argv = ['task', 'submit', 'one', '--arena', `${arena.url}/matches/24`, '--evals', place.store]

    const refused = await place.runWith({ env, columns: 120, stdin: 'y\n' }, ...argv)
    const done = await place.runWith({ env }, ...argv, '--yes', '--json')

    expect(refused).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('status 401') })
    expect(JSON.parse(done.stdout)).toMatchObject({ sent: true, steps: { length: 5 } })
    expect(done.stderr).toContain('warning: The answer to upload_artifact has no reference')
    expect(arena.kept).toMatchObject({ registered: 1, markdown: { length: 1 } })
    expect(arena.kept.reports).toMatchObject([
      { accuracy: 1, run_id: 'one', markdown_path: 'markdown/1.md', artifact_path: null },
    ])
    expect(done.stdout + done.stderr + refused.stdout + refused.stderr).not.toContain(key)
  })

  it('refuses evidence that was changed', async () => {
    using place = harbor()
    await place.ask('run', place.task, '--agent', place.agent(), '--run-id', 'one')
    writeFileSync(join(place.store, 'runs/one/evidence/task_boat/1/transcript.jsonl'), '{}\n')

    const ending = await place.run(
      'task',
      'submit',
      'one',
      '--arena',
      'https://arena.example/matches/24',
      '--evals',
      place.store,
      '--yes',
    )

    expect(ending.exitCode).toBe(3)
    expect(ending.stderr).toContain('was changed after the run: transcript.jsonl')
  })
})
