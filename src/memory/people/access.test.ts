import { describe, expect, it } from 'vitest'
import type { FoundToken } from '../../beliefs/access-store.ts'
import { principalOf } from './access.ts'

const token: FoundToken = {
  id: 't-1',
  kind: 'person',
  person: 'ann',
  scopes: [],
  label: '',
  createdAt: '2026-03-01T12:00:00.000Z',
  lastUsedAt: null,
  revokedAt: null,
  teams: [
    { team: 'platform', role: 'owner' },
    { team: 'ops', role: 'reader' },
  ],
}

describe('the memory of a token', () => {
  it('is that of a person with all of their teams', () => {
    expect(principalOf(token)).toMatchObject({
      person: 'ann',
      isAgent: false,
      teams: token.teams,
      scopes: ['user:universal', 'team:platform', 'team:ops'],
    })
  })

  it('is limited to the scopes and teams that the token of an agent names', () => {
    const scopes = ['project:ledger', 'team:ops/alerts', 'team:former']

    expect(principalOf({ ...token, kind: 'agent', scopes })).toMatchObject({
      person: 'ann',
      isAgent: true,
      teams: [{ team: 'ops', role: 'reader' }],
      scopes: ['project:ledger', 'team:ops/alerts'],
    })
  })

  it('is null for the token of an administrator', () => {
    expect(principalOf({ ...token, kind: 'admin' })).toBeNull()
  })
})
