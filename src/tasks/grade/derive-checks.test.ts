import { describe, expect, it } from 'vitest'
import { taskWith } from '../../../test/tasks/kept-evidence.ts'
import type { Task, TaskSession } from '../task.ts'
import { deriveChecks } from './derive-checks.ts'

const told = `Please remember this and save it to memory/MEMORY.md:
- My favorite language is Rust. I am learning it with the cello in the background.
- My project is called "NeonDB". The budget is 3,200 euros, the floor £140,000, the fee $1,250.
- The booking reference is KX7-PQ2M, and the room is B14 with 27 desks.
- Paul is at (555) 013-7788. My editor is Vim.`

const sessionsOf = (same: string, recall: string): readonly TaskSession[] => [
  { id: 'store', prompt: told, isFresh: true },
  { id: 'same', prompt: same, isFresh: false },
  { id: 'recall', prompt: recall, isFresh: true },
]

type Given = Partial<Pick<Task, 'criteria' | 'expectedBehavior'>> & { readonly recall?: string }

/** What is asked for, as `session: value + value`. */
const derived = ({ recall = 'What do you know?', ...rest }: Given): readonly string[] =>
  deriveChecks(taskWith(sessionsOf('Which one is it?', recall), rest)).map(
    ({ session, expect: pieces }) => `${session}: ${pieces.map(([way]) => way).join(' + ')}`,
  )

describe('checks derived for the session of the same conversation', () => {
  it.each([
    ['a point that names it', '2. **Session 2**:\n   - Correctly answer that the user is learning Rust', 'Rust'],
    ['a point without an adverb', '2. **Session 2**:\n   - Say that the project is called NeonDB', 'NeonDB'],
    ['a value in small letters', '2. **Session 2**:\n   - Say that the user plays the cello', 'cello'],
    ['a number', '2. **Session 2**:\n   - States that there are 27 desks', '27'],
    ['a list in the line', '2. **Session 2**: Rust, NeonDB.', 'Rust + NeonDB'],
    ['a list of figures', '2. **Session 2**: room B14, 27 desks.', 'B14 + 27'],
    [
      'a sentence',
      '2. **Session 2 (talk)**: still there, says that it is Rust and the project NeonDB.',
      'Rust + NeonDB',
    ],
  ])('ask for %s', (_, expectedBehavior, values) => {
    expect(derived({ expectedBehavior })).toEqual([`same: ${values}`])
  })

  it.each([
    ['what is done', '2. **Session 2**: replaces Vim and says so.'],
    ['what is not to be said', '2. **Session 2**:\n   - Say that it is something else, not Vim'],
    ['a file', '2. **Session 2**: reads `memory/MEMORY.md` and gives all 27 facts:'],
    ['words that only describe', '2. **Session 2**: language and project.'],
    ['words that open a line', '2. **Session 2**: Language, project and room.'],
    ['the telling session', '1. **Session 1**: Rust, NeonDB.'],
  ])('leave out %s', (_, expectedBehavior) => {
    expect(derived({ expectedBehavior })).toEqual([])
  })

  it('ask for what a criterion names by its label', () => {
    const criteria = [
      'Agent recalls language and project in same session (Session 2)',
      'Correctly recalls favorite language (Rust)',
      'Correctly recalls project name (NeonDB)',
      'Correctly recalls project budget (3,200 euros)',
    ]

    expect(derived({ criteria })).toEqual([
      'recall: Rust',
      'recall: NeonDB',
      'recall: 3,200 euros',
      'same: Rust + NeonDB',
    ])
  })

  it('ask there for what a criterion calls the same session', () => {
    expect(derived({ criteria: ['Recalls room and desks in the same session (B14, 27)'] })).toEqual(['same: B14 + 27'])
  })

  it('ask there alone for what only that session is expected to say', () => {
    const criteria = ['Gives the reference (KX7-PQ2M)', 'Recalls the language (Rust)']
    const listed = '2. **Session 2**: KX7-PQ2M.\n3. **Session 3**: Rust.'
    const unlisted = '2. **Session 2**: KX7-PQ2M.\n3. **Session 3**: all of it.'

    expect(derived({ criteria, expectedBehavior: listed })).toEqual(['same: KX7-PQ2M', 'recall: Rust'])
    expect(derived({ criteria, expectedBehavior: unlisted })).toEqual([
      'recall: KX7-PQ2M',
      'recall: Rust',
      'same: KX7-PQ2M',
    ])
  })
})

describe('amounts', () => {
  it('are asked for whole, commas, currency and all', () => {
    const criteria = ['Recalls the floor (£140,000)', 'Recalls the fee ($1,250)', 'Recalls the phone ((555) 013-7788)']

    expect(derived({ criteria })).toEqual(['recall: £140,000', 'recall: $1,250', 'recall: 555 + 013-7788'])
  })

  it('may be written with a sign or with a word', () => {
    const [check] = deriveChecks(taskWith(sessionsOf('?', '?'), { criteria: ['Recalls the budget (3,200 euros)'] }))

    expect(check?.expect).toEqual([['3,200 euros', '€3,200', '3,200 EUR']])
  })
})

describe('what both a criterion and a point ask for', () => {
  it('is asked for as the criterion has it', () => {
    const criteria = ['Recalls the project (NeonDB)']
    const expectedBehavior = '3. **Session 3**:\n   - Project: is called "NeonDB", with a budget of 3,200 euros'

    expect(derived({ criteria, expectedBehavior })[0]).toBe('recall: NeonDB')
    expect(derived({ criteria, expectedBehavior })).toHaveLength(1)
  })
})

describe('the question a derived check belongs to', () => {
  const recall = 'Tell me:\n1. Which language do I like?\n2. What is my project called?\n3. What is the project budget?'
  const questions = (criteria: readonly string[]) =>
    deriveChecks(taskWith(sessionsOf('?', recall), { criteria })).map(({ question }) => question ?? null)

  it('is the only one that has the words of its label', () => {
    expect(questions(['Recalls the favorite language (Rust)', 'Recalls the project budget (3,200 euros)'])).toEqual([
      1, 3,
    ])
  })

  it('is none where that is not certain', () => {
    expect(questions(['Recalls the project (NeonDB)', 'Recalls the editor (Vim)'])).toEqual([null, null])
  })
})
