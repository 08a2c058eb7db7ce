import { type Belief, beliefTypes, expertiseDepths, subtypes } from '../../../beliefs/belief.ts'
import { universalScope } from '../../../beliefs/scope.ts'
import { localDay } from '../../../local-time.ts'
import { everydayReason, refusalText } from '../../../memory/change/aliases.ts'
import type { Corrected } from '../../../memory/change/correct.ts'
import { parseForm } from '../../../memory/change/draft.ts'
import type { Remembered } from '../../../memory/change/remember.ts'
import { isPersonal } from '../../../memory/learn/rules.ts'
import { secretTold } from '../../../memory/learn/secrets.ts'
import type { Author } from '../../../memory/ports.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import {
  authorOptions,
  belief,
  changeOptions,
  choice,
  flag,
  keyOptions,
  memoryOptions,
  option,
  share,
  targetOptions,
  text,
  texts,
  words,
} from '../../command/options.ts'
import type { Session } from '../../session.ts'
import { called, foundBy, short } from '../../text/beliefs.ts'
import { harmless, lines, type Style } from '../../text/output.ts'
import { pausedNotes } from '../conversation/pause.ts'

const nameOption = (help: string) => option('<name>', help, (name) => parseForm('name', name))
const aliasOption = texts('<alias>', 'Another name for it. May be given several times.')
const statusOption = {
  ...choice('<status>', ['active', 'inferred', 'exploratory'], 'The status of the belief.'),
  default: 'active',
}

export const remember = defineCommand({
  args: { statement: words('The statement, in your words.') },
  options: {
    name: {
      ...nameOption('Its name. A message that contains the name recalls the belief.'),
      default: 'derived from the statement',
    },
    alias: aliasOption,
    why: text('<text>', 'What an agent should do about it.'),
    type: choice('<type>', beliefTypes, 'The type of the belief.', 'entity'),
    subtype: choice('<subtype>', subtypes, 'The subtype of a preference.'),
    status: statusOption,
    confidence: share('<number>', 'How certain it is, from 0 to 1.', '1'),
    pin: flag('Recall it for every message in its scope.'),
    replace: flag('Replace beliefs that give another value of the same thing, without asking.'),
    participant: texts('<belief>', 'For a relation: a belief it connects, by id or name. May be given several times.'),
    relation: text('<text>', 'For a relation: how they are connected, such as "depends on".'),
    expertise: option(
      '<domain:depth>',
      `A field the person knows, and how well: ${expertiseDepths.join(', ')}.`,
      readExpertise,
    ),
    agent: text('<name>', 'Only this agent can see it.'),
    ...targetOptions,
    ...memoryOptions,
    ...authorOptions,
    ...keyOptions,
  },
  description:
    'A statement in the same words is only counted again. With --name, a statement replaces the belief of that name in the same scope. Without --name it is stored as another belief: if one with another value of the same thing exists ("The build server is larch." and "… is birch."), you are asked whether to replace it; if there is no terminal, standard error has the command that replaces it.',
  examples: {
    'credence remember "The staging database listens on port 5433."':
      'The name is derived from the statement; "staging database" recalls it.',
    'credence remember "The staging database listens on port 5434." --replace':
      'Replaces the statement about port 5433; the history keeps it.',
    'credence remember "I am allergic to peanuts."':
      'About you, so it is stored in user:universal, also inside a repository.',
    'credence remember "Invoices are due after 14 days." --name "payment terms" --alias "due date"':
      'Recalled for every message that contains "payment terms" or "due date".',
    'echo "Answer in short sentences." | credence remember - --name "answer style" --type preference --subtype style --scope user:universal':
      'A preference of the person, in every project.',
  },
  async run({ args: { statement }, options }, session) {
    const { name, alias, pin, participant, scope: _scope, dir: _dir, user: _user, as: _as, ...draft } = options
    const { dir, scopes, homeScopes } = session.places.locate(options)
    const memory = await session.memories.writing(options)
    const former = await session.places.formerProjectNotes(options, memory)
    const warned = await confirmAliases(alias, options.as, session)
    const isEverywhere = options.scope.length === 0 && scopes.includes(universalScope) && isPersonal(statement)
    const given = {
      ...omitUndefined({ ...draft, name }),
      content: statement,
      aliases: alias,
      pinned: pin,
      participants: participant,
      scopes: isEverywhere ? [universalScope] : homeScopes,
    }
    const stored = await memory.remember(given)
    const { key: _key, ...again } = given
    const isReplaced = await confirmReplacement(stored, session)
    const remembered = isReplaced ? await memory.remember({ ...again, replace: true }) : stored
    const id = harmless(remembered.belief.id)
    const derived = `The name was derived from the statement. To add an alias: credence alias ${id} add "the words"`
    const [home = universalScope] = homeScopes
    const everywhere =
      isEverywhere && home !== universalScope
        ? [`It is about you, so every project has it. To keep it in this one: --scope ${harmless(home)}`]
        : []
    const isDerived = name === undefined && remembered.outcome === 'remembered'
    const refused = remembered.refusedAliases.map(refusalText)
    const notes = [
      ...secretWarning(remembered.belief),
      ...warned,
      ...refused,
      ...(isDerived ? [derived] : []),
      ...(await otherValueNotes(remembered, options, session)),
      ...everywhere,
      ...former,
      ...pausedNotes(dir, session),
    ]
    return { document: remembered, text: (style) => rememberedText(remembered, style), notes }
  },
})

export const correct = defineCommand({
  args: { belief, statement: words('What is true now.') },
  options: {
    name: nameOption('A new name; the old one stays as an alias.'),
    alias: aliasOption,
    why: text('<text>', 'What an agent should do about it now.'),
    type: choice('<type>', beliefTypes, 'The new type of the belief.'),
    status: statusOption,
    ...changeOptions,
  },
  examples: {
    'credence correct "payment terms" "Invoices are due after 30 days."':
      'Keeps the old statement in the history; it is never recalled again.',
    'credence correct b-7k2m "Ada runs payroll." --name Ada --as agent:codex':
      'An agent that contradicts a person makes a proposal.',
  },
  async run({ args, options }, session) {
    const { name, alias, why, type, status, key } = options
    const memory = await session.memories.writing(options)
    const corrected = await memory.correct(args.belief, {
      content: args.statement,
      ...omitUndefined({ name, why, type, status, key }),
      ...(alias.length === 0 ? {} : { aliases: alias }),
    })
    return {
      document: corrected,
      text: (style) => rememberedText(corrected, style),
      notes: corrected.outcome === 'unchanged' ? [] : secretWarning(corrected.belief),
    }
  },
})

/** Asks at a terminal whether a new statement replaces the beliefs that give another value of the same thing. */
async function confirmReplacement({ otherValues }: Remembered, session: Session): Promise<boolean> {
  if (otherValues.length === 0 || !session.terminal.isInteractive() || session.terminal.printsJson()) return false
  const which = otherValues.length === 1 ? 'it' : 'them'
  return session.terminal.confirm(`${otherValues.map(otherValueText).join('\n')}\nReplace ${which}?`)
}

const otherValueText = (other: Belief): string =>
  `Stated ${localDay(other.provenance.at)}: ${short(other.content)} ${called(other)}`

/** The beliefs that give another value of the same thing, and the command that replaces them. */
async function otherValueNotes(
  { otherValues, belief: kept }: Remembered,
  {
    dir,
    store,
    user,
    name,
    as,
  }: Partial<Record<'dir' | 'store' | 'user' | 'name', string | undefined>> & {
    readonly as: Author | undefined
  },
  session: Session,
): Promise<readonly string[]> {
  if (otherValues.length === 0) return []
  const { shellLine } = await import('../../connect/launch.ts')
  const given = omitUndefined({ name, user, store, dir, as: as && `${as.actor}:${as.origin}` })
  const flags = [
    ...kept.scopes.flatMap((scope) => ['--scope', scope]),
    ...Object.entries(given).flatMap(([option, value]) => [`--${option}`, value]),
  ]
  const launch = { command: 'credence', args: ['remember', '--replace', ...flags, '--'] }
  const command = harmless(shellLine(launch, [kept.content], session.program.machine.platform))
  const which = otherValues.length === 1 ? 'Another belief gives' : 'Other beliefs give'
  return [
    `${which} another value of the same thing; both are recalled, the newest first.`,
    ...otherValues.map((other) => `  ${otherValueText(other)}`),
    `  To replace ${otherValues.length === 1 ? 'it' : 'them'}: ${command}`,
  ]
}

/** A person may store a secret of theirs, but should know that it is one to everybody who reads the memory. */
function secretWarning({ id, name, content, why, aliases }: Belief): readonly string[] {
  const secret = secretTold({ name, content, why, aliases })
  if (secret === null) return []
  return [
    `warning: The statement seems to contain ${secret}, and every agent that reads this memory can see it. To remove it: credence forget ${harmless(id)}`,
  ]
}

/** Warns of aliases that many messages would hold by chance, and asks in a terminal. */
export async function confirmAliases(
  aliases: readonly string[],
  author: Author | undefined,
  session: Pick<Session, 'terminal'>,
): Promise<readonly string[]> {
  if (author !== undefined && author.actor !== 'person') return []
  const warnings: string[] = []
  for (const alias of aliases) {
    const reason = everydayReason(alias)
    if (reason === null) continue
    const warning = `"${alias}" would be found in many messages. ${reason}`
    if (session.terminal.isInteractive() && !(await session.terminal.confirm(`${warning} Use it all the same?`)))
      throw new UsageError('Nothing was changed.', `Leave out the alias "${alias}", or choose a more distinctive one.`)
    warnings.push(`warning: ${warning}`)
  }
  return warnings
}

export function rememberedText(
  { outcome, belief: kept, replaced }: Pick<Remembered | Corrected, 'outcome' | 'belief' | 'replaced'>,
  style: Style,
): string {
  const what = `${called(kept)} in ${style.cyan(harmless(kept.scopes.join(' and ')))}`
  const others = (label: string) => replaced.map((old) => `  ${label}: ${short(old.content)} (${harmless(old.id)})`)
  const forms = `  ${foundBy(kept)}`
  switch (outcome) {
    case 'remembered':
      return lines(`${style.green('Remembered')} ${what}.`, forms)
    case 'reinforced':
      return lines(
        `${style.green('Reinforced')} ${what}: the statement was already stored, and is counted again.`,
        forms,
      )
    case 'unchanged':
      return `Unchanged: ${what} says this already.`
    case 'corrected':
      return lines(`${style.green('Corrected')} ${what}.`, `  Now: ${short(kept.content)}`, others('Before'), forms)
    case 'proposed':
      return lines(
        kept.candidate
          ? `${style.yellow('Proposed')} ${what}: it is not recalled until a person accepts it.`
          : `${style.yellow('Proposed')} ${what}: another author wrote the belief that it would replace, so a person has to decide.`,
        `  Proposed: ${short(kept.content)}`,
        others('Now'),
        `  A person decides with: ${style.command} review accept ${harmless(kept.id)}`,
      )
  }
}

function readExpertise(given: string) {
  const cut = given.lastIndexOf(':')
  const domain = given.slice(0, cut).trim()
  const depth = expertiseDepths.find((known) => known === given.slice(cut + 1).trim())
  if (cut > 0 && domain !== '' && depth !== undefined) return { domain, depth }
  throw new UsageError(
    `"${given}" is not an expertise.`,
    `Write domain:depth, such as "rust:deep"; depths are ${expertiseDepths.join(', ')}.`,
  )
}
