import { visibleScopes } from '../../beliefs/scope.ts'
import type { Edits } from '../change/edit.ts'
import type { Context } from '../recall/context.ts'
import type { Candidate, Situation } from './remedy-candidate.ts'

/** More than this would not be read. */
const mostScopes = 3

/** What would keep a belief out that is in the context. */
export async function remediesForAbsence(situation: Situation): Promise<readonly Candidate[]> {
  const { belief, context } = situation
  const through = context.relevant.find((relevant) => relevant.belief.id === belief.id)?.through ?? null
  return [
    ...(through === null
      ? []
      : [{ kind: 'see', summary: 'It is part of a relation that the message names.', see: through } as const]),
    ...(await withoutForms(situation)),
    ...(await outOfView(situation)),
    ...askedElsewhere(situation),
    {
      kind: 'correct',
      summary: 'If it is no longer true, say what is: the newer statement takes its place.',
      see: belief.id,
    },
  ]
}

/** Unpins it and drops whatever alias the message finds it by, until it is gone or only its name is left. */
async function withoutForms({ belief, context, after }: Situation): Promise<readonly Candidate[]> {
  const unpinned: Edits = belief.pinned ? { pinned: false } : {}
  const dropped: string[] = []
  let seen: Context = belief.pinned ? await after(unpinned) : context
  for (let found = aliasesFound(seen, belief.id); found.length > 0; found = aliasesFound(seen, belief.id)) {
    dropped.push(...found)
    seen = await after({ ...unpinned, removeAliases: dropped })
  }
  const parts = [
    ...(belief.pinned ? ['unpin it'] : []),
    ...(dropped.length === 0 ? [] : [`drop the alias ${dropped.map((alias) => `"${alias}"`).join(' and ')}`]),
  ]
  if (parts.length === 0) return []
  const summary = parts.join(' and ')
  return [
    {
      kind: dropped.length === 0 ? 'unpin' : 'drop-alias',
      summary: `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
      change: { ...unpinned, ...(dropped.length === 0 ? {} : { removeAliases: dropped }) },
    },
  ]
}

function aliasesFound({ relevant }: Context, id: string): readonly string[] {
  const matches = relevant.find(({ belief }) => belief.id === id)?.matches ?? []
  return [...new Set(matches.flatMap(({ field, form }) => (field === 'alias' ? [form] : [])))]
}

/** Scopes that are not in view now: its own others, or else some that there are. */
async function outOfView({ ports, request, belief }: Situation): Promise<readonly Candidate[]> {
  const visible = visibleScopes(request.scopes)
  const own = belief.scopes.filter((scope) => !visible.includes(scope))
  if (own.length > 0) {
    return [{ kind: 'scopes', summary: `Let it hold only in ${own.join(' and ')}.`, change: { scopes: own } }]
  }
  const others = (await ports.store.scopes(request.user))
    .filter(({ scope, beliefs }) => beliefs > 0 && !visible.includes(scope))
    .sort((one, other) => other.beliefs - one.beliefs || (one.scope < other.scope ? -1 : 1))
  const free: Candidate[] = []
  for (const { scope } of others) {
    if (free.length >= mostScopes) break
    const taken = await ports.store.holders(request.user, belief.name, [scope])
    if (taken.length > 0) continue
    free.push({ kind: 'scopes', summary: `Move it to ${scope}.`, change: { scopes: [scope] } })
  }
  return free
}

/** The same question without the scopes that bring it into view. */
function askedElsewhere({ request, belief }: Situation): readonly Candidate[] {
  const left = request.scopes.filter((scope) => !belief.scopes.some((its) => visibleScopes([scope]).includes(its)))
  if (left.length === 0 || left.length === request.scopes.length) return []
  return [{ kind: 'ask', summary: `Ask with only ${left.join(' and ')} active.`, ask: { scopes: left } }]
}
