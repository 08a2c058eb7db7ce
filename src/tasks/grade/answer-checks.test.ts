import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keptEvidence, type Played, taskWith } from '../../../test/tasks/recorded-evidence.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import type { AnswerCheck, TaskSession } from '../parse/fields.ts'
import type { Task } from '../task.ts'
import { gradeAnswers, isUnknownAnswer } from './answer-checks.ts'

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
const check = (id: string, rest: Partial<AnswerCheck>): AnswerCheck => ({
  id,
  session: 'recall',
  expect: [],
  exact: false,
  recall: true,
  forbid: [],
  mustNotKnow: false,
  memoryRead: false,
  ...rest,
})
const stating = (...answerChecks: readonly AnswerCheck[]): Task => taskWith(sessions, { answerChecks })

const secondBrain = stating(
  check('stored', { session: 'store', recall: false, expect: [['saved', 'stored', 'noted']], forbid: ['not saved'] }),
  check('same-language', { session: 'chat', expect: [['Rust']] }),
  check('same-project', { session: 'chat', expect: [['NeonDB']] }),
  check('language', { expect: [['Rust']] }),
  check('start', { expect: [['January 15, 2024']] }),
  check('mentor', { expect: [['Elena Vasquez'], ['Stanford']] }),
  check('project', { expect: [['NeonDB'], ['distributed key-value store']] }),
  check('phrase', { expect: [['purple elephant sunrise']] }),
  check('memory-read', { memoryRead: true }),
)

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

describe('a task without checks of answers', () => {
  it('is not graded by its answers, whatever its criteria are', async () => {
    const task = taskWith(sessions, { criteria: ['Correctly recalls favorite language (Rust)'] })

    expect(await graded(task, played({}))).toEqual({
      checks: [],
      answerScore: null,
      recallScore: null,
      sameSessionScore: null,
    })
  })
})

describe('answers', () => {
  it('pass every check if they are right in other words', async () => {
    const { checks, answerScore: score, recallScore, sameSessionScore } = await graded(secondBrain, played({}))

    expect(checks.filter(({ passed }) => !passed)).toEqual([])
    expect([score, recallScore, sameSessionScore]).toEqual([1, 1, 1])
  })

  it('fail exactly the checks that they get wrong', async () => {
    const wrongDay = answers.recall.replace('15 January', '16 January')

    expect(await failedOf(secondBrain, played({ recall: wrongDay }))).toEqual(['start'])
    expect(await failedOf(secondBrain, played({ chat: 'You are learning Rust.' }))).toEqual(['same-project'])
    expect(await failedOf(secondBrain, played({ store: 'Nice to meet you!' }))).toEqual(['stored'])
    expect(await failedOf(secondBrain, played({}, []))).toEqual(['memory-read'])
  })

  it('fail every check if they are missing', async () => {
    const silent = played({}).map((session) => ({ ...session, answer: '', calls: [] }))
    const { answerScore: score, recallScore, sameSessionScore, checks } = await graded(secondBrain, silent)

    expect([score, recallScore, sameSessionScore]).toEqual([0, 0, 0])
    expect(checks.every(({ found }) => found === 'no answer')).toBe(true)
  })

  it.each([
    ['a tool that recalls', { name: 'recall', args: { query: 'mentor' } }, true],
    ['a command line', { name: 'bash', args: { command: 'cat memory/MEMORY.md' } }, true],
    ['another file of the workspace', { name: 'read', args: { path: 'notes/people.md' } }, true],
    ['writing memory', { name: 'write_file', args: { path: 'memory/MEMORY.md', content: 'x' } }, false],
    ['reading another file', { name: 'read_file', args: { path: 'README.md' } }, false],
    ['a command that writes memory', { name: 'bash', args: { command: 'echo x > memory/MEMORY.md' } }, false],
  ])('are checked for a look into memory: after %s', async (_, call, passes) => {
    const { checks } = await graded(secondBrain, played({}, [call]), { 'notes/people.md': 'Elena' })

    expect(checks.find(({ id }) => id === 'memory-read')?.passed).toBe(passes)
  })

  it('must not contain facts that were never told, or forbidden phrases', async () => {
    const task = stating(
      check('pet', { mustNotKnow: true }),
      check('secret', { forbid: ['5000 euros'] }),
      check('memory-read', { memoryRead: true }),
    )
    const failed = (recall: string) => failedOf(task, played({ recall, chat: 'Rust' }))

    expect(await failed('I do not know whether you have a pet.')).toEqual([])
    expect(await failed('Your mentor is Elena Vasquez.')).toEqual(['pet'])
    expect(await failed('I do not know, but you earn 5,000 Euros.')).toEqual(['secret'])
    expect(await failed('')).toEqual(['pet', 'secret', 'memory-read'])
  })

  it('may have to match character for character', async () => {
    const motto = 'slow  is   smooth; smooth  is   fast'
    const task = stating(check('motto', { exact: true, expect: [[motto]] }))

    expect(await failedOf(task, played({ recall: `It is "${motto}".` }))).toEqual([])
    expect(await failedOf(task, played({ recall: 'It is "slow is smooth; smooth is fast".' }))).toEqual(['motto'])
  })

  it('count towards the score only in new sessions', async () => {
    const wrong = await graded(secondBrain, played({ chat: 'No idea.', store: 'Hello!' }))
    const echo = await graded(secondBrain, played({ recall: 'I do not know.' }))

    expect([wrong.answerScore, wrong.recallScore, wrong.sameSessionScore]).toEqual([1, 1, 0])
    expect([echo.answerScore, echo.recallScore, echo.sameSessionScore]).toEqual([0, 0, 1])
  })

  it('count as the same conversation if a session that claims to be new has earlier messages', async () => {
    using directory = temporaryDirectory()
    const evidence = keptEvidence(directory.path, { sessions: played({}) })
    const continued = evidence.sessions.map((session) => ({ ...session, priorMessages: 4 }))

    expect(await gradeAnswers(secondBrain, { ...evidence, sessions: continued }, directory.path)).toMatchObject({
      answerScore: null,
      recallScore: null,
      sameSessionScore: 1,
    })
  })

  it('of the same conversation never change the scores of new sessions', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string(),
        fc.string(),
        fc.constantFrom(answers.recall, 'Rust.', ''),
        async (store, chat, recall) => {
          const { answerScore: score, recallScore } = await graded(secondBrain, played({ store, chat, recall }))
          const usual = await graded(secondBrain, played({ recall }))

          expect([score, recallScore]).toEqual([usual.answerScore, usual.recallScore])
        },
      ),
      { numRuns: 20 },
    )
  })

  it('fail every check if they are blank', async () => {
    const texts = fc.array(fc.stringMatching(/^[a-z]{1,6}$/), { maxLength: 2 })
    const conditions = fc.record({
      expect: fc.array(fc.array(fc.constantFrom('Rust', '!!', 'nothing'), { minLength: 1, maxLength: 2 }), {
        maxLength: 2,
      }),
      forbid: texts,
      mustNotKnow: fc.boolean(),
      memoryRead: fc.boolean(),
      exact: fc.boolean(),
    })
    const blank = fc.constantFrom('', ' ', '\n\t ')

    await fc.assert(
      fc.asyncProperty(conditions, fc.constantFrom('store', 'chat', 'recall'), blank, async (rest, session, answer) => {
        const { checks } = await graded(
          stating(check('any', { ...rest, session })),
          played({ store: answer, chat: answer, recall: answer }),
        )

        expect(checks.map(({ passed }) => passed)).toEqual([false])
      }),
      { numRuns: 30 },
    )
  })

  it.each([
    ['values of an earlier prompt', { expect: [['Rust']] }, 1],
    ['no value that is only forbidden', { forbid: ['4711'] }, null],
    ['no value that must be admitted as unknown', { mustNotKnow: true }, null],
    ['no value of the same prompt', { expect: [['memory/MEMORY.md']] }, null],
    ['no value that was never told', { expect: [['Paris']] }, null],
    ['no value that the task excludes from recall', { recall: false, expect: [['Rust']] }, null],
    ['no value in a file of the task', { expect: [['Stanford']] }, null],
  ] as const)('recall %s', async (_, rest, recallScore) => {
    const task = {
      ...stating(check('one', rest)),
      workspaceFiles: [{ kind: 'inline', path: 'people.md', content: 'Stanford' } as const],
    }
    const recall = 'Rust from Stanford; I do not know more than memory/MEMORY.md says: Paris.'

    expect((await graded(task, played({ recall }))).recallScore).toBe(recallScore)
  })

  it('score zero in new sessions if no value was recalled', async () => {
    const task = stating(
      check('secret', { forbid: ['4711'] }),
      check('pet', { mustNotKnow: true }),
      check('file', { expect: [['memory/MEMORY.md']] }),
      check('memory-read', { memoryRead: true }),
      check('language', { expect: [['Rust']] }),
    )
    const forgetful = await graded(task, played({ recall: 'I do not know: memory/MEMORY.md is empty.' }))

    expect(forgetful).toMatchObject({ answerScore: 0, recallScore: 0 })
    expect(forgetful.checks[1]?.found).toContain('no value was recalled')
    expect(await graded(task, played({ recall: 'Rust; I do not know more than memory/MEMORY.md.' }))).toMatchObject({
      answerScore: 1,
      recallScore: 1,
    })
  })

  it('are not checked if a task declares no checks', async () => {
    const task = taskWith([{ id: 'only', prompt: 'Write a poem.', isFresh: true }])

    const grade = await graded(task, [{ id: 'only', prompt: 'Write a poem.', answer: 'Roses are red.' }])

    expect(grade).toEqual({ checks: [], answerScore: null, recallScore: null, sameSessionScore: null })
  })
})

describe('an answer that admits not knowing', () => {
  it.each([
    "I don't know your birthday.",
    'I don’t have any information about your shoe size.',
    'You have not told me that.',
    "That isn't something you mentioned.",
    'There is no record of a pet in memory/MEMORY.md.',
    'I could not find anything about that.',
    "I can't find it in my notes.",
    'Your favourite colour is unknown to me.',
    'Nothing is stored about your sister.',
    'The file does not mention it.',
    "You haven't shared your address.",
    'I am unable to recall that.',
    '我不知道您的生日。',
  ])('is recognised: %s', (answer) => {
    expect(isUnknownAnswer(answer)).toBe(true)
  })

  it.each([
    'Your birthday is May 4.',
    'I know it: blue.',
    'It is recorded in the file: NeonDB.',
    'Your mentor is Elena, as you told me.',
    '',
  ])('is not confused with: %s', (answer) => {
    expect(isUnknownAnswer(answer)).toBe(false)
  })
})
