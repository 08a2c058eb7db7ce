import { beliefTypes, expertiseDepths, subtypes } from '../../../beliefs/belief.ts'
import { parseForm } from '../../../memory/change/draft.ts'
import type { Remembered } from '../../../memory/change/remember.ts'
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
  targetOptions,
  text,
  texts,
  words,
} from '../../command/options.ts'
import { called, foundBy, short } from '../../text/beliefs.ts'
import { harmless, lines, type Style } from '../../text/output.ts'
import { pausedNotes } from '../conversation/pause.ts'

const nameOption = (help: string) => option('<name>', help, (name) => parseForm('name', name))
const aliasOption = texts('<alias>', 'Something else it is called. May be given several times.')
const statusOption = {
  ...choice('<status>', ['active', 'inferred', 'exploratory'], 'How settled it is.'),
  default: 'active',
}

export const remember = defineCommand({
  args: { statement: words('What is true, in your words.') },
  options: {
    name: {
      ...nameOption('What people will call it; it is recalled when a message says so.'),
      default: 'derived from the statement',
    },
    alias: aliasOption,
    why: text('<text>', 'What an agent should do about it.'),
    type: { ...choice('<type>', beliefTypes, 'What kind of belief it is.'), default: 'entity' },
    subtype: choice('<subtype>', subtypes, 'The finer kind of a preference.'),
    status: statusOption,
    confidence: { ...option('<number>', 'How certain it is, from 0 to 1.', readConfidence), default: '1' },
    pin: flag('Recall it in its scope whatever the message says.'),
    participant: texts('<belief>', 'For a relation: a belief it connects, by id or name. May be given several times.'),
    relation: text('<text>', 'For a relation: how they are connected, such as "depends on".'),
    expertise: option(
      '<domain:depth>',
      `What the person knows, and how well: ${expertiseDepths.join(', ')}.`,
      readExpertise,
    ),
    agent: text('<name>', 'Let only this agent see it.'),
    ...targetOptions,
    ...memoryOptions,
    ...authorOptions,
    ...keyOptions,
  },
  examples: {
    'credence remember "The staging database listens on port 5433."': 'Named "staging database", after its own words.',
    'credence remember "Invoices are due after 14 days." --name "payment terms" --alias "due date"':
      'Recalled whenever a message speaks of payment terms or a due date.',
    'echo "Answer in short sentences." | credence remember - --name "answer style" --type preference --subtype style --scope user:universal':
      'A preference of the person, in every project.',
  },
  async run({ args: { statement }, options }, session) {
    const { name, alias, pin, participant, scope: _scope, dir: _dir, user: _user, as: _as, ...draft } = options
    const { dir, homeScopes } = session.locate(options)
    const memory = await session.memory(options)
    const former = await session.formerProjectNotes(options, memory)
    const remembered = await memory.remember({
      ...omitUndefined({ ...draft, name }),
      content: statement,
      aliases: alias,
      pinned: pin,
      participants: participant,
      scopes: homeScopes,
    })
    const id = harmless(remembered.belief.id)
    const derived = `The name was derived from the statement. To add words: credence alias ${id} add "the words"`
    const isDerived = name === undefined && remembered.outcome === 'remembered'
    const notes = [...(isDerived ? [derived] : []), ...former, ...pausedNotes(dir, session)]
    return { document: remembered, text: (style) => rememberedText(remembered, style), notes }
  },
})

export const correct = defineCommand({
  args: { belief, statement: words('What is true now.') },
  options: {
    name: nameOption('A new name; the old one stays as an alias.'),
    alias: aliasOption,
    why: text('<text>', 'What an agent should do about it now.'),
    type: choice('<type>', beliefTypes, 'What kind of belief it is now.'),
    status: statusOption,
    ...changeOptions,
  },
  examples: {
    'credence correct "payment terms" "Invoices are due after 30 days."':
      'The old statement is kept for the record and never recalled again.',
    'credence correct b-7k2m "Ada runs payroll." --name Ada --as agent:codex':
      'An agent that contradicts a person makes a proposal.',
  },
  async run({ args, options }, session) {
    const { name, alias, why, type, status, key } = options
    const memory = await session.memory(options)
    const corrected = await memory.correct(args.belief, {
      content: args.statement,
      ...omitUndefined({ name, why, type, status, key }),
      ...(alias.length === 0 ? {} : { aliases: alias }),
    })
    return { document: corrected, text: (style) => rememberedText(corrected, style) }
  },
})

/** What happened to a statement. */
export function rememberedText(
  { outcome, belief: kept, replaced }: Pick<Remembered, 'outcome' | 'belief' | 'replaced'>,
  style: Style,
): string {
  const what = `${called(kept)} in ${style.cyan(harmless(kept.scopes.join(' and ')))}`
  const others = (label: string) => replaced.map((old) => `  ${label}: ${short(old.content)} (${harmless(old.id)})`)
  const forms = `  ${foundBy(kept)}`
  switch (outcome) {
    case 'remembered':
      return lines(`${style.green('Remembered')} ${what}.`, forms)
    case 'reinforced':
      return lines(`${style.green('Reinforced')} ${what}: it was known, and has now been said again.`, forms)
    case 'corrected':
      return lines(`${style.green('Corrected')} ${what}.`, `  Now: ${short(kept.content)}`, others('Before'), forms)
    case 'proposed':
      return lines(
        `${style.yellow('Proposed')} ${what}: someone with more authority said otherwise, and has to decide.`,
        `  Proposed: ${short(kept.content)}`,
        others('In force'),
        `  A person decides with: credence proposals accept ${harmless(kept.id)}`,
      )
  }
}

function readConfidence(given: string): number {
  const number = given.trim() === '' ? Number.NaN : Number(given)
  if (number >= 0 && number <= 1) return number
  throw new UsageError(`"${given}" is not a number from 0 to 1.`)
}

function readExpertise(given: string) {
  const cut = given.lastIndexOf(':')
  const domain = given.slice(0, cut).trim()
  const depth = expertiseDepths.find((known) => known === given.slice(cut + 1).trim())
  if (cut > 0 && domain !== '' && depth !== undefined) return { domain, depth }
  throw new UsageError(
    `"${given}" is no expertise.`,
    `Write domain:depth, such as "rust:deep"; depths are ${expertiseDepths.join(', ')}.`,
  )
}
