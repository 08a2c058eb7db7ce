import { roles, tokenKinds } from '../beliefs/access-store.ts'
import { forbidden } from '../errors.ts'
import * as access from '../memory/people/access.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { choice, type InputOf, list, optional, text } from './field.ts'
import { type Call, type Caller, operation, servedBy } from './operation.ts'

const name = text(64)
const memory = choice(access.memoryFates, 'Whether to keep the memory, or to erase all of its text permanently.')
const newToken = {
  kind: optional(choice(tokenKinds, 'Default: person.')),
  person: optional(text(64, 'For the first token of a person.')),
  scopes: optional(
    list(text(200), { max: 50 }, 'A scope that the agent may use; team:NAME for a team. Default: user:universal.'),
  ),
  label: optional(text(100, 'Its purpose, such as the name of a machine.')),
}

const roleHelp =
  'reader: recalls. writer: also remembers and corrects. owner: also decides on proposals, forgets, undoes, and changes the members.'

const done = { ok: true } as const

const portsOf = (call: Call): Promise<access.AccessPorts> => servedBy(call).people.access()

/** People, tokens and teams. No operation here reads a memory. The caller's token determines what the caller may see. */
export const people = {
  listPeople: operation({
    summary: 'The people of this server.',
    access: 'admin',
    http: 'GET /people',
    input: {},
    run: async (call) => ({ items: await (await portsOf(call)).access.people() }),
  }),
  addPerson: operation({
    summary: 'Add a person.',
    access: 'admin',
    http: 'POST /people',
    status: 201,
    input: { name },
    run: async (call, { name }) => access.addPerson(await portsOf(call), { name }),
  }),
  removePerson: operation({
    summary: 'Remove a person with their tokens and memberships.',
    access: 'admin',
    http: 'DELETE /people/:name',
    input: { name, memory },
    run: async (call, { name, memory }) => {
      await access.removePerson(await portsOf(call), name, memory)
      return done
    },
  }),
  listTokens: operation({
    summary: 'The tokens of the person; all of them for an administrator. Never the tokens themselves.',
    access: 'tokens',
    http: 'GET /tokens',
    input: {},
    run: async (call) => ({ items: await (await portsOf(call)).access.tokens(ownName(call.caller)) }),
  }),
  createToken: operation({
    summary:
      'With the token of a person: a further one of theirs, or one of an agent. With that of an administrator: a further administrator. With that of the memory directory: also the first one of a person who has no memory yet.',
    access: 'tokens',
    http: 'POST /tokens',
    status: 201,
    input: newToken,
    run: async (call, input) => {
      const { caller } = call
      const { kind = 'person', person = '', label } = input
      const ports = await portsOf(call)
      if (caller.kind === 'installation' && kind === 'person') return access.createFirstToken(ports, person, label)
      return access.createToken(
        ports,
        isAdmin(caller) ? requestOfAdmin(input) : requestOfPerson(principalOf(caller), input),
      )
    },
  }),
  revokeToken: operation({
    summary: 'Revoke a token of the person, or any for an administrator. It is refused from now on by every server.',
    access: 'tokens',
    http: 'DELETE /tokens/:id',
    input: { id: text(200) },
    run: async (call, { id }) => {
      await access.revokeToken(await portsOf(call), id, ownName(call.caller))
      return done
    },
  }),
  listTeams: operation({
    summary: 'The teams of the person with their members; all of them for an administrator.',
    access: 'tokens',
    http: 'GET /teams',
    input: {},
    run: async (call) => {
      const teams = await (await portsOf(call)).access.teams()
      const own = ownName(call.caller)
      return { items: teams.filter(({ members }) => own === undefined || members.some(({ person }) => person === own)) }
    },
  }),
  createTeam: operation({
    summary: 'Create a team with its first owner, who adds the other members.',
    access: 'admin',
    http: 'POST /teams',
    status: 201,
    input: { name, owner: name },
    run: async (call, team) => access.createTeam(await portsOf(call), team),
  }),
  removeTeam: operation({
    summary: 'Remove a team.',
    access: 'admin',
    http: 'DELETE /teams/:name',
    input: { name, memory },
    run: async (call, { name, memory }) => {
      await access.removeTeam(await portsOf(call), name, memory)
      return done
    },
  }),
  setMember: operation({
    summary: 'Add a member to a team, or change the role of one. Needs the role owner.',
    http: 'POST /teams/:name/members',
    input: { name, person: name, role: choice(roles, roleHelp) },
    run: async (call, { name: team, ...member }) => {
      requireOwner(principalOf(call.caller), team)
      await access.setMember(await portsOf(call), { team, ...member })
      return done
    },
  }),
  removeMember: operation({
    summary: 'Remove a member from a team. Needs the role owner; any member may leave.',
    http: 'DELETE /teams/:name/members/:person',
    input: { name, person: name },
    run: async (call, { name: team, person }) => {
      const principal = principalOf(call.caller)
      if (person !== principal.person) requireOwner(principal, team)
      await access.removeMember(await portsOf(call), { team, person })
      return done
    },
  }),
}

type NewToken = InputOf<typeof newToken>

function requestOfAdmin({ kind, label = '', scopes = [] }: NewToken): access.TokenRequest {
  if (kind === 'admin') return { kind, person: null, label, scopes }
  throw forbidden(
    'An administrator may not make a token that opens a memory.',
    'On the machine with the store, `credence token create NAME` creates one.',
  )
}

function requestOfPerson({ person: own }: access.Principal, { kind = 'person', person, label, scopes }: NewToken) {
  if (person !== undefined && person !== own)
    throw forbidden(`You are not "${person}".`, 'Leave `person` out: a token that you make is yours.')
  if (kind === 'admin') throw forbidden('You may not make a token of the kind admin.', 'Use person or agent.')
  return { kind, person: own, ...omitUndefined({ label, scopes }) }
}

/** The installation's token also has the rights of an administrator. */
const isAdmin = ({ kind }: Caller): boolean => kind === 'admin' || kind === 'installation'

/** The caller's name as a filter; undefined for an administrator, who manages all people. */
const ownName = (caller: Caller): string | undefined => (isAdmin(caller) ? undefined : principalOf(caller).person)

function principalOf(caller: Caller): access.Principal {
  if (caller.kind === 'member') return caller.principal
  throw forbidden(
    'This needs the token of a person.',
    '`credence token create NAME` creates one on the machine with the store.',
  )
}

function requireOwner({ teams }: access.Principal, team: string): void {
  if (teams.some((one) => one.team === team && one.role === 'owner')) return
  throw forbidden(`You are not an owner of the team "${team.slice(0, 80)}".`, 'Owners of a team change its members.')
}
