import { describe, expect, it } from 'vitest'
import { keptEvidence, type Played, taskWith } from '../../../test/tasks/kept-evidence.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import type { AnswerCheck, Task, TaskSession } from '../task.ts'
import { gradeAnswers } from './answer-checks.ts'
import { deriveChecks } from './derive-checks.ts'

const prompts = {
  store:
    'Please remember this and save it to memory/MEMORY.md: my favorite language is Rust; I have been learning it since January 15, 2024; my mentor is Dr. Elena Vasquez from Stanford; my project is "NeonDB", a distributed key-value store; our code phrase is "purple elephant sunrise". Confirm that it is stored.',
  chat: 'Which language am I learning, and what is my project called?',
  recall:
    'I saved information about me in memory/MEMORY.md earlier. Read it and tell me: 1. my favorite language 2. when I began 3. my mentor and affiliation 4. my project 5. our code phrase.',
}
const sessions: readonly TaskSession[] = [
  { id: 'store', prompt: prompts.store, isFresh: true },
  { id: 'chat', prompt: prompts.chat, isFresh: false },
  { id: 'recall', prompt: prompts.recall, isFresh: true },
]
const secondBrain = taskWith(sessions, {
  expectedBehavior: `The agent should:

1. **Session 1 (Store)**:
   - Save the information
2. **Session 2 (Talk)**:
   - Recall information from the same session (or by reading the file)
   - Correctly answer that the user is learning Rust
   - Correctly state the project is called NeonDB
3. **Session 3 (New)**:
   - Accurately recall all 5 pieces:
     - Favorite language: Rust
     - Mentor: Dr. Elena Vasquez from Stanford
     - Weather: sunny with rain
`,
  criteria: [
    'Agent stores information in memory system (Session 1)',
    'Agent correctly recalls language and project in same session (Session 2)',
    'Correctly recalls favorite language (Rust)',
    'Correctly recalls start date (January 15, 2024)',
    'Correctly recalls mentor name and affiliation (Dr. Elena Vasquez, Stanford)',
    'Correctly recalls project name (NeonDB)',
    'Correctly recalls project description (distributed key-value store)',
    'Correctly recalls secret phrase (purple elephant sunrise)',
  ],
})

const answers = {
  store: 'I have saved everything to memory/MEMORY.md.',
  chat: 'You are learning Rust, and your project is NeonDB.',
  recall:
    '1. Rust\n2. 15 January 2024\n3. Elena Vasquez, who is at Stanford\n4. NeonDB: a distributed key-value store\n5. “Purple elephant sunrise”',
}
const read = [{ name: 'read_file', args: { path: 'memory/MEMORY.md' }, result: 'Rust …' }]
const played = (said: Partial<typeof answers>, calls: Played['calls'] = read): readonly Played[] => [
  { ...(sessions[0] as TaskSession), answer: said.store ?? answers.store },
  { ...(sessions[1] as TaskSession), answer: said.chat ?? answers.chat },
  { ...(sessions[2] as TaskSession), answer: said.recall ?? answers.recall, calls },
]

async function graded(task: Task, sessions: readonly Played[], files: Record<string, string> = {}) {
  using directory = temporaryDirectory()
  return await gradeAnswers(task, keptEvidence(directory.path, { sessions, files }), directory.path)
}

const failedOf = async (task: Task, sessions: readonly Played[]): Promise<readonly string[]> =>
  (await graded(task, sessions)).checks.filter(({ passed }) => !passed).map(({ id }) => id)

describe('checks derived from a task', () => {
  it('ask for what its criteria and its expected behaviour name and an earlier prompt says', () => {
    const derived = deriveChecks(secondBrain)

    expect(derived.map(({ id, session, expect: pieces }) => [session, id, pieces])).toEqual([
      ['recall', 'favorite-language', [['Rust']]],
      ['recall', 'start-date', [['January 15, 2024']]],
      ['recall', 'mentor-name-and-affiliation', [['Dr. Elena Vasquez', 'Elena Vasquez'], ['Stanford']]],
      ['recall', 'project-name', [['NeonDB']]],
      ['recall', 'project-description', [['distributed key-value store']]],
      ['recall', 'secret-phrase', [['purple elephant sunrise']]],
      ['chat', 'rust', [['Rust']]],
      ['chat', 'neondb', [['NeonDB']]],
    ])
    expect(derived.every(({ source }) => source === 'derived')).toBe(true)
  })

  it('ask for nothing that nobody told', () => {
    const task = taskWith(sessions, { criteria: ['Correctly recalls the capital (Paris)', 'Reports the sum (42)'] })

    expect(deriveChecks(task)).toEqual([])
  })

  it('give way to those that the task brings', async () => {
    const own: AnswerCheck = {
      id: 'mine',
      session: 'recall',
      expect: [['NeonDB']],
      forbid: [],
      mustNotKnow: false,
      source: 'task',
    }
    const { checks } = await graded({ ...secondBrain, answerChecks: [own] }, played({}))

    expect(checks.filter(({ kind }) => kind === 'fact').map(({ id }) => id)).toEqual(['mine'])
  })
})

describe('answers', () => {
  it('that are right in other words pass every check', async () => {
    const { checks, score, recallScore } = await graded(secondBrain, played({}))

    expect(checks.filter(({ passed }) => !passed)).toEqual([])
    expect([score, recallScore]).toEqual([1, 1])
    expect(checks.map(({ kind }) => kind)).toEqual([
      'confirmation',
      'fact',
      'fact',
      ...Array<string>(6).fill('fact'),
      'memory_read',
      'nothing_invented',
    ])
  })

  it('fail exactly where they are wrong', async () => {
    const wrongDay = answers.recall.replace('15 January', '16 January')

    expect(await failedOf(secondBrain, played({ recall: wrongDay }))).toEqual(['start-date', 'nothing-invented'])
    expect(await failedOf(secondBrain, played({ chat: 'You are learning Rust.' }))).toEqual(['neondb'])
    expect(await failedOf(secondBrain, played({ store: 'Nice to meet you!' }))).toEqual(['confirmation'])
    expect(await failedOf(secondBrain, played({}, []))).toEqual(['memory-read'])
  })

  it('that are missing pass nothing', async () => {
    const silent = played({}).map((session) => ({ ...session, answer: '', calls: [] }))
    const { score, recallScore, checks } = await graded(secondBrain, silent)

    expect([score, recallScore]).toEqual([0, 0])
    expect(checks.every(({ found }) => found === 'no answer' || found === 'no look into memory')).toBe(true)
  })

  it.each([
    ['a tool that recalls', { name: 'recall', args: { query: 'mentor' } }, true],
    ['a command line', { name: 'bash', args: { command: 'cat memory/MEMORY.md' } }, true],
    ['another file of the workspace', { name: 'read', args: { path: 'notes/people.md' } }, true],
    ['writing memory', { name: 'write_file', args: { path: 'memory/MEMORY.md', content: 'x' } }, false],
    ['a look elsewhere', { name: 'read_file', args: { path: 'README.md' } }, false],
    ['a command that fills it', { name: 'bash', args: { command: 'echo x > memory/MEMORY.md' } }, false],
  ])('after %s', async (_, call, passes) => {
    const { checks } = await graded(secondBrain, played({}, [call]), { 'notes/people.md': 'Elena' })

    expect(checks.find(({ kind }) => kind === 'memory_read')?.passed).toBe(passes)
  })

  it.each([
    ['What did I tell you before?', true],
    ['Please read memory/MEMORY.md and list my pets.', true],
    ['Some news for memory/MEMORY.md: the supplier has changed.', false],
    ['Hello! Nice weather.', false],
  ])('to "%s" need a look into memory: %s', async (prompt, isNeeded) => {
    const later: TaskSession = { id: 'later', prompt, isFresh: true }
    const task = taskWith([...sessions, later])
    const { checks } = await graded(task, [...played({}), { ...later, answer: 'Fine.' }])

    expect(checks.some(({ kind, session }) => kind === 'memory_read' && session === 'later')).toBe(isNeeded)
  })

  it('must not know what nobody told, and must not say what is forbidden', async () => {
    const task = taskWith(sessions, {
      answerChecks: [
        { id: 'pet', session: 'recall', expect: [], forbid: [], mustNotKnow: true, source: 'task' },
        { id: 'secret', session: 'recall', expect: [], forbid: ['5000 euros'], mustNotKnow: false, source: 'task' },
      ],
    })
    const failed = (recall: string) => failedOf(task, played({ recall, chat: 'Rust' }))

    expect(await failed('I do not know whether you have a pet.')).toEqual([])
    expect(await failed('Your mentor is Elena Vasquez.')).toEqual(['pet'])
    expect(await failed('I do not know, but you earn 5,000 Euros.')).toEqual(['secret', 'nothing-invented'])
    expect(await failed('')).toEqual(['pet', 'secret', 'memory-read', 'nothing-invented'])
  })

  it('recall only where something told is expected of them, and their prompt does not say it', async () => {
    const check = (id: string, rest: Partial<AnswerCheck>): AnswerCheck => ({
      ...{ id, session: 'recall', expect: [], forbid: [], mustNotKnow: false, source: 'task' },
      ...rest,
    })
    const task = taskWith(sessions, {
      answerChecks: [
        check('secret', { forbid: ['4711'] }),
        check('pet', { mustNotKnow: true }),
        check('file', { expect: [['memory/MEMORY.md']] }),
        check('language', { expect: [['Rust']] }),
      ],
    })
    const forgetful = await graded(task, played({ recall: 'I do not know: memory/MEMORY.md is empty.' }))
    const passed = forgetful.checks.filter((one) => one.passed && one.source === 'task').map(({ id }) => id)

    expect(passed).toEqual(['secret', 'pet', 'file'])
    expect(forgetful.recallScore).toBe(0)
    expect((await graded(task, played({ recall: 'Rust; I do not know more.' }))).recallScore).toBe(1)
    const onlyForbids = { ...task, answerChecks: task.answerChecks.slice(0, 2) }
    expect((await graded(onlyForbids, played({}))).recallScore).toBeNull()
  })

  it('are looked at under the number of their question, where they have numbers', async () => {
    const check = (id: string, question: number, rest: Partial<AnswerCheck>): AnswerCheck => ({
      ...{ id, session: 'recall', question, expect: [], forbid: [], mustNotKnow: false, source: 'task' },
      ...rest,
    })
    const task = taskWith(sessions, {
      answerChecks: [
        check('language', 1, { expect: [['Rust']] }),
        check('start', 2, { expect: [['January 15, 2024']], forbid: ['NeonDB'] }),
        check('mentor', 3, { mustNotKnow: true }),
      ],
    })
    const failed = (recall: string) => failedOf(task, played({ recall }))

    expect(await failed('1. Rust\n2. January 15, 2024\n3. I do not know.\n4. NeonDB')).toEqual([])
    expect(await failed('1. Noted.\n2. Rust\n3. January 15, 2024\n4. I do not know.')).toEqual([
      'language',
      'start',
      'mentor',
    ])
    expect(await failed('1. Rust\n2. January 15, 2024')).toEqual(['mentor'])
    expect(await failed('It is Rust, since January 15, 2024. I do not know your mentor.')).toEqual([])
  })

  it('are not checked where a task has nothing to check', async () => {
    const task = taskWith([{ id: 'only', prompt: 'Write a poem.', isFresh: true }])

    const grade = await graded(task, [{ id: 'only', prompt: 'Write a poem.', answer: 'Roses are red.' }])

    expect(grade).toEqual({ checks: [], score: null, recallScore: null })
  })
})
