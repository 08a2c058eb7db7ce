import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Belief } from '../../../beliefs/belief.ts'
import { sample } from '../../../store/sample-beliefs.contract.ts'
import { parseDraft } from '../../change/draft.ts'
import { parseBlocks } from './blocks.ts'
import { fieldsOfBelief, isSameItem, renderItem } from './item.ts'

/** Pieces with a meaning in Markdown, in the file's format, or in its entities. */
const piece = fc.oneof(
  fc.constantFrom(
    '\n',
    '\n\n',
    '\r\n',
    '\r',
    '\t',
    '  ',
    '**',
    '*',
    ': ',
    ':',
    '- ',
    '- why: ',
    '\\- why: ',
    '- aliases: a, b',
    '# ',
    '## user:universal',
    '### Facts',
    '```',
    '~~~',
    '<!--',
    '-->',
    '<!-- credence:b-1 -->',
    '&lt;!--',
    '&amp;lt;!--',
    '&#13;',
    '&#10;',
    '&amp;',
    '\\',
    ',',
    '1. ',
    '---',
    'e\u0301',
    'é',
    '\u00a0',
    '\u2028',
    '🙂',
    '[x](y.md)',
    '| a | b |',
    '> ',
  ),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.string({ maxLength: 8 }),
)
const anyText = fc.array(piece, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(''))

const belief: fc.Arbitrary<Belief> = fc
  .record({
    name: anyText,
    content: anyText,
    why: fc.oneof(fc.constant(''), anyText),
    aliases: fc.array(anyText, { maxLength: 3 }),
    id: fc.oneof(
      fc.constantFrom('new', 'topic', 'mirror', 'new-york', 'a--b', 'x-->'),
      fc
        .string({ unit: 'binary', minLength: 1, maxLength: 20 })
        .filter((id) => /^[^\s\p{Cc}]+$/u.test(id) && id.isWellFormed()),
    ),
    scopes: fc.constantFrom(['user:universal'], ['domain:code', 'user:universal']),
    pinned: fc.boolean(),
    status: fc.constantFrom('active', 'inferred', 'exploratory'),
  })
  .chain((draft) => {
    try {
      return fc.constant(
        sample({
          ...draft,
          ...parseDraft({ ...draft, status: 'active' }),
          status: draft.status as 'active',
          id: draft.id,
        }),
      )
    } catch {
      return fc.constant(null)
    }
  })
  .filter((made) => made !== null)

const inSection = (raw: string, eol: string): string => `## user:universal${eol}${eol}### Facts${eol}${eol}${raw}`

describe('an item of the file', () => {
  it.each(['\n', '\r\n'])('contains exactly the fields of its belief, for any belief (line end %j)', (eol) => {
    fc.assert(
      fc.property(belief, (one) => {
        const text = inSection(`${renderItem(one).join(eol)}${eol}`, eol)

        const items = parseBlocks(text).filter((block) => block.kind === 'item')

        expect(items).toHaveLength(1)
        expect(items[0]?.item).toEqual({
          name: one.name,
          content: one.content,
          why: one.why,
          aliases: one.aliases,
          id: one.id,
          scopes: one.scopes.length > 1 ? one.scopes : null,
        })
      }),
      { numRuns: 1_000 },
    )
  })

  it('is one item among its neighbours, whatever their texts are', () => {
    fc.assert(
      fc.property(fc.uniqueArray(belief, { selector: ({ id }) => id, minLength: 2, maxLength: 5 }), (several) => {
        const text = inSection(several.map((one) => `${renderItem(one).join('\n')}\n`).join(''), '\n')

        const items = parseBlocks(text).flatMap((block) => (block.kind === 'item' ? [block.item] : []))

        expect(items.map(({ id, content }) => [id, content])).toEqual(several.map(({ id, content }) => [id, content]))
      }),
      { numRuns: 200 },
    )
  })

  it('reads like text that a person would write', () => {
    const one = sample({
      id: 'b-1',
      name: 'payment terms',
      content: 'Invoices are due after 14 days.\nReminders go out on day 15.',
      why: 'Say 14, not 30.',
      aliases: ['due date', 'terms, payment'],
      status: 'inferred',
    })

    expect(renderItem(one)).toEqual([
      '- **payment terms**: Invoices are due after 14 days. <!-- credence:b-1 unconfirmed -->',
      '  Reminders go out on day 15.',
      '  - why: Say 14, not 30.',
      '  - aliases: due date, terms\\, payment',
    ])
  })

  it('is the same item after an editor stripped line ends or normalised letters, and another item after a word changed', () => {
    const one = fieldsOfBelief(sample({ id: 'b-1', content: 'Caf\u00e9  \nopen' }))

    expect(isSameItem(one, { ...one, content: 'Cafe\u0301\r\nopen' })).toBe(true)
    expect(isSameItem(one, { ...one, content: 'Caf\u00e9\nshut' })).toBe(false)
  })
})

describe('a file', () => {
  const anyFile = fc
    .array(
      fc.oneof(
        piece,
        fc.constantFrom(
          '- **a**: b <!-- credence:b-1 -->\n',
          '## project:x\n',
          '\ufeff',
          '<!-- credence:mirror 3 -->\n',
        ),
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join(''))

  it('is its blocks joined, byte for byte', () => {
    fc.assert(
      fc.property(anyFile, (text) => {
        expect(
          parseBlocks(text)
            .map(({ raw }) => raw)
            .join(''),
        ).toBe(text)
      }),
      { numRuns: 2_000 },
    )
  })
})
