import { randomUUID } from 'node:crypto'
import { defaultEmbedder } from '../../eval/systems/embedders/open-embedder.ts'
import { type Listening, listenOnLoopback } from '../../http/listen.ts'
import { recallApp } from '../../http/recall-app.ts'
import { defineCommand, wholeNumber } from '../command.ts'

/** The port that published harnesses ask unless told otherwise. */
const usualPort = 8080
const mostBugsShown = 10

export const evalServe = defineCommand({
  args: {},
  options: { port: wholeNumber('The port; 0 is any that is free.', { min: 0, max: 65_535, default: usualPort }) },
  description:
    'Offers recall over the HTTP contract of docs/systems.md, on this machine only, until it is interrupted. What it is told is kept in its own process and gone with it; no memory of yours is read or changed.',
  examples: [
    { command: 'credence eval serve', effect: `Serves on http://127.0.0.1:${usualPort}.` },
    { command: 'credence eval serve --port 0 --json', effect: 'Serves on a free port, and says which as JSON.' },
  ],
  async run({ options: { port = usualPort } }, session) {
    const { backends, packsDirectory } = await session.evaluation()
    const system = backends({ packsDirectory, embedder: defaultEmbedder }).ours()
    const bugs: string[] = []
    const app = recallApp({
      system,
      now: () => new Date(),
      newId: () => `b-${randomUUID()}`,
      onBug: (error) => {
        if (bugs.length < mostBugsShown) bugs.push(String((error instanceof Error && error.stack) || error))
      },
    })
    const listening = await listenOnLoopback(app.fetch, port)
    const served = untilInterrupted(listening, interrupted(), () => system.close())
    const { url } = listening
    return {
      document: served,
      text: async function* () {
        for await (const event of served)
          yield event.event === 'listening'
            ? `Credence answers at ${url}, and forgets everything when it is interrupted.\n`
            : `Stopped by ${event.signal}.\n`
      },
      notes: bugs,
    }
  },
})

type Served =
  | { readonly event: 'listening'; readonly url: string; readonly port: number }
  | { readonly event: 'stopped'; readonly signal: string }

/** Says where it listens, and ends when it no longer does. */
async function* untilInterrupted(
  { url, port, close }: Listening,
  interruption: Promise<string>,
  closeSystem: () => Promise<void>,
): AsyncGenerator<Served> {
  try {
    yield { event: 'listening', url, port }
    yield { event: 'stopped', signal: await interruption }
  } finally {
    await close()
    await closeSystem()
  }
}

/** The first signal ends the service, a second one the process. */
function interrupted(): Promise<string> {
  const signals = ['SIGINT', 'SIGTERM'] as const
  return new Promise((resolve) => {
    const stop = (signal: string): void => {
      for (const each of signals) process.off(each, stop)
      resolve(signal)
    }
    for (const each of signals) process.on(each, stop)
  })
}
