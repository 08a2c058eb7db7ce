import { afterEach, describe, expect, it } from 'vitest'
import { belief } from '../../../test/recall/fixtures.ts'
import { parseRecord } from './belief-record.ts'

const at = '2026-03-01T12:00:00.000Z'
const defaults = { user: 'ann', scopes: ['domain:code'], origin: 'notes.jsonl', at, newId: () => 'made-1' }
const parse = (fields: object) => parseRecord(fields, defaults)
const named = (fields: object = {}) => ({ name: 'db', content: 'Postgres', ...fields })

describe('a record', () => {
  it('in our spelling is read unchanged', () => {
    const full = belief({
      id: 'b1',
      name: 'rust',
      type: 'preference',
      subtype: 'expertise',
      aliases: ['cargo'],
      why: 'Skip the basics.',
      scopes: ['domain:code', 'user:universal'],
      status: 'superseded',
      confidence: 0.5,
      pinned: true,
      editedByPerson: true,
      agent: 'codex',
      supersededBy: 'b2',
      resolvedAt: at,
      resolvedBy: 'b3',
      participants: ['x'],
      relation: 'uses',
      expertise: { domain: 'rust', depth: 'deep' },
      provenance: { actor: 'agent', origin: 'codex', sourceId: 's', model: 'm', at },
      reinforcement: { count: 3, at },
    })

    expect(parse({ ...full, version: 7 })).toEqual({ record: full, unknown: [] })
  })

  it('in the other spelling is read the same', () => {
    const { record, unknown } = parse({
      _id: 'b1',
      user_id: 'user-1',
      agent_id: 'codex',
      type: 'preference',
      subtype: 'expertise',
      canonical_name: 'rust_depth',
      aliases: ['cargo'],
      content: 'Knows Rust',
      why_it_matters: 'Skip the basics.',
      scope: ['user:universal'],
      epistemic_status: 'inferred',
      confidence: 0.6,
      reinforcement_count: 4,
      last_reinforced_at: '2025-06-10T09:00:00Z',
      pinned: true,
      user_edited: true,
      superseded_by: null,
      resolved_at: '2025-07-01',
      resolved_by: 'b9',
      participants: ['b2'],
      relation_type: 'uses',
      expertise_domain: 'code/rust',
      expertise_depth: 'deep',
      expertise_evidence_count: 3,
      provenance: { extracted_at: '2025-03-02T09:00:00.000Z', source_model: 'seed', session_id: 's1' },
      change_log: [{ trigger: 'x' }],
      origin_context: null,
      token_id: 't',
      created_at: '2025-03-02T10:00:00+01:00',
      updated_at: '2025-06-10T09:00:00.000Z',
      _note: 'a remark of the file’s author',
    })

    expect(unknown).toEqual([])
    expect(record).toEqual(
      belief({
        id: 'b1',
        user: 'user-1',
        agent: 'codex',
        type: 'preference',
        subtype: 'expertise',
        name: 'rust_depth',
        aliases: ['cargo'],
        content: 'Knows Rust',
        why: 'Skip the basics.',
        scopes: ['user:universal'],
        status: 'inferred',
        confidence: 0.6,
        pinned: true,
        editedByPerson: true,
        resolvedAt: '2025-07-01T00:00:00.000Z',
        resolvedBy: 'b9',
        participants: ['b2'],
        relation: 'uses',
        expertise: { domain: 'code/rust', depth: 'deep' },
        provenance: {
          actor: 'document',
          origin: 'notes.jsonl',
          sourceId: 's1',
          model: 'seed',
          at: '2025-03-02T09:00:00.000Z',
        },
        reinforcement: { count: 4, at: '2025-06-10T09:00:00.000Z' },
        createdAt: '2025-03-02T09:00:00.000Z',
        updatedAt: '2025-06-10T09:00:00.000Z',
      }),
    )
  })

  it('requires only a name and a statement; the rest has defaults', () => {
    expect(parse(named()).record).toEqual(
      belief({
        id: 'made-1',
        name: 'db',
        content: 'Postgres',
        provenance: { actor: 'document', origin: 'notes.jsonl', sourceId: null, model: null, at },
      }),
    )
  })

  it('may have null, an empty text or an empty list for a missing field', () => {
    const empty = { agent: '', superseded_by: '', resolved_at: '', relation: ' ', scope: null, aliases: null, _id: '' }

    expect(parse(named(empty)).record).toEqual(parse(named()).record)
    expect(parse(named({ scopes: [] })).record.scopes).toEqual(['domain:code'])
    expect(parse(named({ scope: 'project:x' })).record.scopes).toEqual(['project:x'])
  })

  it('that was superseded has that status', () => {
    expect(parse(named({ superseded_by: 'b2', epistemic_status: 'active' })).record.status).toBe('superseded')
    expect(parse(named({ status: 'superseded' })).record).toMatchObject({ status: 'superseded', supersededBy: null })
  })

  it('has a warning for unknown fields, but not for the private fields of other systems', () => {
    const strange = JSON.parse('{"name":"db","content":"x","colour":1,"constructor":2,"__proto__":3,"toString":4}')

    expect(parse(strange).unknown).toEqual(['colour', 'constructor', 'toString'])
    expect(parse(named({ change_log: [], _remark: 1, token_name: 'x' })).unknown).toEqual([])
  })

  it.each([
    ['no object', []],
    ['null', null],
    ['a string', 'db'],
    ['no name', { content: 'x' }],
    ['no statement', { name: 'db' }],
    ['a name that is not a string', named({ name: 3 })],
    ['an id with a space', named({ id: 'a b' })],
    ['an id that is too long', named({ id: 'x'.repeat(129) })],
    ['an id that is not a string', named({ id: 7 })],
    ['an unknown type', named({ type: 'fact' })],
    ['an unknown status', named({ status: 'done' })],
    ['aliases that are not strings', named({ aliases: ['a', 1] })],
    ['an alias that no message can match', named({ aliases: ['—'] })],
    ['a confidence out of range', named({ confidence: 2 })],
    ['a confidence that is a string', named({ confidence: '0.5' })],
    ['a pin that is not a boolean', named({ pinned: 'yes' })],
    ['an invalid time', named({ created_at: 'yesterday' })],
    ['a time that does not exist', named({ created_at: '2026-13-45T00:00:00Z' })],
    ['an invalid scope', named({ scope: ['code'] })],
    ['a provenance that is not an object', named({ provenance: 'x' })],
    ['an invalid actor', named({ provenance: { actor: 'god' } })],
    ['an unknown depth', named({ expertise: { domain: 'x', depth: 'guru' } })],
    ['a control character', named({ content: 'a\u0007b' })],
    ['an invalid participant', named({ participants: ['\u001b[2J'] })],
  ])('is refused if it has %s', (_, value) => {
    expect(() => parseRecord(value, defaults)).toThrow(expect.objectContaining({ code: 'invalid' }))
  })
})

describe('a time without a zone', () => {
  const zone = process.env.TZ
  afterEach(() => {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  })

  it("is in UTC regardless of the machine's time zone", () => {
    process.env.TZ = 'America/New_York'
    expect(new Date('2026-03-01T12:00:00').toISOString()).not.toBe('2026-03-01T12:00:00.000Z')

    for (const text of [
      '2026-03-01T12:00:00',
      '2026-03-01 12:00:00.000000',
      '2026-03-01T12:00',
      '2026-03-01T14:00+02:00',
    ])
      expect(parse(named({ created_at: text })).record.createdAt).toBe('2026-03-01T12:00:00.000Z')
    expect(parse(named({ created_at: '2026-03-01' })).record.createdAt).toBe('2026-03-01T00:00:00.000Z')
  })
})
