import { createHash } from 'node:crypto'
import type { AccessStore, AccessToken, FoundToken, Person, Role, Team } from '../../beliefs/access-store.ts'
import { parseScopes, teamOf, teamOwner, universalScope } from '../../beliefs/scope.ts'
import { conflict, invalid, notFound } from '../../errors.ts'
import { forget } from '../change/forget.ts'
import { change, eraseChange } from '../change/transaction.ts'
import type { Ports } from '../ports.ts'

/** The prefix of every token, so that people and programs that look for secrets recognise one. */
const tokenPrefix = 'credence_'
const maxLabelLength = 100

export type TokenRequest = Pick<AccessToken, 'kind' | 'person'> & Partial<Pick<AccessToken, 'scopes' | 'label'>>
/** `secret` is the token itself, which is not stored. */
export type NewToken = { readonly token: AccessToken; readonly secret: string }
/** What happens to the memory of a removed person or team. */
export const memoryFates = ['keep', 'erase'] as const
export type MemoryFate = (typeof memoryFates)[number]

export type AccessPorts = Ports & {
  readonly access: AccessStore
  readonly random: (bytes: number) => Uint8Array
}

/** Tokens have 256 random bits, so a hash without salt reveals nothing. */
const secretHashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')

/** The stored token that a request presents; null if it is unknown or revoked. */
export const findToken = async (access: AccessStore, secret: string): Promise<FoundToken | null> =>
  secret.startsWith(tokenPrefix) ? access.findToken({ hash: secretHashOf(secret) }) : null

/** Min time between two recorded uses of a token, so that a busy token does not cause a write for each request. */
const useEveryMs = 600_000

/** Records that a token is being used. */
export async function noteTokenUse(
  { access, now }: Pick<AccessPorts, 'access' | 'now'>,
  { id, lastUsedAt }: Pick<AccessToken, 'id' | 'lastUsedAt'>,
): Promise<void> {
  const time = now()
  if (lastUsedAt === null || time.getTime() - Date.parse(lastUsedAt) >= useEveryMs)
    await access.noteUse(id, time.toISOString())
}

/** Checks a name. Few characters are allowed, because names become part of keys and scopes. */
export function parseName(text: string, of: 'person' | 'team'): string {
  if (/^[a-z0-9][a-z0-9._@-]{0,63}$/u.test(text)) return text
  throw invalid(
    `"${text.slice(0, 80)}" is not the name of a ${of}.`,
    'Use up to 64 of a-z, 0-9, dot, hyphen, underscore and @, and begin with a letter or a digit.',
  )
}

/** Adds a person. Throws if the name already has a memory, unless `takeOver` gives that memory to the person. */
export async function addPerson(
  ports: AccessPorts,
  { name, takeOver = false }: { readonly name: string; readonly takeOver?: boolean },
): Promise<Person> {
  const person = { name: parseName(name, 'person'), createdAt: ports.now().toISOString() }
  if (!takeOver) await requireNoMemory(ports, name)
  if (await ports.access.addPerson(person)) return person
  throw conflict(`There is a person "${name}" already.`, '`credence people list` lists them.')
}

/** Throws if a memory exists, because a new person or team must not get the memory of an earlier one with the same name. */
export async function requireNoMemory({ store }: Ports, owner: string): Promise<void> {
  if ((await store.events(owner, { limit: 1, hearing: true })).length === 0) return
  throw conflict(
    `"${owner}" has a memory already.`,
    'Take another name. On the machine of the store, `--take-over` hands the memory over, and `credence token create` opens it.',
  )
}

/** Removes a person, their tokens and memberships; the memory is kept or erased. */
export async function removePerson(ports: AccessPorts, name: string, memory: MemoryFate): Promise<void> {
  // Removes the tokens first, so that nothing can be added while the memory is being erased.
  if (!(await ports.access.removePerson(name))) throw unknownPerson(name)
  if (memory === 'erase') await eraseMemory(ports, name)
}

export async function createToken(ports: AccessPorts, request: TokenRequest): Promise<NewToken> {
  const made = newToken(ports, request)
  if (await ports.access.addToken(made.token, secretHashOf(made.secret))) return made
  throw unknownPerson(request.person ?? '')
}

/** A token for a person who has neither a token nor a memory, so that it gives no access to existing data. */
export async function createFirstToken(ports: AccessPorts, person: string, label = ''): Promise<NewToken> {
  await requireNoMemory(ports, person)
  if ((await ports.access.tokens(person)).some(({ revokedAt }) => revokedAt === null))
    throw conflict(`"${person}" has a token already.`, 'People who have a token make further ones themselves.')
  return createToken(ports, { kind: 'person', person, label })
}

function newToken(ports: AccessPorts, { kind, person, scopes = [], label = '' }: TokenRequest): NewToken {
  if (label.length > maxLabelLength)
    throw invalid(`The label has ${label.length} characters; at most ${maxLabelLength} fit.`, 'Take a shorter one.')
  if (kind !== 'agent' && scopes.length > 0)
    throw invalid(`A token of the kind ${kind} has no scopes.`, 'Only tokens of agents can be limited to scopes.')
  const bytes = (count: number): Buffer => Buffer.from(ports.random(count))
  const token = {
    id: `t-${bytes(6).toString('hex')}`,
    kind,
    person,
    scopes: kind === 'agent' ? parseScopes(scopes.length === 0 ? [universalScope] : scopes) : [],
    label,
    createdAt: ports.now().toISOString(),
    lastUsedAt: null,
    revokedAt: null,
  }
  return { token, secret: `${tokenPrefix}${bytes(32).toString('base64url')}` }
}

/** Revokes a token. With `person`, only if the token belongs to that person. */
export async function revokeToken(
  { access, now }: Pick<AccessPorts, 'access' | 'now'>,
  id: string,
  person?: string,
): Promise<void> {
  const token = await access.findToken({ id })
  const isTheirs = token !== null && (person === undefined || token.person === person)
  if (isTheirs && (await access.revokeToken(id, now().toISOString()))) return
  throw notFound(`There is no token "${id.slice(0, 80)}".`, '`credence token list` lists them.')
}

/** Creates a team with its first owner. Throws if the name already has a memory, unless `takeOver` is set. */
export async function createTeam(
  ports: AccessPorts,
  { name, owner, takeOver = false }: { readonly name: string; readonly owner: string; readonly takeOver?: boolean },
): Promise<Team> {
  const team = { name: parseName(name, 'team'), createdAt: ports.now().toISOString() }
  if (!takeOver) await requireNoMemory(ports, teamOwner(name))
  if (!(await ports.access.people()).some((person) => person.name === owner)) throw unknownPerson(owner)
  if (!(await ports.access.addTeam(team)))
    throw conflict(`There is a team "${name}" already.`, '`credence team list` lists them.')
  await setMember(ports, { team: name, person: owner, role: 'owner' })
  return { ...team, members: [{ person: owner, role: 'owner' }] }
}

export async function removeTeam(ports: AccessPorts, name: string, memory: MemoryFate): Promise<void> {
  if (!(await ports.access.removeTeam(name))) throw unknownTeam(name)
  if (memory === 'erase') await eraseMemory(ports, teamOwner(name))
}

export async function setMember(
  { access }: Pick<AccessPorts, 'access'>,
  { team, person, role }: { readonly team: string; readonly person: string; readonly role: Role },
): Promise<void> {
  if (await access.setMember(team, person, role)) return
  throw (await access.teams()).some(({ name }) => name === team) ? unknownPerson(person) : unknownTeam(team)
}

export async function removeMember(
  { access }: Pick<AccessPorts, 'access'>,
  { team, person }: { readonly team: string; readonly person: string },
): Promise<void> {
  if (await access.removeMember(team, person)) return
  throw notFound(`"${person}" is not a member of the team "${team}".`, '`credence team list` lists the members.')
}

const unknownPerson = (name: string) =>
  notFound(`There is no person "${name.slice(0, 80)}".`, '`credence people list` lists them.')
const unknownTeam = (name: string) =>
  notFound(`There is no team "${name.slice(0, 80)}".`, '`credence team list` lists them.')

/** The memory that a token gives access to, and its limits. */
export type Principal = {
  readonly tokenId: string
  readonly person: string
  readonly isAgent: boolean
  /** The active scopes of a request that names none. An agent may not name any others. Team scopes come last. */
  readonly scopes: readonly string[]
  /** The teams of the person; for an agent, only those that its token names. */
  readonly teams: readonly { readonly team: string; readonly role: Role }[]
}

/** The principal of a token that gives access to a memory; null for an administrator. */
export function principalOf({ id, kind, person, scopes, teams }: FoundToken): Principal | null {
  if (person === null || kind === 'admin') return null
  const isAgent = kind === 'agent'
  const named = new Set(scopes.map(teamOf))
  const joined = isAgent ? teams.filter(({ team }) => named.has(team)) : teams
  const own = isAgent ? scopes.filter((scope) => teamOf(scope) === null) : [universalScope]
  const shared = isAgent
    ? scopes.filter((scope) => joined.some(({ team }) => team === teamOf(scope)))
    : joined.map(({ team }) => teamOwner(team))
  return { tokenId: id, person, isAgent, scopes: [...own, ...shared], teams: joined }
}

const author = { actor: 'person', origin: 'admin' } as const
const everything = { limit: Number.MAX_SAFE_INTEGER, offset: 0 }

/** Removes every text of an owner: beliefs of any status, turns, and undone changes. The journal keeps receipts. */
async function eraseMemory(ports: Ports, user: string): Promise<void> {
  const { store } = ports
  await change<null>(
    ports,
    { user, author, operation: 'erase a memory' },
    async () => {
      const { items: beliefs } = await store.list({ user }, everything)
      const { items: turns } = await store.listTurns({ user }, everything)
      if (beliefs.length + turns.length === 0) return { kind: 'nothing', result: null }
      const forgottenTurns = turns.map(({ id }) => id)
      return { kind: 'forget', changes: beliefs.map(eraseChange), forgottenTurns, result: () => null }
    },
    async () => null,
  )
  for (let before: number | undefined; ; ) {
    const page = { limit: 100, hearing: true, ...(before === undefined ? {} : { before }) }
    const events = await store.events(user, page)
    for (const { number } of events.filter(({ kind }) => kind === 'undo'))
      for (const { beliefId, outcome } of await store.revisions(user, number)) {
        const last = outcome === 'absent' ? (await store.history(user, beliefId)).at(-1) : undefined
        if (last?.outcome === 'absent') await forget(ports, { user, author, scopes: [], reference: beliefId })
      }
    before = events.at(-1)?.number
    if (before === undefined) return
  }
}
