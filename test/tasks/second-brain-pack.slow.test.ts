import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/open-memory.ts'
import type { Agent } from '../../src/tasks/agent.ts'
import { noneAgent } from '../../src/tasks/agent.ts'
import { referenceAgent } from '../../src/tasks/agents/reference-agent.ts'
import type { Control } from '../../src/tasks/evidence.ts'
import { gradeAnswers } from '../../src/tasks/grade/answer-checks.ts'
import { gradeAutomatically } from '../../src/tasks/grade/automated-checks.ts'
import { findPython, openSandbox } from '../../src/tasks/grade/sandbox.ts'
import { loadTasks } from '../../src/tasks/parse/load-tasks.ts'
import { instantiate } from '../../src/tasks/parse/parse-task.ts'
import { executeTask } from '../../src/tasks/run/execute-task.ts'
import type { Task } from '../../src/tasks/task.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

const python = await findPython()
const sandbox = await openSandbox({ python })
const tasks = loadTasks([join('packs', 'second-brain')], { workingDirectory: '.', packs: [] })

const open = async (dir: string) => openMemory({ dir })
const reference = referenceAgent({ openMemory: open })

/** Works like the reference agent, but gives a wrong answer in every conversation except the first. */
const liar: Agent = {
  ...reference,
  name: 'liar',
  start: async (place) => {
    const atWork = await reference.start(place)
    let opened = 0
    return {
      ...atWork,
      open: async () => {
        opened += 1
        const isFirst = opened === 1
        const conversation = await atWork.open()
        return {
          ...conversation,
          send: async (prompt, signal) => {
            const turn = await conversation.send(prompt, signal)
            if (isFirst) return turn
            const answer = 'I looked it up: Cobol, March 3, 1999, Bob Miller of Yale, Foobar, and "green tea at noon".'
            const said = { role: 'assistant', content: [{ type: 'text', text: answer }] } as const
            return { ...turn, answer, messages: [...turn.messages.slice(0, -1), said] }
          },
        }
      },
    }
  },
}

type Graded = {
  readonly automated: number | null
  readonly scores: Readonly<Record<string, number>>
  readonly answers: number | null
  readonly recall: number | null
  readonly failed: readonly string[]
}

async function graded(task: Task, agent: Agent, { seed = 1, control = 'none' as Control } = {}): Promise<Graded> {
  using directory = temporaryDirectory()
  const folder = mkdtempSync(join(directory.path, 'evidence-'))
  const signal = new AbortController().signal
  const evidence = await executeTask({ task, agent, folder, repeat: 1, seed, control, signal, now: () => new Date() })
  expect(evidence).toMatchObject({ outcome: 'done' })
  const filled = instantiate(task, seed)
  const { answerScore: score, recallScore, checks } = await gradeAnswers(filled, evidence, folder)
  const automated = await gradeAutomatically({ task: filled, evidence, folder, sandbox })
  if (sandbox.state === 'ready') expect(automated).toMatchObject({ state: 'scored' })
  const isScored = automated.state === 'scored'
  return {
    automated: isScored ? automated.score : null,
    scores: isScored ? automated.scores : {},
    answers: score,
    recall: recallScore,
    failed: checks.filter(({ passed }) => !passed).map(({ session, id }) => `${session} ${id}`),
  }
}

describe('the second-brain pack', () => {
  it.each(tasks.map((task) => [task.id, task] as const))(
    '%s checks that storing is confirmed and that memory is read in new sessions',
    (_, { sessions, answerChecks }) => {
      const asked = new Set(answerChecks.filter(({ recall }) => recall).map(({ session }) => session))
      const inNewSessions = sessions.slice(1).filter(({ id, isFresh }) => isFresh && asked.has(id))
      const lookedUp = answerChecks.filter(({ memoryRead }) => memoryRead).map(({ session }) => session)

      expect(answerChecks[0]).toMatchObject({ id: 'stored', session: 'store', recall: false })
      expect(inNewSessions.length).toBeGreaterThan(0)
      expect(lookedUp).toEqual(inNewSessions.map(({ id }) => id))
    },
  )

  it('contains the task and eleven harder ones, without warnings', () => {
    expect(tasks.map(({ id }) => id)).toHaveLength(12)
    expect(tasks.map(({ id }) => id)).toContain('second-brain')
    expect(tasks.flatMap(({ warnings }) => warnings)).toEqual([])
  })

  it.each(tasks.map((task) => [task.id, task] as const))(
    '%s starts its last session new, and has weights that sum to 100 percent',
    (_, task) => {
      const weights = [...(task.rubric ?? '').matchAll(/Weight: (\d+)%/gu)].map(([, weight]) => Number(weight))

      expect(task.gradingType).toBe('hybrid')
      expect(task.sessions.at(-1)?.isFresh).toBe(true)
      expect(weights.reduce((sum, weight) => sum + weight, 0)).toBe(100)
      // A check that only forbids an answer does not prove knowledge.
      for (const { expect: wanted, mustNotKnow, memoryRead } of task.answerChecks) {
        expect(wanted.length > 0 || mustNotKnow || memoryRead).toBe(true)
      }
    },
  )
})

// Without a sandbox the graders do not run, and the answer checks are the only grade.
describe.skipIf(sandbox.state === 'none')(
  `graded by Python${sandbox.state === 'none' ? `: ${sandbox.reason}` : ''}`,
  () => {
    it.each(tasks.map((task) => [task.id, task] as const))(
      '%s scores only with memory',
      async (_, task) => {
        const done = await graded(task, reference)
        expect(done.automated).toBeGreaterThanOrEqual(0.7)
        expect(done.recall).toBeGreaterThan(0)

        const forgetful = await graded(task, reference, { control: 'no-memory' })
        expect(forgetful).toMatchObject({ answers: 0, recall: 0 })
        expect(recalledIn(forgetful)).toEqual(recalledIn(forgetful).map(() => 0))

        const lied = await graded(task, liar)
        expect(lied).toMatchObject({ answers: 0, recall: 0 })
        expect(recalledIn(lied)).toEqual(recalledIn(lied).map(() => 0))
        expect(lied.automated).toBeLessThan(0.75)

        expect(await graded(task, noneAgent)).toMatchObject({ automated: 0, answers: 0, recall: 0 })
      },
      60_000,
    )

    it.each([2, 3, 4, 5, 6])(
      'random facts of the seed %i are recalled',
      async (seed) => {
        const task = tasks.find(({ id }) => id === 'second-brain-random') as Task
        const { automated, answers } = await graded(task, reference, { seed })

        expect(automated).toBeGreaterThan(0.9)
        expect(answers).toBeGreaterThan(0.9)
      },
      30_000,
    )
  },
)

const recalledIn = ({ scores }: Graded): readonly number[] =>
  Object.entries(scores).flatMap(([name, score]) =>
    /^(?:recalled_|not_the_old_|kept_out|not_given|not_mixed|nothing_of)/u.test(name) ? [score] : [],
  )
