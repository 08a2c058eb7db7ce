import { invalid } from '../errors.ts'

/** The scope of beliefs that apply everywhere. Its preferences are part of every context. */
export const universalScope = 'user:universal'

// Allows no invisible characters, because scopes that look the same must be the same.
const scopePattern = /^[a-z][a-z0-9_-]*:[^\s/:\p{Cc}\p{Cf}]+(?:\/[^\s/:\p{Cc}\p{Cf}]+)*$/u
const maxScopeLength = 200

/** A scope is `kind:path`, such as `user:universal`, `domain:code/typescript` or `project:ledger`. */
export function parseScope(text: string): string {
  const scope = text.trim().normalize('NFC')
  if (scope.length <= maxScopeLength && scopePattern.test(scope)) return scope
  throw invalid(
    `"${text.slice(0, 80)}" is not a scope.`,
    'Write kind:path, for example user:universal, domain:code or project:ledger/api.',
  )
}

/** Parses, deduplicates and sorts, so that equal sets of scopes give equal lists. */
export const parseScopes = (texts: readonly string[]): readonly string[] => [...new Set(texts.map(parseScope))].sort()

/** The scope and its ancestors: `domain:code/typescript` and `domain:code`. */
export function withAncestors(scope: string): readonly string[] {
  const scopes = [scope]
  for (let cut = scope.lastIndexOf('/'); cut > 0; cut = scope.lastIndexOf('/', cut - 1))
    scopes.push(scope.slice(0, cut))
  return scopes
}

/** The scopes in view: the active ones and their ancestors, but no descendants or siblings. */
export const visibleScopes = (active: readonly string[]): readonly string[] =>
  [...new Set(active.flatMap(withAncestors))].sort()

export const isProject = (scope: string): boolean => scope.startsWith('project:')

/** Whether a caller with these active scopes may name a scope: always, unless it is a project that is not in view. */
export const mayName = (scope: string, active: readonly string[]): boolean =>
  !isProject(scope) || visibleScopes(active).includes(scope)

const teamPrefix = 'team:'

/** The owner of a team's memory, which is also the scope of its beliefs. No person has this name, because of the colon. */
export const teamOwner = (team: string): string => `${teamPrefix}${team}`

/** The team that a scope or owner belongs to, such as `platform` for `team:platform/api`; null if it belongs to no team. */
export const teamOf = (scope: string): string | null =>
  scope.startsWith(teamPrefix) ? (scope.slice(teamPrefix.length).split('/')[0] ?? null) : null
