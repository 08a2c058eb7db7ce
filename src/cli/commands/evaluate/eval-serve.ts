import { randomUUID } from 'node:crypto'
import { defaultEmbedder } from '../../../eval/system/embedders/open-embedder.ts'
import { listenOnLoopback } from '../../../http/listen.ts'
import { recallApp } from '../../../http/recall-app.ts'
import { defineCommand, wholeNumber } from '../../command.ts'

/** The port that published harnesses ask unless told otherwise. */
const usualPort = 8080

export const evalServe = defineCommand({
  args: {},
  options: { port: wholeNumber('The port; 0 is any that is free.', { min: 0, max: 65_535, default: usualPort }) },
  description:
    'Answers the HTTP contract of docs/systems.md on this machine only, until it is interrupted. What it is told is kept in its own process and gone with it; no memory of yours is read or changed.',
  examples: [
    { command: 'credence eval serve', effect: `Serves on http://127.0.0.1:${usualPort}.` },
    { command: 'credence eval serve --port 0 --json', effect: 'Serves on a free port, and says which as JSON.' },
  ],
  async run({ options: { port = usualPort } }, session) {
    const { backends, packsDirectory } = await session.evaluation()
    const system = backends({ packsDirectory, embedder: defaultEmbedder }).ours()
    const app = recallApp({
      system,
      now: () => new Date(),
      newId: () => `b-${randomUUID()}`,
      // Standard error of its own accord: whoever sent the request learns only that there is a bug.
      onBug: (error) => console.error(error),
    })
    const listening = await listenOnLoopback(app.fetch, port)
    // The command is done when it listens; the process then lives for as long as it does.
    onceInterrupted(async () => {
      await listening.close()
      await system.close()
    })
    return {
      document: { url: listening.url, port: listening.port },
      text: () => `Credence answers at ${listening.url}, and forgets everything when it is interrupted.`,
    }
  },
})

/** The first signal ends the service and with it the process; a second one ends the process at once. */
function onceInterrupted(end: () => Promise<void>): void {
  const signals = ['SIGINT', 'SIGTERM'] as const
  const stop = (): void => {
    for (const signal of signals) process.off(signal, stop)
    void end()
  }
  for (const signal of signals) process.on(signal, stop)
}
