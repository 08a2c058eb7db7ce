import { actorKinds } from '../beliefs/belief.ts'
import { parseScopes } from '../beliefs/scope.ts'
import type { Author } from '../memory/change/transaction.ts'
import { parseTime } from '../memory/recall/parse-time.ts'
import { type Option, option, text } from './command.ts'
import { UsageError } from './usage-error.ts'

/** Which memory. */
export const placeOptions = {
  dir: {
    ...text('<directory>', 'The memory directory.'),
    default: "CREDENCE_DIR, else ./memory where there is one, else credence in the user's data directory",
  },
  user: { ...text('<name>', 'Whose memory.'), default: 'CREDENCE_USER, else the setting `user`, else local' },
}

const scopes = (help: string, otherwise: string): Option<readonly string[]> => ({
  help,
  value: '<scope>',
  isRepeatable: true,
  default: otherwise,
  read: (texts) => (texts.length === 0 ? [] : parseScopes(texts)),
})

/** What is in view. */
export const viewOptions = {
  scope: scopes(
    'An active scope, such as domain:code; scopes above it are in view too. May be given several times.',
    'the project of the working directory, and user:universal',
  ),
}

/** Which beliefs, among all of them. */
export const filterOptions = {
  scope: scopes('Only beliefs of this scope. May be given several times.', 'every scope'),
}

/** When something was said. */
export const timeOptions = {
  since: option('<date>', 'Only what was said on this day or later.', (given) => timeIn('since', given)),
  until: option('<date>', 'Only what was said up to this day.', (given) => timeIn('until', given)),
}

const timeIn = (what: 'since' | 'until', given: string): string => new Date(parseTime(what, given)).toISOString()

/** Which belief, when several have the name. */
export const referenceOptions = {
  scope: scopes(
    'Where to look first when several beliefs have the name. May be given several times.',
    'the project of the working directory, and user:universal',
  ),
}

/** Where something new goes. */
export const targetOptions = {
  scope: scopes(
    'The scope it belongs to, such as domain:code. May be given several times.',
    'the project of the working directory; outside of a repository user:universal',
  ),
}

/** Who is writing. */
export const authorOptions = {
  as: {
    ...option('<who>', 'Who is writing: person, agent:NAME, tool:NAME or import:NAME.', readAuthor),
    default: 'person',
  },
}

/** Who is asking. */
export const readerOptions = {
  agent: text('<name>', 'The agent that asks: beliefs that belong to it are in view too.'),
}

export const keyOptions = {
  key: text('<text>', 'Makes a retry harmless: the same request with the same key has one effect.'),
}

export const defaultAuthor: Author = { actor: 'person', origin: 'cli' }

export function readAuthor(who: string): Author {
  if (who === 'person') return defaultAuthor
  const [, kind, origin] = who.match(/^([a-z]+):(\S.*)$/) ?? []
  const actor = actorKinds.find((known) => known === kind && known !== 'person')
  if (actor !== undefined && origin !== undefined) return { actor, origin }
  throw new UsageError(`Unknown author "${who}".`, 'Use person, agent:NAME, tool:NAME or import:NAME.')
}
