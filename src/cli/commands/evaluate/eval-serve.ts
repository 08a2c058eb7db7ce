import { randomUUID } from 'node:crypto'
import { listenOnLoopback } from '../../../http/listen.ts'
import { recallApp } from '../../../http/recall-app.ts'
import { defaultEmbedder } from '../../../memory/meaning/open-embedder.ts'
import { defineCommand } from '../../command/command.ts'
import { wholeNumber } from '../../command/options.ts'

/** The default port of published harnesses. */
const defaultPort = 8080

export const evalServe = defineCommand({
  args: {},
  options: { port: wholeNumber('The port; 0 for any free port.', { min: 0, max: 65_535, default: defaultPort }) },
  description:
    'Serves the HTTP contract of docs/systems.md on this machine only, until interrupted. Its data is in process memory and is gone at the end; your own memory is neither read nor changed.',
  examples: {
    'credence eval serve': `Serves on http://127.0.0.1:${defaultPort}.`,
  },
  async run({ options: { port = defaultPort } }, session) {
    const { systems, packsDirectory } = await session.evaluation()
    const system = systems({ packsDirectory, embedder: defaultEmbedder }).ours()
    const app = recallApp({
      system,
      now: () => new Date(),
      newId: () => `b-${randomUUID()}`,
      // The client learns only that there was an internal error.
      onBug: (error) => console.error(error),
    })
    const listening = await listenOnLoopback(app.fetch, port)
    // The process runs until it is interrupted.
    session.program.onInterrupt(async () => {
      await listening.close()
      await system.close()
    })
    return {
      document: { url: listening.url, port: listening.port },
      text: () => `Serving on ${listening.url} until interrupted; its data is then deleted.`,
    }
  },
})
