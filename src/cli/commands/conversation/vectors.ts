import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import { memoryOptions, wholeNumber } from '../../command/options.ts'
import { counted } from '../../text/output.ts'

export const vectors = defineCommand({
  args: {},
  options: { limit: wholeNumber('Maximum number of turns. Default: all new turns.', { min: 1 }), ...memoryOptions },
  description:
    'Processes turns without vectors, the newest first. With the setting sentenceVectors, `credence search` then also ranks hits by meaning. Can be interrupted and run again at any time.',
  examples: {
    'credence vectors': 'Computes vectors for all new turns.',
    'credence vectors --limit 1000': 'Computes vectors for the newest 1000 turns.',
  },
  async run({ options }, session) {
    if (!session.places.settings(options).sentenceVectors)
      throw new UsageError(
        'The setting sentenceVectors is off.',
        'Put {"sentenceVectors": true} into config.json in the memory directory, or set CREDENCE_SENTENCE_VECTORS=true.',
      )
    const memory = await session.memories.writing(options)
    const { signal } = session.program.interruption()
    const { embedded } = await memory.embedTurns({ signal, ...omitUndefined({ limit: options.limit }) })
    return {
      document: { embedded },
      text: () => (embedded === 0 ? 'There are no new turns.' : `Computed vectors for ${counted(embedded, 'turn')}.`),
    }
  },
})
