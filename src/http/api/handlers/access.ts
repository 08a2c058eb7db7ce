import type { z } from 'zod'
import { forbidden } from '../../../errors.ts'
import type { Principal } from '../../../memory/people/access.ts'
import * as access from '../../../memory/people/access.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import type { DeepReadonly } from '../../../operations/operation.ts'
import type { ServedPeople } from '../../../operations/served-memory.ts'
import type { Caller } from '../../authentication.ts'
import type { accessRoutes } from '../routes/access-routes.ts'

const done = { ok: true } as const

type Routes = typeof accessRoutes

/** Optional properties are absent, never undefined: JSON has no undefined. */
type NoUndefined<Value> = Value extends readonly (infer Item)[]
  ? readonly NoUndefined<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: NoUndefined<Exclude<Value[Name], undefined>> }
    : Value

/** A request that is authenticated and valid. */
type AccessRequest<Name extends keyof Routes> = {
  readonly params: NoUndefined<z.output<Routes[Name]['params']>>
  readonly query: NoUndefined<z.output<Routes[Name]['query']>>
  readonly body: Routes[Name]['body'] extends z.ZodType ? NoUndefined<z.output<Routes[Name]['body']>> : null
  readonly caller: Caller
}

type Handlers = {
  readonly [Name in keyof Routes]: (
    request: AccessRequest<Name>,
  ) => Promise<DeepReadonly<z.input<Routes[Name]['answer']>>>
}

/** People, tokens and teams. Whose they are comes from the token of the request. */
export function accessHandlers(deps: ServedPeople): Handlers {
  return {
    listPeople: async () => ({ items: await (await deps.access()).access.people() }),
    addPerson: async ({ body: { name } }) => access.addPerson(await deps.access(), { name }),
    removePerson: async ({ params: { name }, query: { memory } }) => {
      await access.removePerson(await deps.access(), name, memory)
      return done
    },
    listTokens: async ({ caller }) => ({ items: await (await deps.access()).access.tokens(ownName(caller)) }),
    createToken: async ({ caller, body }) => {
      const ports = await deps.access()
      const { kind = 'person', person = '', label } = body
      if (caller.kind === 'installation' && kind === 'person') return access.createFirstToken(ports, person, label)
      const request = isAdmin(caller) ? requestOfAdmin(body) : requestOfPerson(principalOf(caller), body)
      return access.createToken(ports, request)
    },
    revokeToken: async ({ caller, params: { id } }) => {
      await access.revokeToken(await deps.access(), id, ownName(caller))
      return done
    },
    listTeams: async ({ caller }) => {
      const items = await (await deps.access()).access.teams()
      const person = ownName(caller)
      const isListed = person === undefined ? () => true : isMember(person)
      return { items: items.filter(isListed) }
    },
    createTeam: async ({ body }) => access.createTeam(await deps.access(), body),
    removeTeam: async ({ params: { name }, query: { memory } }) => {
      await access.removeTeam(await deps.access(), name, memory)
      return done
    },
    setMember: async ({ caller, params: { name: team }, body }) => {
      requireOwner(principalOf(caller), team)
      await access.setMember(await deps.access(), { team, ...body })
      return done
    },
    removeMember: async ({ caller, params: { name: team, person } }) => {
      const principal = principalOf(caller)
      if (person !== principal.person) requireOwner(principal, team)
      await access.removeMember(await deps.access(), { team, person })
      return done
    },
  }
}

type Body = AccessRequest<'createToken'>['body']

function requestOfAdmin({ kind, label = '', scopes = [] }: Body): access.TokenRequest {
  if (kind === 'admin') return { kind, person: null, label, scopes }
  throw forbidden(
    'An administrator may not make a token that opens a memory.',
    'Where the store is, `credence token create NAME` makes one.',
  )
}

function requestOfPerson(principal: Principal, { kind = 'person', person, label, scopes }: Body): access.TokenRequest {
  if (person !== undefined && person !== principal.person)
    throw forbidden(`You are not "${person}".`, 'Leave `person` out: a token that you make is yours.')
  if (kind !== 'person' && kind !== 'agent')
    throw forbidden(`You may not make a token of the kind ${kind}.`, 'Use person or agent.')
  return { kind, person: principal.person, ...omitUndefined({ label, scopes }) }
}

/** The holder of the installation's token administers its store. */
const isAdmin = ({ kind }: Caller): boolean => kind === 'admin' || kind === 'installation'

/** Undefined for an administrator, who manages all of them. */
const ownName = (caller: Caller): string | undefined => (isAdmin(caller) ? undefined : principalOf(caller).person)

function principalOf(caller: Caller): Principal {
  if (caller.kind === 'member') return caller.principal
  throw forbidden('This needs the token of a person.', '`credence token create NAME` makes one where the store is.')
}

const isMember =
  (person: string) =>
  ({ members }: { readonly members: readonly { readonly person: string }[] }): boolean =>
    members.some((member) => member.person === person)

function requireOwner({ teams }: Principal, team: string): void {
  if (teams.some((one) => one.team === team && one.role === 'owner')) return
  throw forbidden(`You are not an owner of the team "${team.slice(0, 80)}".`, 'Owners of a team change its members.')
}
