import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageVersion } from '../../src/cli/compose.ts'
import { createSandbox } from '../cli/sandbox.ts'
import { belief, staticCase } from '../eval/sample-corpus.ts'
import { plant } from '../harness/eval-store.ts'
import { boatTask, notebookAgent, writeTask } from '../tasks/boat-task.ts'

/**
 * Formats that other programs read: every byte is compared, except for times, durations, random ids and the machine.
 * After a deliberate change, `npx vitest run test/golden -u` writes the files again.
 */
const stored = (name: string): string => join(import.meta.dirname, name)

/** Replaces the values that differ from run to run. */
function normalise(text: string, place: string): string {
  const replaced: readonly (readonly [RegExp | string, string])[] = [
    [place, '<place>'],
    [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/gu, '<time>'],
    [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gu, '<id>'],
    [/(?<key>"\w*(?:Ms|_ms)": ?)-?\d[\d.e-]*/gu, '$<key>0'],
    [/("timings": ?)\{[^}]*\}/gu, '$1{}'],
    [/("(?:git|os|process)": ?)(?:\{[^}]*\}|null|\d+)/gu, '$1null'],
    [/("(?:node|seal)": ?)"[^"]*"/gu, '$1"<machine>"'],
    [/(?<!sha256:)\b[0-9a-f]{64}\b/gu, '<digest>'],
    [/\b\d+ ms\b/gu, '<duration> ms'],
    [process.execPath, '<node>'],
    [`"${packageVersion()}"`, '"<version>"'],
  ]
  return replaced.reduce((rest, [found, by]) => rest.replaceAll(found, by), text)
}

const only = (...ids: string[]) => ({ relevantBeliefs: { shouldOnlyInclude: ids } })

const boats = [
  belief('b-anchor', { aliases: ['hook'], pinned: true }),
  belief('b-sail', { aliases: ['canvas'] }),
  belief('b-tone', {
    type: 'preference',
    subtype: 'style',
    canonical_name: 'tone',
    scope: ['user:universal'],
    content: 'Answer in short sentences.',
  }),
  belief('b-rudder', { type: 'open_question', content: 'Does the rudder need a new bearing?' }),
]
const cases = [
  staticCase('named', 'is the canvas dry?', only('b-sail'), { category: 'Alias resolution' }),
  staticCase('silent', 'no such thing', { ...only(), pinnedFacts: { mustInclude: ['b-anchor'] } }),
  staticCase('wrong', 'the rudder and the sail', only('b-anchor')),
  staticCase('prelude', 'hello', { personaPrelude: { nonEmpty: true } }),
]
const turn = (turnIndex: number, label: string, userMessage: string, expectations: object) => ({
  turnIndex,
  label,
  scope: ['domain:boats'],
  userMessage,
  expect: expectations,
})
const sessions = [
  {
    caseId: 'drift',
    description: 'The sail, something else, and the sail again.',
    turns: [
      turn(0, 'establishes_topic', 'The sail is torn.', only('b-sail')),
      turn(1, 'drift', 'What is for lunch?', only()),
      turn(2, 'explicit_return', 'Back to the canvas.', {
        relevantBeliefs: { mustInclude: ['b-sail'] },
        noiseCheck: { mustNotSurface: ['b-rudder'] },
      }),
    ],
  },
]

const packFiles = (id: string, runner: string, own: readonly object[], asked: readonly object[]) => ({
  [`packs/${id}/manifest.json`]: {
    schemaVersion: 1,
    benchmarkId: id,
    title: `The pack ${id}`,
    runner,
    licence: 'MIT',
    files: { beliefs: 'beliefs.json', cases: 'cases.json' },
    defaultUser: 'ann',
    recall: {},
    cases: asked,
  },
  [`packs/${id}/beliefs.json`]: boats,
  [`packs/${id}/cases.json`]: own,
})

function boatPlace() {
  const place = createSandbox()
  const prompts = cases.map(({ caseId, query }) => ({ id: caseId, prompt: query }))
  const turns = sessions.flatMap(({ caseId, turns: own }) =>
    own.map(({ turnIndex, userMessage }) => ({ id: `${caseId}#${turnIndex}`, prompt: userMessage })),
  )
  plant(place.work, {
    ...packFiles('boats', 'retrieval', cases, prompts),
    ...packFiles('boats-session', 'session', sessions, turns),
    ...packFiles('boats-calibration', 'calibration', cases, prompts),
  })
  return place
}

describe('the formats of the published suites and the harness', () => {
  it('include the four report files of `eval all`', async () => {
    using place = boatPlace()
    const packs = ['--packs', 'packs', '--pack', 'boats', '--pack', 'boats-session']

    const systems = ['--backend', 'bm25', '--backend', 'vector']
    const { exitCode, stderr } = await place.run('eval', 'all', ...packs, ...systems, '--out', 'out')

    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('Reports:') })
    for (const name of [
      'retrieval-report.json',
      'retrieval-report-vector.json',
      'session-retrieval-report.json',
      'session-retrieval-report-vector.json',
    ]) {
      const text = normalise(readFileSync(join(place.work, 'out', name), 'utf8'), place.work)
      await expect(text).toMatchFileSnapshot(stored(name))
    }
  })

  it('include the documents of runs and baselines', async () => {
    using place = boatPlace()
    const evals = ['--evals', 'evals']

    await place.run('benchmark', 'run', 'packs/boats', '--run-id', 'run-001', ...evals)
    await place.run('benchmark', 'snapshot', '--snapshot-id', 'main', '--notes', 'The first.', ...evals)

    for (const file of [
      'runs/run-001.json',
      'runs/run-001/cases.jsonl',
      'runs/run-001/environment.json',
      'baselines/main.json',
    ]) {
      const text = normalise(readFileSync(join(place.work, 'evals', file), 'utf8'), place.work)
      const name = file.startsWith('baselines')
        ? 'baseline.json'
        : `run-${basename(file).replace(/^run-001/u, 'summary')}`
      await expect(text).toMatchFileSnapshot(stored(name))
    }
  })

  it('include the evidence and the bundle of a task', async () => {
    using place = createSandbox()
    // The task without its Python checks, which need a sandbox that some machines do not have.
    const text = boatTask.replace(/## Automated Checks.*?(?=## LLM)/su, '').replace('hybrid', 'llm_judge')
    const task = writeTask(place.work, 'task_boat', text.replace(/^grading_weights.*\n/mu, ''))
    const script = join(place.work, 'agent.mjs')
    writeFileSync(script, notebookAgent)
    const agent = `command:${process.execPath} ${script}`
    const evals = ['--evals', 'evals']

    const env = { PATH: process.env.PATH ?? '' }
    await place.runWith({ env }, 'task', 'run', task, '--agent', agent, '--run-id', 'boat', ...evals)
    const reported = await place.runWith({ env }, 'task', 'report', 'boat', '--bundle', 'bundle', ...evals)

    expect(reported.stderr).toBe('')
    const evidence = join(place.work, 'evals', 'runs', 'boat', 'evidence', 'task_boat', '1')
    const files = {
      'task-transcript.jsonl': join(evidence, 'transcript.jsonl'),
      'task-evidence.json': join(evidence, 'evidence.json'),
      'task-grade.json': join(place.work, 'evals', 'runs', 'boat', 'grades', 'task_boat', '1.json'),
      'task-report.md': join(place.work, 'bundle', 'report.md'),
      'task-report.json': join(place.work, 'bundle', 'report.json'),
    }
    for (const [name, file] of Object.entries(files)) {
      await expect(normalise(readFileSync(file, 'utf8'), place.work)).toMatchFileSnapshot(stored(name))
    }
    expect(readdirSync(join(place.work, 'bundle')).toSorted()).toEqual([
      'report.json',
      'report.md',
      'workspace-artifact.zip',
    ])
  })
})
