import { type Belief, expertiseDepths } from '../../../beliefs/belief.ts'
import { universalScope } from '../../../beliefs/scope.ts'
import { localDay } from '../../../local-time.ts'
import type { CorrectResult } from '../../../memory/change/correct.ts'
import { parseForm } from '../../../memory/change/draft.ts'
import type { RememberResult } from '../../../memory/change/remember.ts'
import { isPersonal } from '../../../memory/learn/rules.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { correctionHints, type RememberHint, rememberHints } from '../../../operations/remember-hints.ts'
import { correction, draft } from '../../../operations/shared-fields.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import {
  authorOptions,
  belief,
  changeOptions,
  fieldOption,
  fieldOptions,
  flag,
  keyOptions,
  memoryOptions,
  option,
  stated,
  targetOptions,
  text,
  words,
} from '../../command/options.ts'
import { addVectors } from '../../new-vectors.ts'
import type { Session } from '../../session.ts'
import { formsText, nameText, shortenText } from '../../text/beliefs.ts'
import { lines, type Style } from '../../text/output.ts'
import { pausedNotes } from '../conversation/pause.ts'

const nameOption = (help = '') => option('<name>', help, (name) => parseForm('name', name))
const aliasOption = fieldOption(draft.aliases, '<alias>')

export const remember = defineCommand({
  args: { statement: stated(words('The statement, in your words.')) },
  options: {
    name: nameOption(draft.name.help),
    alias: aliasOption,
    ...fieldOptions(draft, 'why', 'type', 'subtype', 'status', 'confidence', 'relation'),
    pin: fieldOption(draft.pinned),
    participant: fieldOption(draft.participants, '<belief>'),
    replace: flag('Replace beliefs that give another value of the same thing, without asking.'),
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
    'A statement in the same words is only counted again. With --name, a statement replaces the belief of that name in the same scope. Without --name it is stored as another belief: if one with another value of the same thing exists ("The build server is larch." and "… is birch."), you are asked whether to replace it; without a terminal, both are kept, and --replace replaces the other one.',
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
    const { name, alias, pin, participant, scope: _scope, dir: _dir, user: _user, as: _as, ...rest } = options
    const { dir, scopes, homeScopes } = session.places.locate(options)
    const memory = await session.memories.writing(options)
    const former = await session.places.formerProjectNotes(options, memory)
    const isEverywhere = options.scope.length === 0 && scopes.includes(universalScope) && isPersonal(statement)
    const given = {
      ...omitUndefined({ ...rest, name }),
      content: statement,
      aliases: alias,
      pinned: pin,
      participants: participant,
      scopes: isEverywhere ? [universalScope] : homeScopes,
    }
    // With a name, a statement replaces the belief of that name and no other.
    const mayAsk = name === undefined && session.terminal.isInteractive() && !session.terminal.printsJson()
    const replace = options.replace || (mayAsk && ((others: readonly Belief[]) => mayReplace(others, session)))
    const remembered = await memory.remember({ ...given, replace })
    await addVectors(memory)
    const [home = universalScope] = homeScopes
    const notes = [
      ...(await hintNotes(remembered, { name, aliases: alias })),
      isEverywhere &&
        home !== universalScope &&
        `It is about you, so every project has it. To keep it in this one: --scope ${home}`,
      ...former,
      ...pausedNotes(dir, session),
    ]
    return { document: remembered, text: (style) => rememberedText(remembered, style), notes }
  },
})

export const correct = defineCommand({
  args: { belief, statement: stated(words('The current statement.')) },
  options: {
    name: nameOption(correction.name.help),
    alias: aliasOption,
    ...fieldOptions(correction, 'why', 'type', 'status'),
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
    await addVectors(memory)
    return {
      document: corrected,
      text: (style) => rememberedText(corrected, style),
      notes: (await correctionHints(corrected, { aliases: alias })).map((hint) => hintNote(hint, corrected.belief)),
    }
  },
})

/** Asks whether a new statement replaces beliefs that have another value for the same thing. */
const mayReplace = (others: readonly Belief[], session: Session): Promise<boolean> =>
  session.terminal.confirm(`${others.map(otherValueText).join('\n')}\nReplace ${others.length === 1 ? 'it' : 'them'}?`)

const otherValueText = (other: Belief): string =>
  `Stated ${localDay(other.provenance.at)}: ${shortenText(other.content)} ${nameText(other)}`

/** The hints of the operation, with commands to act on them. */
async function hintNotes(
  remembered: RememberResult,
  given: { readonly name: string | undefined; readonly aliases: readonly string[] },
) {
  const { belief, otherValues } = remembered
  const which = otherValues.length === 1 ? 'it' : 'them'
  return [
    ...(await rememberHints(remembered, given)).map((hint) => hintNote(hint, belief)),
    ...otherValues.map((other) => `  ${otherValueText(other)}`),
    otherValues.length > 0 && `  To replace ${which}, give the same command with --replace.`,
  ]
}

function hintNote({ kind, text }: RememberHint, { id }: Belief): string {
  if (kind === 'secret') return `warning: ${text} To remove it: credence forget ${id}`
  if (kind === 'everyday alias') return `warning: ${text}`
  return kind === 'derived name'
    ? `${text} To add an alias: credence alias ${id} add "the words". To recall it for every message: credence pin ${id}`
    : text
}

export function rememberedText(
  { outcome, belief: kept, replaced }: Pick<RememberResult | CorrectResult, 'outcome' | 'belief' | 'replaced'>,
  style: Style,
): string {
  const what = `${nameText(kept)} in ${style.cyan(kept.scopes.join(' and '))}`
  // If there were several values, a belief with the same words was replaced too, but is not worth showing.
  const different = replaced.filter(({ content }) => content !== kept.content)
  const others = (label: string) => different.map((old) => `  ${label}: ${shortenText(old.content)} (${old.id})`)
  const forms = `  ${formsText(kept)}`
  switch (outcome) {
    case 'remembered':
      return lines(`${style.green('Remembered')} ${what}.`, forms)
    case 'reinforced':
      return lines(
        `${style.green('Reinforced')} ${what}: the statement was already stored, and is counted again.`,
        forms,
      )
    case 'unchanged':
      return `Unchanged: ${what} already has this text.`
    case 'corrected':
      return lines(
        `${style.green('Corrected')} ${what}.`,
        `  Now: ${shortenText(kept.content)}`,
        others('Before'),
        forms,
      )
    case 'proposed':
      return lines(
        kept.candidate
          ? `${style.yellow('Proposed')} ${what}: it is not recalled until a person accepts it.`
          : `${style.yellow('Proposed')} ${what}: another author wrote the belief that it would replace, so a person has to decide.`,
        `  Proposed: ${shortenText(kept.content)}`,
        others('Now'),
        `  A person decides with: ${style.command} review accept ${kept.id}`,
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
