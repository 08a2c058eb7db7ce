import { describe, expect, it } from 'vitest'
import { type BeliefDraft, limits, parseDraft } from './draft.ts'

const draft = (fields: Partial<BeliefDraft> = {}): BeliefDraft => ({
  name: 'db',
  content: 'Postgres',
  scopes: ['domain:code'],
  ...fields,
})

describe('a draft', () => {
  it('needs only a name, a statement and a scope', () => {
    expect(parseDraft(draft())).toEqual({
      name: 'db',
      content: 'Postgres',
      scopes: ['domain:code'],
      type: 'entity',
      subtype: null,
      aliases: [],
      why: '',
      status: 'active',
      confidence: 1,
      pinned: false,
      agent: null,
      participants: [],
      relation: null,
      expertise: null,
    })
  })

  it('is tidied: spaces at the ends, repeated aliases and scopes, an empty why', () => {
    const tidy = parseDraft(
      draft({
        name: ' Main  DB ',
        content: '\n Postgres\n',
        aliases: ['main_db', 'pg', ' PG ', 'psql'],
        scopes: ['project:z', ' domain:a', 'project:z'],
        why: '   ',
        agent: ' ',
      }),
    )

    expect(tidy).toMatchObject({
      name: 'Main  DB',
      content: 'Postgres',
      aliases: ['pg', 'psql'],
      scopes: ['domain:a', 'project:z'],
      why: '',
      agent: null,
    })
  })

  it('keeps text of any script, with tabs and line breaks', () => {
    const texts = ['北京', 'Müller\n\tzwei', 'نیم‌فاصله', '👩‍👩‍👧 family', 'C++']

    for (const text of texts) expect(parseDraft(draft({ name: text, content: text }))).toMatchObject({ content: text })
  })

  it.each<[string, Partial<BeliefDraft>]>([
    ['an empty name', { name: ' ' }],
    ['a name without a letter or digit', { name: '?!' }],
    ['a name that is too long', { name: 'x'.repeat(limits.name + 1) }],
    ['an empty statement', { content: '\n' }],
    ['a statement that is too long', { content: 'x'.repeat(limits.content + 1) }],
    ['a why that is too long', { why: 'x'.repeat(limits.why + 1) }],
    ['too many aliases', { aliases: Array.from({ length: 201 }, (_, index) => `alias ${index}`) }],
    ['an empty alias', { aliases: [''] }],
    ['no scope', { scopes: [] }],
    ['a scope without a kind', { scopes: ['code'] }],
    ['a scope with a space', { scopes: ['domain:my code'] }],
    ['a scope with a character nobody sees', { scopes: ['domain:co\u200bde'] }],
    ['a scope with a control character', { scopes: ['domain:co\u0000de'] }],
    ['a scope with an empty part', { scopes: ['domain:a//b'] }],
    ['a scope that is too long', { scopes: [`domain:${'x'.repeat(200)}`] }],
    ['an escape character', { content: '\u001b[31mred' }],
    ['a control sequence introducer', { content: '\u009b31mred' }],
    ['a null character in the name', { name: 'a\u0000b' }],
    ['half a character', { content: 'a\ud800b' }],
    ['an unknown type', { type: 'fact' as never }],
    ['a status of its own making', { status: 'superseded' as never }],
    ['a subtype on something that is no preference', { subtype: 'style' }],
    ['an unknown subtype', { type: 'preference', subtype: 'taste' as never }],
    ['participants of something that is no relation', { participants: ['a'] }],
    ['too many participants', { type: 'relation', participants: Array.from({ length: 101 }, (_, at) => `p${at}`) }],
    ['an empty participant', { type: 'relation', participants: [' '] }],
    ['a relation with an escape character', { type: 'relation', relation: '\u001b[2J' }],
    ['an agent with an escape character', { agent: '\u001b[2J' }],
    ['a confidence above 1', { confidence: 1.1 }],
    ['a confidence below 0', { confidence: -0.1 }],
    ['a confidence that is no number', { confidence: Number.NaN }],
    ['an unknown depth', { type: 'preference', expertise: { domain: 'rust', depth: 'guru' as never } }],
    ['an empty domain', { type: 'preference', expertise: { domain: '', depth: 'deep' } }],
  ])('is refused with %s, saying what to do', (_, fields) => {
    expect(() => parseDraft(draft(fields))).toThrow(
      expect.objectContaining({ code: 'invalid', hint: expect.stringMatching(/./u) }),
    )
  })
})
