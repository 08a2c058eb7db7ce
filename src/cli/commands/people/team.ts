import { roles } from '../../../beliefs/access-store.ts'
import { createTeam, removeMember, removeTeam, setMember } from '../../../memory/people/access.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import { choice, flag, one, text } from '../../command/options.ts'
import { table } from '../../text/output.ts'
import { listed, memoryFate, storeOptions, takeOverHelp, withAccess } from './open-access.ts'

const team = one('The name of the team.')
const person = one('The name of the person.')

export const teamCreate = defineCommand({
  args: { team },
  options: {
    owner: text('<name>', 'The person who owns the team and adds its members.'),
    takeOver: flag(takeOverHelp),
    ...storeOptions,
  },
  description:
    'The beliefs of a team have the scope team:NAME. Its members recall them together with their own. A team does not see the memory of its members.',
  examples: {
    'credence team create platform --owner ana': 'Makes the team platform, owned by ana.',
    'credence team create platform --owner ana --json': 'The same, with the answer as JSON.',
  },
  async run({ args, options: { owner, takeOver, ...options } }, session) {
    if (owner === undefined) throw new UsageError('A team needs an owner.', 'Add --owner NAME.')
    const made = await withAccess(session, options, (ports) => createTeam(ports, { name: args.team, owner, takeOver }))
    return { document: made, text: (style) => `${style.green('Made')} the team ${args.team}, owned by ${owner}.` }
  },
})

export const teamList = defineCommand({
  args: {},
  options: storeOptions,
  examples: {
    'credence team list': 'Lists teams with their members and roles.',
    'credence team list --json': 'The same as JSON.',
  },
  async run({ options }, session) {
    const teams = await listed(session, options, ({ access }) => access.teams())
    return {
      document: teams,
      text: (style) =>
        table(
          teams.map(({ name, members }) => [name, members.map((one) => `${one.person} (${one.role})`).join(', ')]),
          style.width,
        ),
      notes: teams.length === 0 ? ['There are no teams; `credence team create` makes one.'] : [],
    }
  },
})

export const teamRemove = defineCommand({
  args: { team },
  options: { memory: memoryFate, ...storeOptions },
  examples: {
    'credence team remove platform --memory keep': 'Removes the team, and keeps its memory in the store.',
    'credence team remove platform --memory erase': 'Removes the team and every text of its memory, for good.',
  },
  async run({ args, options: { memory, ...options } }, session) {
    await withAccess(session, options, (ports) => removeTeam(ports, args.team, memory))
    return {
      document: { removed: args.team, memory },
      text: (style) =>
        `${style.green('Removed')} the team ${args.team}; its memory is ${memory === 'erase' ? 'erased' : 'kept'}.`,
    }
  },
})

export const teamAddMember = defineCommand({
  args: { team, person },
  options: {
    role: {
      ...choice(
        '<role>',
        roles,
        'reader: recalls. writer: also remembers and corrects. owner: also decides on proposals, forgets, undoes, and changes the members.',
      ),
      default: 'writer',
    },
    ...storeOptions,
  },
  description: 'Members recall the beliefs of the team; the role decides what else they may do.',
  examples: {
    'credence team add-member platform ben': 'Makes ben a writer of the team.',
    'credence team add-member platform ben --role reader': 'Makes ben a reader of it.',
  },
  async run({ args, options: { role = 'writer', ...options } }, session) {
    await withAccess(session, options, (ports) => setMember(ports, { ...args, role }))
    return {
      document: { ...args, role },
      text: (style) => `${style.green('Done')}: ${args.person} is ${role} of the team ${args.team}.`,
    }
  },
})

export const teamRemoveMember = defineCommand({
  args: { team, person },
  options: storeOptions,
  description: 'What the person wrote in the team stays with the team.',
  examples: {
    'credence team remove-member platform ben': 'Ben no longer sees the memory of the team.',
    'credence team remove-member platform ben --json': 'The same, with the answer as JSON.',
  },
  async run({ args, options }, session) {
    await withAccess(session, options, (ports) => removeMember(ports, args))
    return {
      document: args,
      text: (style) => `${style.green('Removed')} ${args.person} from the team ${args.team}.`,
    }
  },
})
