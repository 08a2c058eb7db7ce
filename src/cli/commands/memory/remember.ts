import { beliefTypes, expertiseDepths, subtypes } from '../../../beliefs/belief.ts'
import { parseForm } from '../../../memory/change/draft.ts'
import type { Remembered } from '../../../memory/change/remember.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { choice, defineCommand, flag, option, text, texts, words } from '../../command.ts'
import { authorOptions, keyOptions, placeOptions, targetOptions } from '../../common-options.ts'
import { called, foundBy, short } from '../../describe-belief.ts'
import { harmless, type Style } from '../../output.ts'
import { UsageError } from '../../usage-error.ts'
import { pausedNotes } from '../conversation/pause.ts'

export const remember = defineCommand({
  args: { statement: words('What is true, in your words.') },
  options: {
    name: option('<name>', 'What people will call it; it is recalled when a message says so. Needed.', (name) =>
      parseForm('name', name),
    ),
    alias: texts('<alias>', 'Something else it is called. May be given several times.'),
    why: text('<text>', 'What an agent should do about it.'),
    type: { ...choice('<type>', beliefTypes, 'What kind of belief it is.'), default: 'entity' },
    subtype: choice('<subtype>', subtypes, 'The finer kind of a preference.'),
    status: { ...choice('<status>', ['active', 'inferred', 'exploratory'], 'How settled it is.'), default: 'active' },
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
    ...placeOptions,
    ...authorOptions,
    ...keyOptions,
  },
  examples: [
    {
      command: 'credence remember "Invoices are due after 14 days." --name "payment terms" --alias "due date"',
      effect: 'Recalled whenever a message speaks of payment terms or a due date.',
    },
    {
      command:
        'echo "Answer in short sentences." | credence remember - --name "answer style" --type preference --subtype style --scope user:universal',
      effect: 'Part of what is known about the person, in every project.',
    },
  ],
  async run({ args: { statement }, options }, session) {
    const { name, alias, pin, participant, scope: _scope, dir: _dir, user: _user, as: _as, ...draft } = options
    if (name === undefined) {
      throw new UsageError(
        'A belief needs the name people will call it by: --name.',
        'For example: credence remember "Invoices are due after 14 days." --name "payment terms"',
      )
    }
    const { dir, homeScopes } = session.place(options)
    const memory = await session.memory(options)
    const remembered = await memory.remember({
      ...omitUndefined(draft),
      name,
      content: statement,
      aliases: alias,
      pinned: pin,
      participants: participant,
      scopes: homeScopes,
    })
    return {
      document: remembered,
      text: (style) => rememberedText(remembered, style),
      notes: pausedNotes(dir, session),
    }
  },
})

/** What became of a statement. */
export function rememberedText(
  { outcome, belief, replaced }: Pick<Remembered, 'outcome' | 'belief' | 'replaced'>,
  style: Style,
): string {
  const what = called(belief)
  const where = `in ${style.cyan(harmless(belief.scopes.join(' and ')))}`
  const before = replaced.map((old) => `  Before: ${short(old.content)} (${harmless(old.id)})`)
  switch (outcome) {
    case 'remembered':
      return [`${style.green('Remembered')} ${what} ${where}.`, `  ${foundBy(belief)}`].join('\n')
    case 'reinforced':
      return [
        `${style.green('Reinforced')} ${what} ${where}: it was known, and has now been said again.`,
        `  ${foundBy(belief)}`,
      ].join('\n')
    case 'corrected':
      return [
        `${style.green('Corrected')} ${what} ${where}.`,
        `  Now: ${short(belief.content)}`,
        ...before,
        `  ${foundBy(belief)}`,
      ].join('\n')
    case 'proposed':
      return [
        `${style.yellow('Proposed')} ${what} ${where}: someone with more authority said otherwise, and has to decide.`,
        `  Proposed: ${short(belief.content)}`,
        ...replaced.map((old) => `  In force: ${short(old.content)} (${harmless(old.id)})`),
        `  A person decides with: credence proposals accept ${harmless(belief.id)}`,
      ].join('\n')
  }
}

function readConfidence(text: string): number {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (number >= 0 && number <= 1) return number
  throw new UsageError(`"${text}" is not a number from 0 to 1.`)
}

function readExpertise(text: string) {
  const cut = text.lastIndexOf(':')
  const domain = text.slice(0, cut).trim()
  const depth = expertiseDepths.find((known) => known === text.slice(cut + 1).trim())
  if (cut > 0 && domain !== '' && depth !== undefined) return { domain, depth }
  throw new UsageError(
    `"${text}" is no expertise.`,
    `Write domain:depth, such as "rust:deep"; depths are ${expertiseDepths.join(', ')}.`,
  )
}
