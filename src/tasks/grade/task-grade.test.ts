import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { keptEvidence, taskWith } from '../../../test/tasks/recorded-evidence.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import type { ChatModel } from '../../models/chat-model.ts'
import type { Evidence } from '../evidence.ts'
import { openJudge } from '../judge/judge.ts'
import type { Task } from '../task.ts'
import { verdictOf } from '../task-outcomes.ts'
import { findPython, openSandbox, type Sandbox } from './sandbox.ts'
import { gradeTask, type TaskGrade } from './task-grade.ts'

const real = await openSandbox({ python: await findPython() })
const none: Sandbox = { state: 'none', reason: 'There is no python3 on this machine.' }

const saying = (text: string): ChatModel => ({
  provider: 'openai',
  model: 'judge',
  reply: async () => ({
    text,
    toolCalls: [],
    stopReason: 'end',
    usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
    model: 'judge',
  }),
})

const sessions = [
  { id: 'tell', prompt: 'Remember that my cat is Miso.', isFresh: true },
  { id: 'ask', prompt: 'What is my cat called?', isFresh: true },
]
const half = 'def grade(transcript, workspace_path):\n    return {"a": 1, "b": 0}\n'
const plainCheck = { exact: false, recall: true, forbid: [], mustNotKnow: false, memoryRead: false }
const hybrid = taskWith(sessions, {
  gradingType: 'hybrid',
  gradingWeights: { automated: 3, judge: 1 },
  automatedChecks: half,
  rubric: '### A (Weight: 100%)',
  answerChecks: [{ ...plainCheck, id: 'cat', session: 'ask', expect: [['Miso']] }],
})

type Given = {
  readonly task?: Task
  readonly sandbox?: Sandbox
  readonly judge?: ChatModel | null
  readonly evidence?: Partial<Evidence>
  readonly spoil?: (folder: string) => void
}

async function graded({
  task = hybrid,
  sandbox = real,
  judge = null,
  evidence = {},
  spoil,
}: Given): Promise<TaskGrade> {
  using directory = temporaryDirectory()
  const kept = keptEvidence(directory.path, {
    sessions: [
      { ...(sessions[0] as (typeof sessions)[0]), answer: 'Noted.' },
      {
        ...(sessions[1] as (typeof sessions)[0]),
        answer: 'Miso.',
        calls: [{ name: 'read_file', args: { path: 'memory/MEMORY.md' } }],
      },
    ],
    files: { 'memory/MEMORY.md': 'Miso' },
  })
  spoil?.(directory.path)
  return await gradeTask({
    task,
    evidence: { ...kept, ...evidence },
    folder: directory.path,
    storePath: 'runs/r/evidence/t/1',
    graders: { sandbox, judge: judge === null ? null : openJudge(judge) },
    signal: new AbortController().signal,
    now: () => new Date('2026-03-06T10:00:00Z'),
  })
}

describe.skipIf(real.state === 'none')('a hybrid task', () => {
  it('is scored by its weights', async () => {
    const grade = await graded({ judge: saying('{"scores": {"c1": 1}}') })

    expect(grade).toMatchObject({
      state: 'scored',
      automatedScore: 0.5,
      judgeScore: 1,
      answerScore: 1,
      isComplete: true,
    })
    expect(grade.score).toBeCloseTo((0.5 * 3 + 1 * 1) / 4, 10)
    expect(grade.criteria.map(({ part, name, score }) => [part, name, score])).toEqual([
      ['automated', 'a', 1],
      ['automated', 'b', 0],
      ['judge', 'A', 1],
    ])
  })

  it('without a judge shows the automated half, marked as incomplete', async () => {
    expect(await graded({})).toMatchObject({
      state: 'scored',
      score: 0.5,
      isComplete: false,
      judgeScore: null,
      judge: { state: 'unjudged' },
      notes: ['Unjudged: No judge was named.'],
    })
  })

  it('with a failing judge reports the failure, and keeps the automated half', async () => {
    const grade = await graded({ judge: saying('85') })

    expect(grade).toMatchObject({ state: 'judge_error', score: 0.5, isComplete: false })
    expect(verdictOf(grade, 0)).toBe('error')
  })

  it('with a failing grader reports the failure, and no score becomes a zero', async () => {
    const task = { ...hybrid, automatedChecks: 'def grade(t, w):\n    raise ValueError("broken")\n' }
    const grade = await graded({ task, judge: saying('{"scores": {"c1": 1}}') })

    expect(grade).toMatchObject({ state: 'grader_error', automatedScore: null, judgeScore: 1, answerScore: 1 })
    expect(grade.reason).toContain('ValueError')
    expect(verdictOf(grade, 0)).toBe('error')
  })

  it('whose weights sum to zero has no score', async () => {
    const task = { ...hybrid, gradingWeights: { automated: 0, judge: 0 } }

    expect(await graded({ task, judge: saying('{"scores": {"c1": 1}}') })).toMatchObject({
      score: null,
      isComplete: false,
    })
  })
})

describe('a task with checks of answers and without Python', () => {
  const cat = (expected: string): Task['answerChecks'][number] => ({
    ...plainCheck,
    id: expected,
    session: 'ask',
    expect: [[expected]],
  })
  const stating = (...names: readonly string[]): Task => taskWith(sessions, { answerChecks: names.map(cat) })

  it('is graded by its checks', async () => {
    const right = await graded({ task: stating('Miso') })
    const half = await graded({ task: stating('Miso', 'Mochi') })

    expect(right).toMatchObject({ state: 'scored', score: 1, isComplete: true, automated: { state: 'not_applicable' } })
    expect(half).toMatchObject({ state: 'scored', score: 0.5, automatedScore: 0.5, answerScore: 0.5 })
    expect([verdictOf(right, 0.9), verdictOf(half, 0.9)]).toEqual(['pass', 'fail'])
  })

  it('is not judged if it is graded automatically, even if there is a judge', async () => {
    const grade = await graded({ task: stating('Miso'), judge: saying('{"scores": {"c1": 1}}') })

    expect(grade).toMatchObject({ judge: { state: 'not_applicable' }, judgeScore: null, isComplete: true })
  })

  it('needs a judge if it requests one', async () => {
    const judged = { ...stating('Miso'), gradingType: 'llm_judge' as const, rubric: '### A (Weight: 100%)' }

    expect(await graded({ task: judged })).toMatchObject({ automatedScore: null, score: null, isComplete: false })
  })

  it('reports a grader error without either', async () => {
    expect(await graded({ task: taskWith(sessions) })).toMatchObject({ state: 'grader_error', score: null })
  })
})

describe('a task', () => {
  it('without python3 is graded by its answers, and the checks are skipped with the reason', async () => {
    const grade = await graded({ sandbox: none })

    expect(grade).toMatchObject({
      state: 'scored',
      score: null,
      answerScore: 1,
      automated: { state: 'skipped', reason: 'There is no python3 on this machine.' },
    })
    expect(verdictOf(grade, 0.9)).toBe('pass')
  })

  it('without any grader is skipped and unjudged, never passed or failed', async () => {
    const bare = taskWith([{ id: 'tell', prompt: 'Hello.', isFresh: true }], { automatedChecks: half })
    const grade = await graded({ task: bare, sandbox: none, evidence: { sessions: [] } })

    expect(grade).toMatchObject({ state: 'skipped', score: null, reason: 'There is no python3 on this machine.' })
    expect(verdictOf(grade, 0)).toBe('unjudged')
  })

  it.each([
    ['infra_error', 'error'],
    ['skipped', 'skipped'],
  ] as const)('whose run ended as %s is not graded', async (outcome, verdict) => {
    const grade = await graded({ evidence: { outcome, reason: 'No such program.' } })

    expect(grade).toMatchObject({
      state: outcome,
      reason: 'No such program.',
      score: null,
      answerScore: null,
      checks: [],
    })
    expect(verdictOf(grade, 0)).toBe(verdict)
  })

  it.each(['agent_failed', 'agent_timeout'] as const)(
    'whose agent ended as %s is graded on the finished part, and fails',
    async (outcome) => {
      const grade = await graded({ sandbox: none, evidence: { outcome, reason: 'It gave up.' } })

      expect(grade).toMatchObject({ state: outcome, reason: 'It gave up.', answerScore: 1 })
      expect(verdictOf(grade, 0)).toBe('fail')
    },
  )

  it('whose evidence was changed or truncated is not graded', async () => {
    const changed = await graded({
      spoil: (folder) => writeFileSync(join(folder, 'workspace/memory/MEMORY.md'), 'Mochi'),
    })
    const cut = await graded({ evidence: { isComplete: false } })

    expect(changed).toMatchObject({
      state: 'infra_error',
      reason: expect.stringContaining('workspace/memory/MEMORY.md'),
    })
    expect(cut).toMatchObject({ state: 'infra_error', score: null })
  })
})
