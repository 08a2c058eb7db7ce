import { MemoryError } from '../errors.ts'
import type { Extractor } from '../memory/learn/extraction.ts'
import type { Environment } from './output.ts'

/** How `--extractor` is written. */
export const extractorForms = 'rules, openai:<model>[@<url>] or anthropic:<model>[@<url>]'

/** What finds statements in messages: the rules, or a model. */
export async function openExtractor(spec: string, env: Environment): Promise<Extractor> {
  if (spec === 'rules') return (await import('../memory/learn/rules.ts')).rulesExtractor
  if (!/^(?:openai|anthropic):/u.test(spec)) {
    throw new MemoryError('invalid', `Unknown extractor "${spec}".`, { hint: `Use ${extractorForms}.` })
  }
  const { openChatModel } = await import('../models/open-chat-model.ts')
  const { modelExtractor } = await import('../memory/learn/model-extractor.ts')
  return modelExtractor(openChatModel(spec, env))
}
