import { z } from 'zod'
import { roles, tokenKinds } from '../../../beliefs/access-store.ts'
import { memoryFates } from '../../../memory/people/access.ts'
import { beliefId, done, forAdmins, forTokens, route, scopes, text } from '../route.ts'

const name = text(64)
const Person = z.object({ name: z.string(), createdAt: z.string() })
const Token = z.object({
  id: z.string(),
  kind: z.enum(tokenKinds),
  person: z.string().nullable().describe('Whose memory it opens; null for an administrator.'),
  scopes: z.array(z.string()).describe('Of an agent: the scopes it is held to.'),
  label: z.string(),
  createdAt: z.string(),
  lastUsedAt: z.string().nullable().describe('When it was last used, to within ten minutes; null if never.'),
  revokedAt: z.string().nullable().describe('When it was revoked; null while it is valid.'),
})
const Team = z.object({
  name: z.string(),
  createdAt: z.string(),
  members: z.array(z.object({ person: z.string(), role: z.enum(roles) })),
})
const NewToken = z.object({ token: Token, secret: z.string().describe('The token itself. It is shown only here.') })
const memory = z.enum(memoryFates).describe('What becomes of the memory: keep, or erase every text of it for good.')

/** People, tokens and teams. None of these routes reads a memory. */
export const accessRoutes = {
  listPeople: forAdmins('GET', '/people', {
    summary: 'The people of this server.',
    answer: z.object({ items: z.array(Person) }),
  }),
  addPerson: forAdmins('POST', '/people', {
    summary: 'Add a person.',
    body: z.strictObject({ name }),
    answer: Person,
    status: 201,
  }),
  removePerson: forAdmins('DELETE', '/people/:name', {
    summary: 'Remove a person with their tokens and memberships.',
    params: z.object({ name }),
    query: z.strictObject({ memory }),
    answer: done,
  }),
  listTokens: forTokens('GET', '/tokens', {
    summary: 'The tokens of the person; all of them for an administrator. Never the tokens themselves.',
    answer: z.object({ items: z.array(Token) }),
  }),
  createToken: forTokens('POST', '/tokens', {
    summary:
      'With the token of a person: a further one of theirs, or one of an agent. With that of an administrator: a further administrator. With that of the memory directory: also the first one of a person who has no memory yet.',
    body: z.strictObject({
      kind: z.enum(tokenKinds).optional().describe('Default: person.'),
      person: name.optional().describe('For the first token of a person.'),
      scopes: scopes.optional().describe('For an agent. Default user:universal. team:NAME adds a team.'),
      label: text(100).optional(),
    }),
    answer: NewToken,
    status: 201,
  }),
  revokeToken: forTokens('DELETE', '/tokens/:id', {
    summary: 'Revoke a token of the person, or any for an administrator. It is refused from now on by every server.',
    params: beliefId,
    answer: done,
  }),
  listTeams: forTokens('GET', '/teams', {
    summary: 'The teams of the person with their members; all of them for an administrator.',
    answer: z.object({ items: z.array(Team) }),
  }),
  createTeam: forAdmins('POST', '/teams', {
    summary: 'Make a team with its first owner, who adds the other members.',
    body: z.strictObject({ name, owner: name }),
    answer: Team,
    status: 201,
  }),
  removeTeam: forAdmins('DELETE', '/teams/:name', {
    summary: 'Remove a team.',
    params: z.object({ name }),
    query: z.strictObject({ memory }),
    answer: done,
  }),
  setMember: route('POST', '/teams/:name/members', {
    summary: 'Add a member to a team, or change the role of one. Needs the role owner.',
    params: z.object({ name }),
    body: z.strictObject({ person: name, role: z.enum(roles) }),
    answer: done,
  }),
  removeMember: route('DELETE', '/teams/:name/members/:person', {
    summary: 'Remove a member from a team. Needs the role owner; everybody may leave.',
    params: z.object({ name, person: name }),
    answer: done,
  }),
}
