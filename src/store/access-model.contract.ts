import type { AccessStore, AccessToken, Person, Role, Team } from '../beliefs/access-store.ts'
import { compareText } from '../beliefs/identity.ts'

type KeptToken = { readonly token: AccessToken; readonly hash: string }

/** People, tokens and teams in process memory: the reference model with which stores are compared. */
export function openMemoryAccess(): AccessStore {
  const people = new Map<string, Person>()
  const teams = new Map<string, { readonly team: Omit<Team, 'members'>; readonly members: Map<string, Role> }>()
  const tokens = new Map<string, KeptToken>()
  const sorted = <Item>(items: Iterable<Item>, by: (item: Item) => string): Item[] =>
    [...items].sort((a, b) => compareText(by(a), by(b)))
  const add = <Item>(map: Map<string, Item>, key: string, item: Item): boolean => {
    if (map.has(key)) return false
    map.set(key, item)
    return true
  }
  const valid = (): KeptToken[] => [...tokens.values()].filter(({ token }) => token.revokedAt === null)
  const keep = (token: AccessToken, hash: string): boolean => {
    if (token.person === null || people.has(token.person)) add(tokens, token.id, { token, hash })
    return tokens.has(token.id)
  }
  return {
    addPerson: async (person) => add(people, person.name, person),
    removePerson: async (name) => {
      for (const { token } of tokens.values()) if (token.person === name) tokens.delete(token.id)
      for (const { members } of teams.values()) members.delete(name)
      return people.delete(name)
    },
    people: async () => sorted(people.values(), ({ name }) => name),
    addToken: async (token, hash) => keep(token, hash),
    revokeToken: async (id, revokedAt) => {
      const kept = tokens.get(id)
      if (kept === undefined || (kept.token.revokedAt ?? revokedAt) !== revokedAt) return false
      tokens.set(id, { ...kept, token: { ...kept.token, revokedAt } })
      return true
    },
    noteUse: async (id, lastUsedAt) => {
      const kept = valid().find(({ token }) => token.id === id)
      if (kept !== undefined) tokens.set(id, { ...kept, token: { ...kept.token, lastUsedAt } })
    },
    tokens: async (person) =>
      sorted(
        [...tokens.values()].map(({ token }) => token).filter((one) => person === undefined || one.person === person),
        ({ id }) => id,
      ),
    findToken: async (by) => {
      const kept = valid().find(({ token, hash }) => ('hash' in by ? hash === by.hash : token.id === by.id))
      if (kept === undefined) return null
      const joined = [...teams.values()].flatMap(({ team, members }) => {
        const role = members.get(kept.token.person ?? '')
        return role === undefined ? [] : [{ team: team.name, role }]
      })
      return { ...kept.token, teams: sorted(joined, ({ team }) => team) }
    },
    addTeam: async (team) => add(teams, team.name, { team, members: new Map() }),
    removeTeam: async (name) => teams.delete(name),
    teams: async () =>
      sorted(teams.values(), ({ team }) => team.name).map(({ team, members }) => ({
        ...team,
        members: sorted(members, ([person]) => person).map(([person, role]) => ({ person, role })),
      })),
    setMember: async (team, person, role) => {
      const found = teams.get(team)
      if (found === undefined || !people.has(person)) return false
      found.members.set(person, role)
      return true
    },
    removeMember: async (team, person) => teams.get(team)?.members.delete(person) ?? false,
  }
}
