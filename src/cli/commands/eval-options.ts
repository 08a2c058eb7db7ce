import { resolve } from 'node:path'
import { backendNames, comparedBackends, controlBackends } from '../../eval/backends.ts'
import { defaultEmbedder } from '../../eval/systems/embedders/open-embedder.ts'
import { choice, flag, text } from '../command.ts'
import type { Session } from '../session.ts'

/** Reports go here unless told otherwise. */
const defaultOut = 'test-results'

export const backendHelp = `${comparedBackends.join(', ')}, or a control: ${controlBackends.join(', ')}.`

export const backendOption = { ...choice('<name>', backendNames, 'What answers.'), default: 'bm25' }

export const embedderOption = {
  ...text('<spec>', 'The model of the vector backends: minilm, ollama:<model> or openai:<url>:<model>.'),
  default: defaultEmbedder,
}

export const editedPinsOption = choice(
  '<where>',
  ['in-scope', 'everywhere'] as const,
  'Where pinned beliefs that a person edited are shown; published results need everywhere.',
)

export const outOption = { ...text('<directory>', 'Where the reports go.'), default: defaultOut }

export const explainOptions = {
  case: text('<id>', 'Only this case; a turn is written session#turn.'),
  explain: flag('With --case: show the whole decision.'),
}

export const outDirectory = (session: Session, given: string | undefined): string =>
  resolve(session.workingDirectory(), given ?? defaultOut)
