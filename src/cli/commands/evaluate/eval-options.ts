import { resolve } from 'node:path'
import { defaultEmbedder } from '../../../eval/system/open-embedder.ts'
import { text } from '../../command/options.ts'
import type { Evaluation } from '../../evaluation.ts'
import type { Session } from '../../session.ts'

export const embedderOption = {
  ...text('<spec>', 'The model of the vector backends: minilm, ollama:<model> or openai:<url>:<model>.'),
  default: defaultEmbedder,
}

export const packsOption = { ...text('<directory>', 'Where the packs are.'), default: 'those that ship with Credence' }

/** The directory of `--packs`. */
export const packsDirectoryOf = (
  session: Session,
  { packsDirectory }: Evaluation,
  given: string | undefined,
): string => (given === undefined ? packsDirectory : resolve(session.workingDirectory(), given))
