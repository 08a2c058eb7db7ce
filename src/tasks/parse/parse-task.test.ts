import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sampleTask, taskText } from '../../../test/tasks/sample-task.ts'
import { MemoryError } from '../../errors.ts'
import { checkTask, maxTaskFileBytes, parseTask } from './parse-task.ts'

const parse = (text: string) => parseTask(Buffer.from(text), 'boat.md')
const problemsOf = (text: string) =>
  checkTask(Buffer.from(text), 'boat.md').problems.map(({ field, message }) => `${field} ${message}`)

describe('reading a task file', () => {
  it('reads front matter, sessions and sections', () => {
    const task = sampleTask()

    expect(task).toMatchObject({
      id: 'boat',
      name: 'The boat',
      category: 'memory',
      gradingType: 'hybrid',
      timeoutSeconds: 30,
      gradingWeights: { automated: 0.5, judge: 0.5 },
      prompt: 'See the sessions.',
      criteria: ['The name is kept', 'The name is given back'],
      rubric: expect.stringContaining('Weight: 100%'),
      automatedChecks: expect.stringMatching(/^def grade/),
      file: 'boat.md',
      warnings: [],
    })
    expect(task.sessions.map(({ id, isFresh }) => [id, isFresh])).toEqual([
      ['tell', true],
      ['same', false],
      ['later', true],
    ])
  })

  it('uses defaults for missing or null fields', () => {
    const text = `---\nid: a\nworkspace_files:\nsessions: null\nprerequisites: ~\n---\n## Prompt\nDo it.\n`

    expect(parse(text)).toMatchObject({
      id: 'a',
      name: 'a',
      gradingType: 'automated',
      timeoutSeconds: 120,
      workspaceFiles: [],
      prerequisites: [],
      sessions: [{ id: 'main', prompt: 'Do it.', isFresh: true }],
    })
  })

  it('accepts sessions as plain text and with `message`, and skips invalid ones with a warning', () => {
    const task = sampleTask({
      sessions: `sessions:\n  - Just say hello.\n  - { id: two, message: And again. }\n  - 17\n  - { id: empty }\n  - { id: two, prompt: Once more. }`,
    })

    expect(task.sessions.map(({ id, prompt }) => [id, prompt])).toEqual([
      ['session_1', 'Just say hello.'],
      ['two', 'And again.'],
      ['two_2', 'Once more.'],
    ])
    expect(task.warnings).toEqual([
      'sessions[2] has no prompt; it is left out.',
      'sessions[3] has no prompt; it is left out.',
      'sessions[4].id "two" occurs twice; the second is called "two_2".',
    ])
  })

  it('preserves unknown keys', () => {
    const task = sampleTask({ frontMatter: 'difficulty: hard\nscene: { place: harbour }' })

    expect(task.frontMatter).toMatchObject({ difficulty: 'hard', scene: { place: 'harbour' } })
  })

  it('accepts a byte order mark and Windows line ends', () => {
    const text = `\uFEFF${taskText().replaceAll('\n', '\r\n')}`

    expect(parse(text).criteria).toEqual(['The name is kept', 'The name is given back'])
  })

  it('reads fixtures, inline and from assets', () => {
    const task = sampleTask({
      frontMatter: `workspace_files:
  - { path: notes/a.md, content: "hello" }
  - { source: csvs/b.csv, dest: b.csv }`,
    })

    expect(task.workspaceFiles).toEqual([
      { kind: 'inline', path: 'notes/a.md', content: 'hello' },
      { kind: 'asset', asset: 'csvs/b.csv', path: 'b.csv' },
    ])
  })
})

describe('sections', () => {
  const fenced = taskText({
    sessions: '',
    body: [
      '## Prompt',
      '',
      'Write this:',
      '',
      '```markdown',
      '## Summary',
      'text',
      '```',
      '',
      'And send it.',
      '',
      '## Automated Checks',
      '',
      '````python',
      'def grade(transcript, workspace_path):',
      '    return {"a": float("```" in transcript)}',
      '````',
      '',
    ].join('\n'),
  })

  it('are found by real headings and code fences only', () => {
    const task = parse(fenced)

    expect(task.prompt).toContain('And send it.')
    expect(task.automatedChecks).toContain('in transcript)}')
  })

  it('do not begin at a line that dashes underline', () => {
    const task = parse(taskText({ sessions: '', body: '## Prompt\n\nOne\n---\nTwo\n' }))

    expect(task.prompt).toBe('One\n---\nTwo')
  })
})

describe('an invalid task file', () => {
  it.each([
    ['id: ../evil', 'id is "../evil"; it must be a name that can be part of a path'],
    ['grading_type: vibes', 'grading_type is "vibes"; it must be one of automated, llm_judge, hybrid'],
    ['timeout_seconds: 0', 'timeout_seconds is 0; it must be a number above 0'],
    ['timeout_seconds: soon', 'timeout_seconds is "soon"'],
    ['grading_weights: { automated: -1 }', 'grading_weights.automated is -1'],
    ['grading_weights: { automated: 0, llm_judge: 0 }', 'grading_weights are both 0'],
    ['workspace_files: [{ path: ../../x, content: y }]', 'workspace_files[0].path is "../../x"'],
    ['workspace_files: [{ path: /etc/x, content: y }]', 'workspace_files[0].path is "/etc/x"'],
    ['workspace_files: [{ path: "C:\\\\x", content: y }]', 'workspace_files[0].path is'],
    ['workspace_files: [{ source: ../secret, dest: a }]', 'workspace_files[0].source is "../secret"'],
    ['workspace_files: [nothing]', 'workspace_files[0] is "nothing"'],
    ['prerequisites: [{}]', 'prerequisites[0] is a mapping'],
    ['credence: { answers: [] }', 'credence has "answers"; it may have answer_checks, state_checks, draw'],
    [
      'credence: { answer_checks: [{ id: a, session: nope, expect: [b] }] }',
      'credence.answer_checks[0].session is "nope"',
    ],
    [
      'credence: { answer_checks: [{ id: a, session: later }] }',
      'must have expect, forbid, must_not_know or memory_read',
    ],
    [
      'credence: { answer_checks: [{ id: a, session: later, exact: true, memory_read: true }] }',
      'has exact, which is only for expect',
    ],
    [
      'credence: { answer_checks: [{ id: a, session: later, expects: [b] }] }',
      'has "expects"; it may have id, session, expect, exact',
    ],
    [
      'credence: { answer_checks: [{ id: a, session: later, expect: [b] }, { id: a, session: later, expect: [c] }] }',
      'credence.answer_checks[1].id is "a", which occurs twice in that session',
    ],
    ['credence: { draw: { word: { words: 99 } } }', 'credence.draw.word has "words"; it may have one_of'],
    ['credence: { draw: { a: { one_of: [] } } }', 'credence.draw.a.one_of'],
    ['credence: { draw: { a: { one_of: ["{{b}}"] } } }', 'credence.draw.a.one_of'],
    ['id: boat\nid: boot', '(front matter) is not YAML'],
    ['name: [', '(front matter) is not YAML'],
  ])('is reported with %s', (frontMatter, message) => {
    expect(problemsOf(taskText({ frontMatter })).join('\n')).toContain(message)
  })

  it('declares checks of answers', () => {
    const checks = [
      '{ id: name, session: later, expect: [[Petrel, petrel]], forbid: [Heron], exact: true }',
      '{ id: name, session: same, expect: [12], recall: false }',
      '{ id: looked-up, session: later, memory_read: true, must_not_know: true }',
    ]
    const { answerChecks } = sampleTask({ frontMatter: `credence: { answer_checks: [${checks.join(', ')}] }` })

    expect(answerChecks).toEqual([
      {
        id: 'name',
        session: 'later',
        expect: [['Petrel', 'petrel']],
        exact: true,
        recall: true,
        forbid: ['Heron'],
        mustNotKnow: false,
        memoryRead: false,
      },
      {
        id: 'name',
        session: 'same',
        expect: [['12']],
        exact: false,
        recall: false,
        forbid: [],
        mustNotKnow: false,
        memoryRead: false,
      },
      {
        id: 'looked-up',
        session: 'later',
        expect: [],
        exact: false,
        recall: true,
        forbid: [],
        mustNotKnow: true,
        memoryRead: true,
      },
    ])
  })

  it('needs no Python if it declares checks', () => {
    const body = '## Prompt\n\nSee the sessions.\n'
    const frontMatter =
      'credence: { answer_checks: [{ id: a, session: later, expect: [Petrel] }] }\ngrading_type: automated'

    expect(sampleTask({ body, frontMatter }).warnings).toEqual([])
    expect(sampleTask({ body, frontMatter: 'grading_type: automated' }).warnings).toEqual([
      'grading_type is automated, but the task has neither Python in "Automated Checks" nor answer_checks nor state_checks.',
    ])
  })

  it('is reported with all problems at once, and the file', () => {
    const { problems } = checkTask(Buffer.from(taskText({ frontMatter: 'id: ""\ntimeout_seconds: -1' })), 'boat.md')

    expect(problems.map(({ file, field }) => `${file} ${field}`)).toEqual(['boat.md id', 'boat.md timeout_seconds'])
  })

  it.each([
    ['empty', Buffer.alloc(0), '(file) is empty'],
    ['not UTF-8', Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe]), '(file) is not UTF-8 text'],
    ['too large', Buffer.alloc(maxTaskFileBytes + 1, 0x61), 'bytes; at most'],
    ['without front matter', Buffer.from('# A note\n'), '(front matter) is missing'],
    ['truncated in its front matter', Buffer.from('---\nid: boat\nname: The'), '(front matter) has no end'],
    ['a list', Buffer.from('---\n- a\n---\n'), '(front matter) is a list of 1'],
    ['without a prompt', Buffer.from('---\nid: a\n---\n'), '## Prompt is missing or empty'],
    ['an alias bomb', Buffer.from(`---\n${bomb()}\n---\n`), '(front matter) is not YAML'],
  ])('that is %s is refused', (_, bytes, message) => {
    expect(() => parseTask(bytes, 'boat.md')).toThrow(MemoryError)
    expect(() => parseTask(bytes, 'boat.md')).toThrow(message)
  })

  it('is refused for a placeholder without a variable', () => {
    const text = taskText({
      frontMatter: 'credence: { draw: { colour: { one_of: [red, blue] } } }',
      sessions: 'sessions:\n  - "It is {{color}}, made on {{colour.iso}}."',
    })

    expect(problemsOf(text)).toEqual([
      'credence.draw knows only colour, but the task has {{color}}',
      'credence.draw knows only colour, but the task has {{colour.iso}}',
    ])
  })
})

describe('the parser', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 400 }),
    fc
      .array(
        fc.constantFrom(
          '---\n',
          'id: a\n',
          'sessions:\n',
          '  - x\n',
          '  - {id: b}\n',
          '## Prompt\n',
          '```python\n',
          '```\n',
          '> ',
          '- [ ] x\n',
          'credence: {draw: {a: {one_of: [x, {b: y}]}}}\n',
          '{{a}}',
          '{{b.c}}',
          '&a [*a]',
          '\t',
          '\u0000',
          'text\n',
          '<!--',
        ),
        { maxLength: 40 },
      )
      .map((parts) => parts.join('')),
  )

  it('returns a task or throws a MemoryError for any text, with and without front matter', () => {
    fc.assert(
      fc.property(anything, fc.boolean(), (text, hasHead) => {
        const bytes = Buffer.from(hasHead ? `---\nid: a\n---\n${text}` : text)
        try {
          const task = parseTask(bytes, 'any.md')
          expect(task.sessions.length).toBeGreaterThan(0)
        } catch (error) {
          expect(error).toBeInstanceOf(MemoryError)
        }
      }),
      { numRuns: 400 },
    )
  })

  it('accepts any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const { task, problems } = checkTask(bytes, 'any.md')
        expect(task === null).toBe(problems.length > 0)
      }),
    )
  })
})

/** A small file that expands to a huge value. */
function bomb(): string {
  const lines = ['a: &a [x, x, x, x, x, x, x, x, x, x]']
  for (const [before, name] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg', 'gh'].map((pair) => [...pair])) {
    lines.push(`${name}: &${name} [${Array(10).fill(`*${before}`).join(', ')}]`)
  }
  return lines.join('\n')
}
