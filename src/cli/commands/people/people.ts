import { randomBytes } from 'node:crypto'
import { parseScopes } from '../../../beliefs/scope.ts'
import { syncOnCommit } from '../../../memory/mirror/sync-on-commit.ts'
import * as access from '../../../memory/people/access.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { people } from '../../../operations/access.ts'
import {
  type CommandAnswer,
  type DefaultAnswer,
  defineCommand,
  type Option,
  UsageError,
} from '../../command/command.ts'
import { fieldOption, fieldOptions, flag, memoryOptions, one, oneOf, optional, text } from '../../command/options.ts'
import type { LocationOptions, Session } from '../../session.ts'
import { lines } from '../../text/output.ts'

/** Selects a store, not a user: people, tokens and teams belong to the whole store. */
const storeOptions = { dir: memoryOptions.dir, store: memoryOptions.store }

/** Required to remove a person or a team. */
const memoryFate: Option<(typeof access.memoryFates)[number]> = {
  ...text('<keep|erase>', 'Keep or erase the memory. Erasing cannot be undone. Required.'),
  read: ([given]) => {
    if (given !== undefined) return oneOf(access.memoryFates, given)
    throw new UsageError('A value is needed.', 'Add --memory keep or --memory erase.')
  },
}

const takeOver = flag('Allow a name that already has a memory; the new person or team gets it.')

/** Runs a function with access to the people, tokens and teams of a store. */
async function withAccess<Result>(
  session: Session,
  options: LocationOptions,
  use: (ports: access.AccessPorts) => Promise<Result>,
): Promise<Result> {
  const { dir, user } = session.places.locate(options)
  return session.memories.withPorts(dir, async (opened) => {
    // If the erased memory is the one shown in MEMORY.md, it is erased there too.
    const authority = session.places.settings({ dir }).mirrorAuthority
    const onProblem = (problem: Error): void => console.error(problem.message)
    const ports = syncOnCommit(opened, { dir, user, authority, make: false, onProblem })
    return use({ ...ports, access: await opened.store.access(), random: randomBytes })
  })
}

/** The teams of the user; empty if there is no memory yet. */
export const listTeams = async (session: Session, options: LocationOptions) => {
  const { dir, user } = session.places.locate(options)
  return (await session.places.hasMemory(options))
    ? session.memories.withPorts(dir, ({ store }) => store.memberships(user))
    : []
}

/** Answers with a list of people, tokens or teams. Without a memory, the list is empty and no memory is created. */
async function listAnswer<Item extends object>(
  session: Session,
  options: LocationOptions,
  { list, none }: { readonly list: (ports: access.AccessPorts) => Promise<readonly Item[]>; readonly none: string },
): Promise<DefaultAnswer & { readonly document: readonly Item[] }> {
  const document = (await session.places.hasMemory(options)) ? await withAccess(session, options, list) : []
  return { document, notes: document.length === 0 ? [none] : [] }
}

const person = one('The name of the person: a-z, 0-9, dot, hyphen, underscore and @.')

export const peopleAdd = defineCommand({
  args: { person },
  options: { takeOver, ...storeOptions },
  description:
    'Prints the first token of the person once; the store keeps only a hash of it. The token opens the memory, so give it to nobody else.',
  examples: {
    'credence people add ana': 'Adds ana, with a memory of her own, and prints a token.',
    'credence people add local --take-over': 'Turns the user local into a person who keeps the existing memory.',
  },
  async run({ args, options: { takeOver, ...options } }, session) {
    const added = await withAccess(session, options, async (ports) => ({
      person: await access.addPerson(ports, { name: args.person, takeOver }),
      ...(await access.createToken(ports, { kind: 'person', person: args.person })),
    }))
    return {
      document: added,
      text: (style) => lines(`${style.green('Added')} ${args.person}.`, `  token  ${added.secret}`),
      notes: ['The token is shown only now. http://SERVER/#token=TOKEN opens the dashboard.'],
    }
  },
})

export const peopleList = defineCommand({
  args: {},
  options: storeOptions,
  examples: {
    'credence people list': 'Lists the people that may use the server.',
  },
  run: ({ options }, session) =>
    listAnswer(session, options, {
      list: (ports) => ports.access.people(),
      none: 'There are no people yet; `credence people add` adds one.',
    }),
})

export const peopleRemove = defineCommand({
  args: { person },
  options: { memory: memoryFate, ...storeOptions },
  description:
    'Revokes every token of the person and ends their memberships. A memory that is kept can be given to a person of the same name later, with `credence people add --take-over`. What the person wrote in a team stays with the team.',
  examples: {
    'credence people remove ana --memory keep': 'Removes ana, and keeps her memory in the store.',
    'credence people remove ana --memory erase': 'Removes ana, and erases her memory permanently.',
  },
  async run({ args, options: { memory, ...options } }, session) {
    await withAccess(session, options, (ports) => access.removePerson(ports, args.person, memory))
    return removalAnswer(args.person, memory)
  },
})

const removalAnswer = (name: string, memory: access.MemoryFate): CommandAnswer => ({
  document: { removed: name, memory },
  text: (style) => `${style.green('Removed')} ${name}; the memory is ${memory === 'erase' ? 'erased' : 'kept'}.`,
})

export const tokenCreate = defineCommand({
  args: { person: optional('The person whose memory the token opens. Omit with --admin.') },
  options: {
    agent: flag('A token of an agent: it reads and proposes, and changes only what it wrote itself.'),
    admin: flag('A token of an administrator: it adds and removes people, tokens and teams, and opens no memory.'),
    scope: {
      ...fieldOption(people.createToken.input.scopes, '<scope>'),
      read: (given: readonly string[]) => parseScopes(given),
    },
    ...fieldOptions(people.createToken.input, 'label'),
    ...storeOptions,
  },
  description: 'Prints the token once. The store keeps only a hash of it.',
  examples: {
    'credence token create ana --label laptop': 'Creates a token for the whole memory of ana.',
    'credence token create ana --agent --scope project:ledger --scope team:platform':
      'Creates one for an agent of ana.',
    'credence token create --admin': 'Creates one for an administrator.',
  },
  async run({ args, options: { agent, admin, scope, label, ...options } }, session) {
    if (agent && admin) throw new UsageError('--agent and --admin exclude each other.', 'Give one of them.')
    const kind = agent ? 'agent' : admin ? 'admin' : 'person'
    const { person = null } = args
    if ((kind === 'admin') !== (person === null))
      throw new UsageError(
        kind === 'admin' ? '--admin takes no person.' : '<person> is missing.',
        'Write `credence token create NAME`, or `credence token create --admin`.',
      )
    const made = await withAccess(session, options, (ports) =>
      access.createToken(ports, { kind, person, scopes: scope, ...omitUndefined({ label }) }),
    )
    return {
      document: made,
      text: (style) => lines(`${style.green('Created')} the token ${made.token.id}.`, `  ${made.secret}`),
      notes: ['The token is shown only now.'],
    }
  },
})

export const tokenList = defineCommand({
  args: { person: optional('Only the tokens of this person.') },
  options: storeOptions,
  examples: {
    'credence token list':
      'Lists every token with its owner, purpose, last use and revocation; never the token itself.',
  },
  async run({ args: { person }, options }, session) {
    const answer = await listAnswer(session, options, {
      list: (ports) => ports.access.tokens(person),
      none: 'There are no tokens yet; `credence token create` creates one.',
    })
    const isRevoked = ({ revokedAt }: { readonly revokedAt: string | null }): number => Number(revokedAt !== null)
    return { ...answer, shown: answer.document.toSorted((a, b) => isRevoked(a) - isRevoked(b)) }
  },
})

export const tokenRevoke = defineCommand({
  args: { token: one('The id of the token, as `credence token list` shows it.') },
  options: storeOptions,
  description: 'From now on every server of the store refuses the token.',
  examples: {
    'credence token revoke t-0a1b2c3d4e5f': 'Revokes one token.',
  },
  async run({ args: { token }, options }, session) {
    await withAccess(session, options, (ports) => access.revokeToken(ports, token))
    return {
      document: { revoked: token },
      text: (style) => `${style.green('Revoked')} ${token}.`,
    }
  },
})

const team = one('The name of the team.')
const member = one('The name of the person.')

export const teamCreate = defineCommand({
  args: { team },
  options: {
    owner: text('<name>', 'The person who owns the team and adds its members. Required.'),
    takeOver,
    ...storeOptions,
  },
  description:
    'The beliefs of a team have the scope team:NAME. Its members recall them together with their own. A team does not see the memory of its members.',
  examples: {
    'credence team create platform --owner ana': 'Creates the team platform, owned by ana.',
  },
  async run({ args, options: { owner, takeOver, ...options } }, session) {
    if (owner === undefined) throw new UsageError('A team needs an owner.', 'Add --owner NAME.')
    const made = await withAccess(session, options, (ports) =>
      access.createTeam(ports, { name: args.team, owner, takeOver }),
    )
    return { document: made, text: (style) => `${style.green('Created')} the team ${args.team}, owned by ${owner}.` }
  },
})

export const teamList = defineCommand({
  args: {},
  options: storeOptions,
  examples: {
    'credence team list': 'Lists teams with their members and roles.',
  },
  run: ({ options }, session) =>
    listAnswer(session, options, {
      list: (ports) => ports.access.teams(),
      none: 'There are no teams yet; `credence team create` creates one.',
    }),
})

export const teamRemove = defineCommand({
  args: { team },
  options: { memory: memoryFate, ...storeOptions },
  examples: {
    'credence team remove platform --memory keep': 'Removes the team, and keeps its memory in the store.',
    'credence team remove platform --memory erase': 'Removes the team, and erases its memory permanently.',
  },
  async run({ args, options: { memory, ...options } }, session) {
    await withAccess(session, options, (ports) => access.removeTeam(ports, args.team, memory))
    return { ...removalAnswer(`the team ${args.team}`, memory), document: { removed: args.team, memory } }
  },
})

export const teamAddMember = defineCommand({
  args: { team, person: member },
  options: { role: { ...fieldOption(people.setMember.input.role, '<role>'), default: 'writer' }, ...storeOptions },
  description: 'Members recall the beliefs of the team; the role decides what else they may do.',
  examples: {
    'credence team add-member platform ben': 'Makes ben a writer of the team.',
    'credence team add-member platform ben --role reader': 'Makes ben a reader of it.',
  },
  async run({ args, options: { role = 'writer', ...options } }, session) {
    await withAccess(session, options, (ports) => access.setMember(ports, { ...args, role }))
    return {
      document: { ...args, role },
      text: (style) => `${style.green('Done')}: ${args.person} is ${role} of the team ${args.team}.`,
    }
  },
})

export const teamRemoveMember = defineCommand({
  args: { team, person: member },
  options: storeOptions,
  description: 'What the person wrote in the team stays with the team.',
  examples: {
    'credence team remove-member platform ben': 'Ben no longer sees the memory of the team.',
  },
  async run({ args, options }, session) {
    await withAccess(session, options, (ports) => access.removeMember(ports, args))
    return {
      document: args,
      text: (style) => `${style.green('Removed')} ${args.person} from the team ${args.team}.`,
    }
  },
})
