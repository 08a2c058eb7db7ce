import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sampleTask } from '../../../test/tasks/sample-task.ts'
import { instantiate } from './draw.ts'

const drawing = () =>
  sampleTask({
    frontMatter: `credence:
  draw:
    language: { one_of: [Rust, Zig, Elixir, OCaml] }
    former: { one_of: [Rust, Zig, Elixir, OCaml], unlike: language }
    project: { one_of: [{ name: Tidepool, about: job queue }, { name: Quarry, about: "it's \\"odd\\"" }] }
    phrase: { words: 3 }
    token: { code: 12 }
    port: { number: { from: 1024, to: 1030 } }
    start: { date: { from: 2024-02-27, to: 2024-03-01 } }
    mentor: { person: true }
  answer_checks:
    - { id: language, session: later, expect: [["{{language}}"]], forbid: ["{{former}}"] }
    - { id: start, session: later, expect: [["{{start}}", "{{start.iso}}"]] }`,
    sessions: `sessions:
  - id: tell
    prompt: "I use {{language}}, once {{former}}; {{project.name}} is {{project.about}}; say {{phrase}}; {{ mentor }} is {{mentor.first}}."
  - id: later
    new_session: true
    prompt: "Since {{start}}? Port {{port}}, token {{token}}."`,
    body: '## Prompt\nx\n## Automated Checks\n```python\nwanted = "{{project.about}}"\nbraces = f"{{x}}"\n```\n',
  })

describe('drawing', () => {
  it('gives the same task for the same seed, and leaves no placeholder that was declared', () => {
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

  it('draws different things for different seeds, and never what it must be unlike', () => {
    const tasks = Array.from({ length: 40 }, (_, seed) => instantiate(drawing(), seed))
    const languages = tasks.map(({ answerChecks }) => answerChecks[0]?.expect[0]?.[0])

    expect(new Set(languages).size).toBe(4)
    expect(new Set(tasks.map(({ sessions }) => sessions[0]?.prompt)).size).toBe(40)
    for (const { answerChecks } of tasks) expect(answerChecks[0]?.forbid[0]).not.toBe(answerChecks[0]?.expect[0]?.[0])
  })

  it('draws days of a real calendar', () => {
    const days = Array.from({ length: 60 }, (_, seed) => instantiate(drawing(), seed).answerChecks[1]?.expect[0])

    expect(new Set(days.map((ways) => ways?.[1]))).toEqual(
      new Set(['2024-02-27', '2024-02-28', '2024-02-29', '2024-03-01']),
    )
    expect(days.find((ways) => ways?.[1] === '2024-02-29')?.[0]).toBe('February 29, 2024')
  })

  it('writes values into Python so that its strings stay strings, and leaves its own braces alone', () => {
    const codes = Array.from({ length: 20 }, (_, seed) => instantiate(drawing(), seed).automatedChecks)

    expect(codes).toContain('wanted = "it\\\'s \\"odd\\""\nbraces = f"{{x}}"')
  })

  it('does not change a variable when another one is added', () => {
    const one = sampleTask({ frontMatter: 'credence: { draw: { a: { words: 2 } } }', sessions: 'sessions: ["{{a}}"]' })
    const two = sampleTask({
      frontMatter: 'credence: { draw: { z: { words: 5 }, a: { words: 2 } } }',
      sessions: 'sessions: ["{{a}}"]',
    })

    expect(instantiate(one, 7).sessions).toEqual(instantiate(two, 7).sessions)
  })

  it('leaves a task that draws nothing as it is', () => {
    const task = sampleTask()

    expect(instantiate(task, 1)).toBe(task)
  })
})
