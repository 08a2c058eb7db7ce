import type { Extractor } from '../../memory/learn/candidate.ts'
import { text } from '../command.ts'
import { extractorForms } from '../open-extractor.ts'
import type { Session } from '../session.ts'

export const defaultExtractor = 'rules'

export const extractorOption = {
  ...text('<what>', `What listens in a pack of messages: ${extractorForms}; none and everything are the controls.`),
  default: defaultExtractor,
}

/** What listens to the messages of a pack. */
export async function listener(spec: string, session: Session): Promise<Extractor> {
  const controls = await import('../../eval/kinds/learning/control-extractors.ts')
  if (spec === 'none') return controls.deafExtractor
  if (spec === 'everything') return controls.greedyExtractor
  return session.extractor(spec)
}
