import type { Token, TokenKind } from '../../../beliefs/access-store.ts'
import { parseScopes } from '../../../beliefs/scope.ts'
import { createToken, revokeToken } from '../../../memory/people/access.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import { flag, one, optional, text, texts } from '../../command/options.ts'
import { minuteOf } from '../../text/beliefs.ts'
import { harmless, lines, table } from '../../text/output.ts'
import { listed, storeOptions, withAccess } from './open-access.ts'

export const tokenCreate = defineCommand({
  args: { person: optional('The person whose memory the token opens. Omit with --admin.') },
  options: {
    agent: flag('A token of an agent: it reads and proposes, and changes only what it wrote itself.'),
    admin: flag('A token of an administrator: it adds and removes people, tokens and teams, and opens no memory.'),
    invite: flag('An invite, which the person exchanges once for their own token.'),
    scope: {
      ...texts('<scope>', 'A scope that the agent may use; team:NAME for a team. May be given several times.'),
      default: 'user:universal',
      read: (given: readonly string[]) => parseScopes(given),
    },
    label: text('<text>', 'What it is for, such as the name of a machine.'),
    ...storeOptions,
  },
  description: 'Prints the token once. The store keeps only a hash of it.',
  examples: {
    'credence token create ana --label laptop': 'Makes a token that opens the whole memory of ana.',
    'credence token create ana --agent --scope project:ledger --scope team:platform': 'Makes one for an agent of ana.',
    'credence token create --admin': 'Makes one for an administrator.',
  },
  async run({ args, options: { agent, admin, invite, scope, label, ...options } }, session) {
    const kind = kindOf({ agent, admin, invite })
    const { person = null } = args
    if ((kind === 'admin') !== (person === null))
      throw new UsageError(
        kind === 'admin' ? '--admin takes no person.' : '<person> is missing.',
        'Write `credence token create NAME`, or `credence token create --admin`.',
      )
    const made = await withAccess(session, options, (ports) =>
      createToken(ports, { kind, person, scopes: scope, ...omitUndefined({ label }) }),
    )
    return {
      document: made,
      text: (style) => lines(`${style.green('Made')} the token ${made.token.id}.`, `  ${made.secret}`),
      notes: ['The token is shown only now.'],
    }
  },
})

function kindOf(given: { readonly agent: boolean; readonly admin: boolean; readonly invite: boolean }): TokenKind {
  const chosen = (['agent', 'admin', 'invite'] as const).filter((kind) => given[kind])
  if (chosen.length > 1) throw new UsageError(`--${chosen.join(' and --')} exclude each other.`, 'Give one of them.')
  return chosen[0] ?? 'person'
}

export const tokenList = defineCommand({
  args: { person: optional('Only the tokens of this person.') },
  options: storeOptions,
  examples: {
    'credence token list':
      'Lists every token with its owner, purpose, last use and revocation; never the token itself.',
    'credence token list ana --json': 'The tokens of ana, as JSON.',
  },
  async run({ args: { person }, options }, session) {
    const tokens = await listed(session, options, ({ access }) => access.tokens(person))
    const row = ({ id, kind, person: of, scopes, label, ...token }: Token): string[] => [
      id,
      kind,
      of ?? '',
      scopes.join(' '),
      harmless(label),
      `since ${token.createdAt.slice(0, 10)}`,
      token.lastUsedAt === null ? 'never used' : `last used ${minuteOf(token.lastUsedAt)} UTC`,
      token.revokedAt === null ? '' : `revoked ${minuteOf(token.revokedAt)} UTC`,
    ]
    const shown = [...tokens].sort((one, other) => Number(one.revokedAt !== null) - Number(other.revokedAt !== null))
    return {
      document: tokens,
      text: (style) => table(shown.map(row), style.width),
      notes: tokens.length === 0 ? ['There are no tokens; `credence token create` makes one.'] : [],
    }
  },
})

export const tokenRevoke = defineCommand({
  args: { token: one('The id of the token, as `credence token list` shows it.') },
  options: storeOptions,
  description: 'From now on every server of the store refuses the token.',
  examples: {
    'credence token revoke t-0a1b2c3d4e5f': 'Revokes one token.',
    'credence token revoke t-0a1b2c3d4e5f --json': 'The same, with the answer as JSON.',
  },
  async run({ args: { token }, options }, session) {
    await withAccess(session, options, (ports) => revokeToken(ports, token))
    return { document: { revoked: token }, text: (style) => `${style.green('Revoked')} ${harmless(token)}.` }
  },
})
