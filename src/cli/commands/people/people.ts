import { addPerson, createToken, removePerson } from '../../../memory/people/access.ts'
import { defineCommand } from '../../command/command.ts'
import { flag, one } from '../../command/options.ts'
import { lines, table } from '../../text/output.ts'
import { listed, memoryFate, storeOptions, takeOverHelp, withAccess } from './open-access.ts'

const person = one('The name of the person: a-z, 0-9, dot, hyphen, underscore and @.')

export const peopleAdd = defineCommand({
  args: { person },
  options: { takeOver: flag(takeOverHelp), ...storeOptions },
  description:
    'With --take-over it prints a token instead. The person exchanges the invite once for their own token at the server (POST /api/v1/tokens), so nobody else knows it. `credence token create` creates a token directly.',
  examples: {
    'credence people add ana': 'Adds ana, with a memory of her own, and prints an invite.',
    'credence people add local --take-over': 'Turns the user local into a person who keeps the existing memory.',
  },
  async run({ args, options: { takeOver, ...options } }, session) {
    const added = await withAccess(session, options, async (ports) => ({
      person: await addPerson(ports, { name: args.person, takeOver }),
      // An invite opens no memory that is there already.
      ...(await createToken(ports, { kind: takeOver ? 'person' : 'invite', person: args.person })),
    }))
    return {
      document: added,
      text: (style) =>
        lines(
          `${style.green('Added')} ${args.person}.`,
          `  ${added.token.kind === 'invite' ? 'invite' : 'token'}  ${added.secret}`,
        ),
      notes: takeOver
        ? ['The token is shown only now.']
        : [
            `The invite is shown only now. ${args.person} exchanges it once for a token:`,
            "  curl -d '{}' -H 'Content-Type: application/json' -H 'Authorization: Bearer INVITE' http://SERVER/api/v1/tokens",
            'With the token, http://SERVER/#token=TOKEN opens the dashboard.',
          ],
    }
  },
})

export const peopleList = defineCommand({
  args: {},
  options: storeOptions,
  examples: {
    'credence people list': 'Lists the people that may use the server.',
    'credence people list --json': 'The same as JSON.',
  },
  async run({ options }, session) {
    const people = await listed(session, options, ({ access }) => access.people())
    return {
      document: people,
      text: (style) =>
        table(
          people.map(({ name, createdAt }) => [name, `since ${createdAt.slice(0, 10)}`]),
          style.width,
        ),
      notes: people.length === 0 ? ['There are no people yet; `credence people add` adds one.'] : [],
    }
  },
})

export const peopleRemove = defineCommand({
  args: { person },
  options: { memory: memoryFate, ...storeOptions },
  description:
    'Revokes every token of the person and ends their memberships. A memory that is kept can be given to a person of the same name later, with `credence people add --take-over`. What the person wrote in a team stays with the team.',
  examples: {
    'credence people remove ana --memory keep': 'Removes ana, and keeps her memory in the store.',
    'credence people remove ana --memory erase': 'Removes ana and every text of her memory, for good.',
  },
  async run({ args, options: { memory, ...options } }, session) {
    await withAccess(session, options, (ports) => removePerson(ports, args.person, memory))
    return {
      document: { removed: args.person, memory },
      text: (style) =>
        `${style.green('Removed')} ${args.person}; the memory is ${memory === 'erase' ? 'erased' : 'kept'}.`,
    }
  },
})
