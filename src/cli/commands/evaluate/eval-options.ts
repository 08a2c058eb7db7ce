import { resolve } from 'node:path'
import { type BackendName, backendForms, isBackendName } from '../../../eval/system/backends.ts'
import { defaultEmbedder } from '../../../eval/system/open-embedder.ts'
import { UsageError } from '../../command/command.ts'
import { choice, flag, option, text } from '../../command/options.ts'
import type { Evaluation } from '../../evaluation.ts'
import type { Session } from '../../session.ts'

/** Reports go here unless told otherwise. */
const defaultOut = 'test-results'

const backendHelp = (what: string): string =>
  `${what} One of ${backendForms}. bm25 is Credence itself; none, everything, exact and oracle are controls.`

export const backendOption = { ...option('<name>', backendHelp('The backend.'), readBackend), default: 'bm25' }

export const backendsOption = {
  ...option('<name>', backendHelp('Only this backend, and the controls. May be given several times.'), readBackend),
  isRepeatable: true,
  read: (given: readonly string[]): readonly BackendName[] => given.map(readBackend),
  default: 'all of them',
}

function readBackend(given: string): BackendName {
  if (isBackendName(given)) return given
  throw new UsageError(`"${given}" is not one of ${backendForms}.`)
}

export const embedderOption = {
  ...text('<spec>', 'The model of the vector backends: minilm, ollama:<model> or openai:<url>:<model>.'),
  default: defaultEmbedder,
}

export const editedPinsOption = choice(
  '<where>',
  ['in-scope', 'everywhere'] as const,
  'Where pinned beliefs that a person edited are recalled. The results of the published suite were made with everywhere.',
)

export const outOption = { ...text('<directory>', 'The directory for the reports.'), default: defaultOut }

export const explainOptions = {
  case: text('<id>', 'Only this case; a turn is written session#turn.'),
  explain: flag('With --case: explain the result.'),
}

export const outDirectory = (session: Session, given: string | undefined): string =>
  resolve(session.workingDirectory(), given ?? defaultOut)

export const packsOption = { ...text('<directory>', 'Where the packs are.'), default: 'those that ship with Credence' }

/** The directory of `--packs`. */
export const packsDirectoryOf = (
  session: Session,
  { packsDirectory }: Evaluation,
  given: string | undefined,
): string => (given === undefined ? packsDirectory : resolve(session.workingDirectory(), given))
