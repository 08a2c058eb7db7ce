import { beliefTypes, statuses, subtypes } from '../beliefs/belief.ts'
import { turnRoles } from '../beliefs/turn.ts'
import { limits } from '../memory/change/draft.ts'
import {
  choice,
  flag,
  list,
  maxItems,
  nullable,
  oneScope,
  optional,
  scopes,
  share,
  text,
  time,
  whole,
} from './field.ts'

// Fields that several operations and their commands share.

const statedStatuses = ['active', 'inferred', 'exploratory'] as const

/** The fields of a statement. */
export const draft = {
  name: optional(
    text(limits.name),
    'Its name. A message that contains the name recalls the belief. Default: derived from the statement.',
  ),
  content: text(limits.content),
  scopes: optional(scopes('Default: the scopes that the server was started for; see `homeScopes` of health.')),
  type: optional(choice(beliefTypes), 'The type of the belief. Default: entity.'),
  subtype: optional(nullable(choice(subtypes)), 'The subtype of a preference.'),
  aliases: optional(list(text(limits.alias), { max: limits.aliases }), 'Other names for it.'),
  why: optional(text(limits.why), 'What an agent should do about it.'),
  status: optional(choice(statedStatuses), 'The status of the belief. Default: active.'),
  confidence: optional(share('How certain it is, from 0 to 1. Default: 1.')),
  pinned: optional(flag('Recall it for every message in its scope.')),
  participants: optional(
    list(text(limits.label), { max: limits.participants }),
    'For a relation: the beliefs it connects, by id or name.',
  ),
  relation: optional(nullable(text(limits.label)), 'For a relation: how they are connected, such as "depends on".'),
}

/** The fields of a correction. */
export const correction = {
  content: draft.content,
  why: draft.why,
  aliases: draft.aliases,
  type: optional(choice(beliefTypes), 'The new type of the belief. Default: the same type.'),
  status: draft.status,
  confidence: draft.confidence,
  name: optional(text(limits.name), 'A new name; the old one stays as an alias.'),
}

/** A selection of beliefs. */
export const beliefFilter = {
  type: optional(list(choice(beliefTypes)), 'Only beliefs of this type.'),
  status: optional(list(choice(statuses)), 'Only beliefs of this status.'),
  pinned: optional(flag('Only pinned beliefs.')),
}

/** One turn of a conversation. */
export const heardTurn = {
  text: text(undefined, 'Word for word. Secrets are masked before it is kept.'),
  role: optional(choice(turnRoles), 'Who said it. Default: user.'),
  speaker: optional(text(200), "The speaker's name, in a conversation of several people."),
  at: time('When it was said. Default now. Shown in its UTC offset, if it has one.'),
  session: optional(text(200), 'The conversation it belongs to. Default: one for each host and day.'),
  index: optional(whole({ min: 0 }), 'Its place in the conversation, from 0. Default by its time.'),
  messageId: optional(text(200), 'The id of the message. A message with a known id is stored once.'),
  scope: optional(oneScope('Default: the scopes that the server was started for; see `homeScopes` of health.')),
  host: optional(text(200), 'The program it came through. Default http.'),
  origin: optional(choice(['document']), 'document: the words are not those of the speaker.'),
}

/** A selection of turns by their speaker, time and conversation. */
export const said = {
  speaker: optional(text(200), 'Only turns of this speaker.'),
  session: optional(text(200), 'Only turns of this conversation.'),
  since: time('Said at this time or later. A day without a time means its beginning, in the time zone of the server.'),
  until: time('Said at this time or earlier. A day without a time means its end, in the time zone of the server.'),
}

const count = optional(whole({ min: 0, max: maxItems }))

/** The size of a recalled context. */
export const budget = {
  maxBeliefs: count,
  maxPinned: count,
  maxFromAgents: count,
  maxQuestions: count,
  maxCharacters: optional(whole({ min: 0, max: 1_000_000 })),
  maxPrelude: optional(whole({ min: 0, max: 100_000 })),
  maxQuotes: optional(whole({ min: 0, max: 3 })),
}
