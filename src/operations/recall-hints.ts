import { visibleScopes } from '../beliefs/scope.ts'
import type { Memory } from '../memory/memory.ts'
import { type Context, isShown } from '../memory/recall/context.ts'

/** Suggestions for a message that recalls nothing. */
export type RecallHints = {
  /** Beliefs in view that share words with the message, each with an alias from the message that would recall it. */
  readonly suggestions: readonly Suggestion[]
  /** Inactive scopes in which the message would recall something, without the texts. */
  readonly otherScopes: readonly { readonly scope: string; readonly beliefs: number; readonly quotes: number }[]
}

type Suggestion = {
  readonly beliefId: string
  readonly name: string
  readonly content: string
  readonly alias: string | null
}

const maxSuggestions = 3
/** The maximum number of other scopes to recall from, so that many projects do not slow down a message. */
const maxScopes = 5
/** The number of search hits whose scopes are considered. */
const maxHits = 50

/** Null if the message mentions a belief, or if a turn answers it. */
export async function recallHints(memory: Memory, message: string, context: Context): Promise<RecallHints | null> {
  if (context.relevant.length + context.quotes.length + context.perhaps.length > 0) return null
  return {
    suggestions: await suggestionsFor(memory, message, context),
    otherScopes: await matchesElsewhere(memory, message, context.scopes),
  }
}

async function suggestionsFor(memory: Memory, message: string, context: Context): Promise<readonly Suggestion[]> {
  const { beliefs } = await memory.search(message, { in: 'beliefs', scopes: context.scopes, limit: maxSuggestions })
  const suggestions: Suggestion[] = []
  for (const { belief } of beliefs) {
    // A pinned belief is recalled already.
    if (isShown(context, belief.id)) continue
    const [alias = null] = await memory.suggestAliases(message, belief.id)
    suggestions.push({ beliefId: belief.id, name: belief.name, content: belief.content, alias })
  }
  return suggestions
}

async function matchesElsewhere(memory: Memory, message: string, active: readonly string[]) {
  const inView = visibleScopes(active)
  const { beliefs, quotes } = await memory.search(message, { limit: maxHits })
  const scopes = new Set([
    ...beliefs.filter(({ strength }) => strength === 'exact').flatMap(({ belief }) => belief.scopes),
    ...quotes.map(({ scope }) => scope),
  ])
  const found: RecallHints['otherScopes'][number][] = []
  for (const scope of [...scopes].filter((scope) => !inView.includes(scope)).slice(0, maxScopes)) {
    // A recall with near misses does not count as a use of the memory.
    const { quotes: said, relevant } = await memory.recall(message, { scopes: [scope], nearMisses: true })
    if (said.length + relevant.length > 0) found.push({ scope, beliefs: relevant.length, quotes: said.length })
  }
  return found
}
