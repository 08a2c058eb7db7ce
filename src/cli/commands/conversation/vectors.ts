import { defineCommand, wholeNumber } from '../../command.ts'
import { placeOptions } from '../../common-options.ts'
import { counted } from '../../text-layout.ts'
import { UsageError } from '../../usage-error.ts'

export const vectors = defineCommand({
  args: {},
  options: {
    limit: wholeNumber('How many turns at most. Default all that are new.', { min: 1 }),
    ...placeOptions,
  },
  description:
    'Works out vectors for the sentences of turns that have none yet, the newest first. With the setting sentenceVectors, `credence search` then orders what it finds by meaning too. Can be interrupted and run again at any time.',
  examples: [
    { command: 'credence vectors', effect: 'Works out everything that is new.' },
    { command: 'credence vectors --limit 1000', effect: 'Works out the newest 1000 turns.' },
  ],
  async run({ options }, session) {
    if (!session.settings(options).sentenceVectors) {
      throw new UsageError(
        'Searches by meaning are switched off.',
        'Set sentenceVectors to true in config.json, or CREDENCE_SENTENCE_VECTORS=true.',
      )
    }
    const memory = await session.memory(options)
    const { signal, release } = session.interruption()
    try {
      const { embedded } = await memory.embedTurns({
        signal,
        ...(options.limit === undefined ? {} : { limit: options.limit }),
      })
      return {
        document: { embedded },
        text: () => (embedded === 0 ? 'Nothing is new.' : `Worked out what ${counted(embedded, 'turn')} mean.`),
      }
    } finally {
      release()
    }
  },
})
