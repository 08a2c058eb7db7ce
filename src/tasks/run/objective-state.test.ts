import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sampleTask } from '../../../test/tasks/sample-task.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { noUsage } from '../../models/chat-model.ts'
import { type Agent, noneAgent } from '../agent.ts'
import { gradeState } from '../grade/task-grade.ts'
import { checkTask } from '../parse/parse-task.ts'
import { readEvidence } from './evidence-folder.ts'
import { executeTask } from './execute-task.ts'

const frontMatter = `workspace_files:
  - { path: chart.txt, content: Depth 2.1 m }
  - { path: check.mjs, content: "import fs from 'node:fs'; fs.writeFileSync('left.txt', ''); process.exit(fs.existsSync('boat.txt') ? 7 : 1)" }
credence:
  state_checks:
    - { id: named, session: tell, file: boat.txt, contains: [Petrel] }
    - { id: untouched, session: tell, file: chart.txt, equals: Depth 2.1 m }
    - { id: draft, session: later, file: draft.txt, exists: false }
    - { id: program, session: later, command: [node, check.mjs], exit_code: 7 }`

/** An agent that writes these files into its workspace at every prompt. */
const writer = (files: Readonly<Record<string, string>>): Agent => ({
  name: 'writer',
  version: '1',
  model: null,
  unavailable: async () => null,
  start: async ({ workspace }) => ({
    open: async () => {
      const id = `conversation-${Math.random()}`
      let count = 0
      const send = async () => {
        for (const [path, content] of Object.entries(files)) {
          mkdirSync(dirname(join(workspace, path)), { recursive: true })
          writeFileSync(join(workspace, path), content)
        }
        count += 2
        return { answer: 'Done.', usage: noUsage, messages: [] }
      }
      return { id, process: null, messageCount: () => count, send, close: async () => {} }
    },
    stop: async () => {},
  }),
})

async function gradeOf(agent: Agent, given = frontMatter, searchPath = dirname(process.execPath)) {
  using directory = temporaryDirectory()
  const task = sampleTask({ frontMatter: given })
  const folder = join(directory.path, 'evidence')
  const common = { folder, repeat: 1, seed: 1, control: 'none' as const, now: () => new Date(0) }
  const signal = new AbortController().signal
  await executeTask({ ...common, task, agent, signal, searchPath, temporary: directory.path })
  const evidence = await readEvidence(folder)
  return { grade: gradeState(task, evidence), evidence }
}

describe('the objective state', () => {
  it('is read after each session that declares facts, and scored by the facts that were false before', async () => {
    const { grade } = await gradeOf(writer({ 'boat.txt': 'The Petrel' }))

    expect(grade).toMatchObject({ actionOutcomeScore: 1, stateScore: 1, objectiveStateCoverage: 2 / 3 })
    expect(grade?.facts.map(({ id, holds, heldBefore }) => [id, holds, heldBefore])).toEqual([
      ['named', true, false],
      ['untouched', true, true],
      ['draft', true, true],
      ['program', true, false],
    ])
  })

  it('gives no points to an agent that does nothing, although half of the facts were true before', async () => {
    expect((await gradeOf(noneAgent)).grade).toMatchObject({ actionOutcomeScore: 0, stateScore: 0.5 })
  })

  it('notices a file that should not have been changed or created', async () => {
    const { grade } = await gradeOf(writer({ 'boat.txt': 'Petrel', 'chart.txt': 'Depth 9 m', 'draft.txt': '' }))

    expect(grade).toMatchObject({ actionOutcomeScore: 1, stateScore: 0.5 })
  })

  it('is not covered if a fact cannot be read, and a command changes nothing that the agent sees', async () => {
    const { grade, evidence } = await gradeOf(writer({ 'boat.txt': 'Petrel' }), frontMatter, '/nowhere')

    expect(grade?.facts.at(-1)).toMatchObject({ holds: null, observed: 'The program "node" is not on the path.' })
    expect(grade?.actionOutcomeScore).toBe(0.5)
    const whole = await gradeOf(writer({ 'boat.txt': 'Petrel' }))
    expect(whole.evidence.workspace.map(({ path }) => path)).not.toContain('workspace/left.txt')
    expect(evidence.events.filter(({ kind }) => kind === 'state_read')).toHaveLength(4)
  })

  it('is not graded for a task without declared facts', async () => {
    expect((await gradeOf(noneAgent, '')).grade).toBeNull()
  })

  it.each([
    ['{ id: a, session: tell, file: ../secret }', 'stays inside'],
    ['{ id: a, session: tell }', 'either file or command'],
    ['{ id: a, session: tell, file: a, command: [ls] }', 'either file or command'],
    ['{ id: a, session: nowhere, file: a }', 'must be one of'],
    ['{ id: a, session: tell, shell: ls }', 'it may have id, session, file'],
  ])('is refused as %s', (check, message) => {
    const task = `---\nid: x\nname: x\nsessions:\n  - { id: tell, prompt: Hi }\ncredence:\n  state_checks:\n    - ${check}\n---\n\n## Prompt\n\nHi\n`

    const { problems } = checkTask(Buffer.from(task), 'x.md')

    expect(problems.map((problem) => problem.message).join()).toContain(message)
  })
})
