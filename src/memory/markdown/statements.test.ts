import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { statementsIn } from './statements.ts'

const contents = (document: string): readonly string[] => statementsIn(document).map(({ content }) => content)

describe('the statements of a document', () => {
  it('are its list items, paragraphs and rows, with the headings above them', () => {
    const document =
      '# Shop\n\nIt sells tea.\n\n## Hours\n\n- open at nine\n- closed:\n  - on Sunday\n  - in August\n\n| day | hours |\n|---|---|\n| Monday | nine to five |\n'

    expect(statementsIn(document).map(({ line, content, context }) => ({ line, content, context }))).toEqual([
      { line: 3, content: 'It sells tea.', context: ['Shop'] },
      { line: 7, content: 'open at nine', context: ['Shop', 'Hours'] },
      { line: 9, content: 'on Sunday', context: ['Shop', 'Hours', 'closed'] },
      { line: 10, content: 'in August', context: ['Shop', 'Hours', 'closed'] },
      { line: 14, content: 'nine to five', context: ['Shop', 'Hours'] },
    ])
  })

  it('include code, nested items and further paragraphs of their list item', () => {
    expect(contents('- one\n\n  more of it\n\n  ```sh\n  - not an item\n  ```\n  - a point\n- two\n')).toEqual([
      'one\n\nmore of it\n\n```sh\n- not an item\n```\n- a point',
      'two',
    ])
  })

  it('leave out front matter, comments, rules, pictures and tables of contents', () => {
    const document = '---\na: b\n---\n<!-- - hidden -->\n\n- [Setup](#setup)\n\n![logo](logo.png)\n\n---\n\nSaid.\n'

    expect(contents(document)).toEqual(['Said.'])
  })

  it('have bold names, reasons and aliases, and the scope or type in their heading', () => {
    const [first] = statementsIn(
      '## project:x\n\n### Decisions\n\n- **queue**: NATS <!-- credence:b-1 -->\n  - why: It is small.\n  - aliases: bus, broker\n',
    )

    expect(first).toMatchObject({
      name: 'queue',
      content: 'NATS',
      why: 'It is small.',
      aliases: ['bus', 'broker'],
      scopes: ['project:x'],
      type: 'decision',
    })
  })

  it('are found in any text without failing', () => {
    const piece = fc.constantFrom(
      '# ',
      '- ',
      '  ',
      '\n',
      '\n\n',
      '```',
      '> ',
      '|',
      '---',
      'a',
      ': ',
      '**',
      '<!--',
      '-->',
      '1. ',
      '\t',
      '\r\n',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 5 })), { maxLength: 30 }), (parts) => {
        for (const { content, line } of statementsIn(parts.join(''))) {
          expect(content.trim()).not.toBe('')
          expect(line).toBeGreaterThan(0)
        }
      }),
    )
  })
})

it.each(['>', '> ', '- ', '1. '])('refuses a document that nests %j too deeply', (mark) => {
  expect(statementsIn(`${mark.repeat(50)}We use Postgres.`)).toHaveLength(1)
  expect(() => statementsIn(`Notes\n\n${mark.repeat(20_000)}We use Postgres.`)).toThrow('more than 100 levels deep')
})

it('leaves out comments, and keeps the text after an unclosed one', () => {
  const [statement] = statementsIn('We use <!-- since May --> Postgres <!-- since\n')

  expect(statement?.content).toBe('We use Postgres <!-- since')
})
