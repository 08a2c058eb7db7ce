import { type Role, roles } from '../../beliefs/access-store.ts'
import { teamOf, teamOwner, universalScope } from '../../beliefs/scope.ts'
import { forbidden, invalid, MemoryError, notFound } from '../../errors.ts'
import { type Memory, memoryFrom } from '../memory.ts'
import type { Author, Ports } from '../ports.ts'
import { ContextBudget, parseBudget } from '../recall/budget.ts'
import type { Context, Prelude } from '../recall/context.ts'
import { requirePage, type SearchHit } from '../recall/search.ts'

/** The minimum role for each call to a team's memory. `none`: the call is refused, because only people have turns. */
// biome-ignore format: a table, by role
const minRoles: Readonly<Record<Exclude<keyof Memory, 'close'>, Role | 'none'>> = {
  recall: 'reader', search: 'reader', why: 'reader', remedies: 'reader', suggestAliases: 'reader', get: 'reader', list: 'reader',
  find: 'reader', giveFeedback: 'reader', feedback: 'reader', history: 'reader', events: 'reader', scopes: 'reader', proposals: 'reader', candidates: 'reader',
  review: 'reader', export: 'reader',
  remember: 'writer', correct: 'writer', reinforce: 'writer', pin: 'writer', unpin: 'writer', addAliases: 'writer',
  removeAliases: 'writer', setWhy: 'writer', edit: 'writer', resolve: 'writer',
  confirm: 'owner', forget: 'owner', previewForget: 'owner', undo: 'owner', accept: 'owner', reject: 'owner', import: 'owner',
  learn: 'none', hear: 'none', turns: 'none', turn: 'none', conversations: 'none', embedTexts: 'none', meaningStatus: 'none', forgetTurns: 'none',
  exportTurns: 'none', learnedFrom: 'none', whyTurn: 'none',
}

/** The ports for a team. They refuse to commit a belief with a scope outside the team. */
export function teamPorts(ports: Ports, team: string): Ports {
  const checkCommit: Ports['checkCommit'] = ({ changes }) => {
    const stray = changes.flatMap(({ after }) => after?.scopes ?? []).find((scope) => teamOf(scope) !== team)
    if (stray === undefined) return
    throw invalid(
      `The scope "${stray}" is not one of the team "${team}".`,
      `Use ${teamOwner(team)}, or a scope below it such as ${teamOwner(team)}/api.`,
    )
  }
  return { ...ports, checkCommit }
}

/** A team's memory for a member: calls that need a higher role are refused. */
export function teamMemory(memory: Memory, { team, role }: { readonly team: string; readonly role: Role }): Memory {
  const guarded = Object.entries(minRoles).map(([name, needed]) => {
    if (needed !== 'none' && roles.indexOf(role) >= roles.indexOf(needed)) return [name, memory[name as keyof Memory]]
    const refuse = () => {
      throw needed === 'none'
        ? forbidden(`The team "${team}" has no conversations.`, 'Conversations are stored in your own memory.')
        : forbidden(`You are ${role} of the team "${team}"; this needs ${needed}.`, 'Ask an owner of the team.')
    }
    return [name, name.startsWith('export') ? refuse : async () => refuse()]
  })
  // Each entry is the call itself, or a function that throws.
  return { ...(Object.fromEntries(guarded) as Memory), close: memory.close }
}

/** A user of team memories: a person, or a person's agent. */
export type Member = {
  readonly person: string
  /** The active scopes of a call that names none, including team scopes. */
  readonly scopes: readonly string[]
  readonly teams: readonly { readonly team: string; readonly role: Role }[]
}

/** A team's memory for one member. Changes record the member's name. */
export function memoryOfTeam(ports: Ports, { person, scopes, teams }: Member, team: string, author: Author): Memory {
  const membership = teams.find((known) => known.team === team)
  if (membership === undefined)
    throw notFound(`There is no team "${team.slice(0, 80)}" for this token.`, 'GET /api/v1/teams lists your teams.')
  const origin = author.actor === 'person' ? person : `${person}/${author.origin}`
  const memory = memoryFrom(teamPorts(ports, team), {
    user: teamOwner(team),
    scopes: scopes.filter((scope) => teamOf(scope) === team),
    agent: null,
    author: { actor: author.actor, origin },
  })
  // All memories of a member share one store, which is closed with the person's own memory.
  return teamMemory({ ...memory, close: async () => {} }, membership)
}

/**
 * The memory of a person together with those of their teams. A name is first looked up in the memory of the first
 * scope.
 */
export function memberMemory(own: Memory, ports: Ports, member: Member, author: Author): Memory {
  const teams = new Map(member.teams.map(({ team }) => [team, memoryOfTeam(ports, member, team, author)]))
  return joinMemories({ own, teams }, { agentShare: ports.agentShare, scopes: member.scopes })
}

/** A person's memory together with those of their teams. */
export type JoinedMemory = { readonly own: Memory; readonly teams: ReadonlyMap<string, Memory> }

type JoinOptions = { readonly agentShare?: number | undefined; readonly scopes?: readonly string[] }

/**
 * Joins the memories. Recall, search and lists of open decisions include all of them; changes go to the one that a scope or a
 * belief belongs to. The journal and undo are those of the first scope. Everything else uses the person's own memory, which also
 * stores the turns of team scopes.
 */
export function joinMemories({ own, teams }: JoinedMemory, { agentShare, scopes = [] }: JoinOptions = {}): Memory {
  return {
    ...own,
    ...routeByScope(own, teams),
    ...(teams.size === 0 ? {} : { ...routeToHolder(own, teams, scopes), ...joinDecisions([own, ...teams.values()]) }),
    hear: (turns, options) => own.hear(turns, ownOptions(options)),
    learn: (text, options) => own.learn(text, ownOptions(options)),
    recall: async (message, options = {}) => {
      const parts = split(options.scopes, teams)
      if (parts.teams.length === 0) return own.recall(message, options)
      const contexts = [await own.recall(message, { ...options, ...scopesOf(parts.own) })]
      for (const [memory, scopes] of parts.teams)
        contexts.push(await memory.recall(message, { ...options, ...scopesOf(scopes) }))
      const shown = options.scopes === undefined ? {} : { scopes: options.scopes }
      return { ...mergeContexts(contexts, parseBudget(options.budget, agentShare)), ...shown }
    },
    search: async (query, options = {}) => {
      const parts = split(options.scopes, teams)
      if (parts.teams.length === 0) return own.search(query, options)
      const { limit = 10, offset = 0 } = options
      // The whole page may come from one memory, so each memory is asked for all of it.
      const page = { ...options, offset: 0, limit: Math.min(100, offset + limit) }
      const results = [await own.search(query, { ...page, ...scopesOf(parts.own) })]
      if (options.in !== 'turns')
        for (const [memory, scopes] of parts.teams)
          results.push(await memory.search(query, { ...page, in: 'beliefs', ...scopesOf(scopes) }))
      const isExact = ({ strength }: SearchHit): boolean => strength === 'exact'
      const hits = results
        .flatMap(({ beliefs }) => beliefs)
        .sort((a, b) => Number(isExact(b)) - Number(isExact(a)) || b.score - a.score)
      return {
        beliefs: hits.slice(offset, offset + limit),
        total: results.reduce((sum, { total }) => sum + total, 0),
        quotes: results[0]?.quotes.slice(offset, offset + limit) ?? [],
        meaning: results[0]?.meaning ?? 'words',
        isQueryCut: results[0]?.isQueryCut ?? false,
      }
    },
  }
}

const scopesOf = (scopes: readonly string[] | undefined) => (scopes === undefined ? {} : { scopes })

/** A team has no conversations, so turns go to the person's memory: to the scopes that are not a team's, or the universal one. */
function ownOptions<Options extends { readonly scopes?: readonly string[] }>(options?: Options): Options | undefined {
  if (options?.scopes === undefined) return options
  const scopes = options.scopes.filter((scope) => teamOf(scope) === null)
  return { ...options, scopes: scopes.length === 0 ? [universalScope] : scopes }
}

type Teams = JoinedMemory['teams']
type Part = readonly [memory: Memory, scopes: readonly string[] | undefined]

/** The scopes of the person's own memory, and those of each team. Without scopes, every memory is asked. */
function split(
  scopes: readonly string[] | undefined,
  teams: Teams,
): { own: readonly string[] | undefined; teams: readonly Part[] } {
  if (scopes === undefined) return { own: undefined, teams: [...teams.values()].map((memory) => [memory, undefined]) }
  const byTeam = Map.groupBy(scopes, teamOf)
  const shared = [...byTeam].flatMap(([team, of]): Part[] => (team === null ? [] : [[memberOf(teams, team), of]]))
  return { own: byTeam.get(null) ?? [], teams: shared }
}

function memberOf(teams: Teams, team: string): Memory {
  const memory = teams.get(team)
  if (memory !== undefined) return memory
  throw forbidden(
    `You are not a member of a team "${team.slice(0, 80)}".`,
    'An owner of the team can add you. On the command line, --user names you.',
  )
}

/** Calls that go to the memory of their scopes. All scopes of a call must belong to one memory. */
function routeByScope(own: Memory, teams: Teams) {
  const memoryOf = (scopes: readonly string[] = []): Memory => {
    const named = new Set(scopes.map(teamOf))
    const [team = null] = named
    if (named.size <= 1) return team === null ? own : memberOf(teams, team)
    throw invalid(
      `The scopes ${scopes.join(', ').slice(0, 200)} belong to several memories.`,
      'Name scopes of one team, or of your own memory.',
    )
  }
  const memoryForList = (scopes: readonly string[] | undefined): Memory =>
    new Set(scopes?.map(teamOf)).size === 1 ? memoryOf(scopes) : own
  return {
    remember: async (statement) => memoryOf(statement.scopes).remember(statement),
    import: async (text, options) => memoryOf(options?.scopes).import(text, options),
    list: async (options) => memoryForList(options?.scopes).list(options),
    find: async (query, options) => memoryForList(options?.scopes).find(query, options),
    export: async function* (options) {
      yield* memoryForList(options?.scopes).export(options)
    },
  } satisfies Partial<Memory>
}

/** The waiting decisions of several memories, as lists. Each memory applies the filter itself. */
function joinDecisions(memories: readonly Memory[]) {
  const askAll = async <Item>(ask: (memory: Memory) => Promise<readonly Item[]>): Promise<readonly Item[]> =>
    (await Promise.all(memories.map(ask))).flat()
  return {
    proposals: () => askAll((memory) => memory.proposals()),
    candidates: () => askAll((memory) => memory.candidates()),
    feedback: () => askAll((memory) => memory.feedback()),
    review: async ({ limit = 50, offset = 0, ...filter } = {}) => {
      requirePage({ limit, offset })
      // The whole page may come from one memory, so each memory is asked for all of it.
      const page = { ...filter, limit: Math.min(1_000, offset + limit) }
      const pages = await askAll(async (memory) => [await memory.review(page)])
      const items = pages
        .flatMap((page) => page.items)
        .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
        .slice(offset, offset + limit)
      return { items, total: pages.reduce((sum, { total }) => sum + total, 0) }
    },
  } satisfies Partial<Memory>
}

// biome-ignore format: a list of names
const referring = [
  'get', 'history', 'correct', 'reinforce', 'confirm', 'pin', 'unpin', 'addAliases', 'removeAliases', 'setWhy', 'edit',
  'resolve', 'forget', 'previewForget', 'accept', 'reject', 'giveFeedback',
] as const satisfies readonly (keyof Memory)[]

/**
 * Calls about one belief. Each goes to the memory that has the belief: the memory of the first scope is tried first, then the
 * person's own, then those of teams. The journal is that of the first scope.
 */
function routeToHolder(own: Memory, teams: Teams, [first]: readonly string[]): Partial<Memory> {
  const home = teams.get(teamOf(first ?? '') ?? '') ?? own
  const holders = [...new Set([home, own, ...teams.values()])]
  const holderOf = async (reference: string): Promise<Memory> => {
    for (const memory of holders) {
      try {
        await memory.get(reference)
        return memory
      } catch (error) {
        if (!(error instanceof MemoryError)) throw error
        // The reference is ambiguous, so the call itself reports the choices.
        if (error.code === 'conflict') return memory
        if (error.code !== 'not_found') throw error
      }
    }
    return own
  }
  const calls = referring.map((name) => [
    name,
    async (reference: string, ...rest: readonly unknown[]) => {
      const call = (await holderOf(reference))[name] as (...given: readonly unknown[]) => unknown
      return call(reference, ...rest)
    },
  ])
  return {
    // Each function forwards to the call of the same name.
    ...(Object.fromEntries(calls) as Partial<Memory>),
    undo: (event, options) => home.undo(event, options),
    events: (options) => home.events(options),
    why: async (message, reference, options) => (await holderOf(reference)).why(message, reference, options),
    remedies: async (message, reference, options) => (await holderOf(reference)).remedies(message, reference, options),
    suggestAliases: async (message, reference) => (await holderOf(reference)).suggestAliases(message, reference),
  }
}

/** Merges contexts within one budget: the person's own lines first, relevant ones by score. */
function mergeContexts(contexts: readonly Context[], limits: ReturnType<typeof parseBudget>): Context {
  const [own, ...shared] = contexts as [Context, ...Context[]]
  const budget = new ContextBudget(limits)
  const questions = budget.takeQuestions(contexts.flatMap((context) => context.questions))
  const pinned = budget.takePinned(contexts.flatMap((context) => context.pinned))
  // The sort is stable, so among beliefs with equal scores, the person's own come first. Participants of a relation have the score 0.
  const byScore = contexts.flatMap((context) => context.relevant).toSorted((a, b) => b.score - a.score)
  const relevant = budget.takeRelevant(byScore)
  // Every context is within the limit of lines for one message, so the joined one may be as long as the longest.
  const maxLines = Math.max(...contexts.map(({ quotes, perhaps }) => quotes.length + perhaps.length))
  const nearest = contexts.flatMap(({ perhaps }) => perhaps).toSorted((a, b) => b.cosine - a.cosine)
  const perhaps = budget.takeRelevant(nearest.slice(0, maxLines - own.quotes.length))
  const nearMisses = contexts.flatMap((context) => context.nearMisses ?? [])
  const namedAnyway = contexts.flatMap((context) => context.namedAnyway ?? [])
  return {
    ...own,
    scopes: contexts.flatMap(({ scopes }) => scopes),
    prelude: joinPreludes(own.prelude, shared, limits.maxPrelude),
    pinned,
    relevant,
    questions,
    perhaps,
    ...(own.nearMisses === undefined ? {} : { nearMisses, namedAnyway }),
  }
}

/** The person's standing statements, then those of teams, each after the name of its team, as far as they fit. */
function joinPreludes(own: Prelude | null, shared: readonly Context[], maxCharacters: number): Prelude | null {
  const lines = own?.text.split('\n') ?? []
  const beliefIds = [...(own?.beliefIds ?? [])]
  for (const { user, prelude } of shared)
    for (const [place, text] of (prelude?.text.split('\n') ?? []).entries()) {
      const line = `(team ${teamOf(user)}) ${text}`
      if ([...lines, line].join('\n').length > maxCharacters) continue
      lines.push(line)
      beliefIds.push(prelude?.beliefIds[place] ?? '')
    }
  return lines.length === 0 ? null : { text: lines.join('\n'), beliefIds }
}
