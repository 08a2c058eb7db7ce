import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sampleTask } from '../../../test/tasks/sample-task.ts'
import { instantiate } from './parse-task.ts'

const drawing = () =>
  sampleTask({
    frontMatter: `credence:
  draw:
    language: { one_of: [Rust, Zig, Elixir, OCaml] }
    project: { one_of: [{ name: Tidepool, about: job queue }, { name: Quarry, about: an odd one }] }
    port: { one_of: [1024, 1025, 1026, 1027, 1028] }
  answer_checks:
    - { id: language, session: later, expect: [["{{language}}"]], forbid: ["not {{language}}"] }`,
    sessions: `sessions:
  - id: tell
    prompt: "I use {{ language }}; {{project.name}} is {{project.about}}."
  - id: later
    new_session: true
    prompt: "Port {{port}}?"`,
    body: '## Prompt\nx\n## Automated Checks\n```python\nwanted = "{{project.about}}"\nbraces = f"{{x}}"\n```\n',
  })

describe('drawing', () => {
  it('returns the same task for the same seed, and leaves no declared placeholder', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const task = instantiate(drawing(), seed)

        expect(task).toEqual(instantiate(drawing(), seed))
        expect(instantiate(task, seed)).toEqual(task)
        const texts = [...task.sessions.map(({ prompt }) => prompt), JSON.stringify(task.answerChecks)]
        expect(texts.join('\n')).not.toContain('{{')
      }),
      { numRuns: 30 },
    )
  })

  it('draws different values for different seeds, and reaches every value', () => {
    const tasks = Array.from({ length: 40 }, (_, seed) => instantiate(drawing(), seed))
    const languages = tasks.map(({ answerChecks }) => answerChecks[0]?.expect[0]?.[0])

    expect(new Set(languages).size).toBe(4)
    expect(new Set(tasks.map(({ sessions }) => sessions[1]?.prompt)).size).toBe(5)
    for (const { answerChecks, sessions } of tasks) {
      expect(sessions[0]?.prompt).toContain(`I use ${answerChecks[0]?.expect[0]?.[0]};`)
      expect(answerChecks[0]?.forbid).toEqual([`not ${answerChecks[0]?.expect[0]?.[0]}`])
    }
  })

  it('inserts values into Python code, and leaves its own braces alone', () => {
    const codes = Array.from({ length: 20 }, (_, seed) => instantiate(drawing(), seed).automatedChecks)

    expect(codes).toContain('wanted = "an odd one"\nbraces = f"{{x}}"')
  })

  it('does not change a variable when another one is added', () => {
    const drawnOf = (rules: string) =>
      sampleTask({ frontMatter: `credence: { draw: { ${rules} } }`, sessions: 'sessions: ["{{a}}"]' })
    const one = drawnOf('a: { one_of: [1, 2, 3, 4] }')
    const two = drawnOf('z: { one_of: [1, 2] }, a: { one_of: [1, 2, 3, 4] }')

    fc.assert(
      fc.property(fc.nat(), (seed) => {
        expect(instantiate(one, seed).sessions).toEqual(instantiate(two, seed).sessions)
      }),
      { numRuns: 30 },
    )
  })

  it('does not change a task without variables', () => {
    const task = sampleTask()

    expect(instantiate(task, 1)).toBe(task)
  })
})
