import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import { memoryOptions, wholeNumber } from '../../command/options.ts'
import { pluralize } from '../../text/output.ts'

export const vectors = defineCommand({
  args: {},
  options: {
    limit: wholeNumber('Maximum number of turns and beliefs. Default: all that have no vectors.', { min: 1 }),
    ...memoryOptions,
  },
  description:
    'Processes turns and beliefs without vectors, the newest first, after an import for example. Servers do so in the background. Can be interrupted and run again at any time.',
  examples: {
    'credence vectors': 'Computes vectors for all turns and beliefs that have none.',
    'credence vectors --limit 1000': 'Computes vectors for the newest 1000 of them.',
  },
  async run({ options }, session) {
    if (session.places.settings(options).semantic === 'off')
      throw new UsageError(
        'The setting semantic is off.',
        'Remove it from config.json in the memory directory and from the environment (CREDENCE_SEMANTIC).',
      )
    const memory = await session.memories.writing(options)
    const { signal } = session.program.interruption()
    const { waiting } = await memory.meaningStatus()
    const total = Math.min(waiting, options.limit ?? waiting)
    const { embedded } = await session.terminal.withProgress((bar) =>
      memory.embedTexts({
        signal,
        ...omitUndefined({ limit: options.limit }),
        onProgress: (done) => bar.show('turns and beliefs', done, Math.max(done, total)),
      }),
    )
    return {
      document: { embedded },
      text: () =>
        embedded === 0 ? 'All turns and beliefs have vectors.' : `Computed vectors for ${pluralize(embedded, 'text')}.`,
    }
  },
})
