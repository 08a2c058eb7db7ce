import type { ActorKind, BeliefType, Status, Subtype } from '../../../src/beliefs/belief.ts'
import type { EventKind } from '../../../src/beliefs/journal.ts'

export const typeWords: Readonly<Record<BeliefType, string>> = {
  preference: 'Preference',
  decision: 'Decision',
  entity: 'Entity',
  relation: 'Relation',
  open_question: 'Open question',
}

export const subtypeWords: Readonly<Record<Subtype, string>> = {
  expertise: 'Expertise',
  style: 'Style',
  instruction: 'Standing instruction',
}

export const statusWords: Readonly<Record<Status, string>> = {
  active: 'Active',
  inferred: 'Inferred',
  exploratory: 'Exploratory',
  superseded: 'Superseded',
}

const actorWords: Readonly<Record<Exclude<ActorKind, 'person'>, string>> = {
  document: 'The document',
  agent: 'The agent',
  tool: 'The tool',
  model: 'A model through',
}

/** The author of a change, as the beginning of a sentence. A person is "You". */
export const whoWords = ({ actor, origin }: { readonly actor: ActorKind; readonly origin: string }): string =>
  actor === 'person' ? 'You' : origin === 'file' ? 'An edit of MEMORY.md' : `${actorWords[actor]} ${origin}`

const placeWords: Readonly<Record<string, string>> = {
  cli: 'on the command line',
  dashboard: 'in the dashboard',
  file: 'in MEMORY.md',
}

/** The program through which a change was made, if the author's name does not include it. */
export const throughWords = ({ actor, origin }: { readonly actor: ActorKind; readonly origin: string }): string =>
  actor === 'person' ? ` ${placeWords[origin] ?? `through ${origin}`}` : ''

/** The kind of an event as the verb between its author and its beliefs. */
export const eventWords: Readonly<Record<EventKind, string>> = {
  remember: 'stored',
  learn: 'stored',
  reinforce: 'repeated',
  correct: 'corrected',
  edit: 'edited',
  pin: 'pinned',
  unpin: 'unpinned',
  alias: 'changed the aliases of',
  resolve: 'settled',
  propose: 'proposed',
  accept: 'accepted',
  reject: 'rejected',
  confirm: 'confirmed',
  retire: 'retired',
  hear: 'stored',
  forget: 'forgot',
  import: 'imported',
  review: 'listed for review',
  undo: 'undid',
}
