import { randomUUID } from 'node:crypto'
import { listenOnLoopback } from '../../src/http/listen.ts'
import { recallApp } from '../../src/http/recall-app.ts'
import { libraries } from './libraries.ts'
import { systemWithoutCut } from './ranker.ts'

/** The name of a library on the command line, with hyphens instead of spaces and punctuation. */
const slugOf = (name: string): string => name.replaceAll(/\W+/gu, '-')

/**
 * Serves a search library over the HTTP contract of docs/systems.md, so that one run can compare it with memories:
 * `node bench/peers/serve.ts minisearch 8081`.
 */
const [wanted = '', port = '0'] = process.argv.slice(2)
const peer = libraries.find(({ name }) => slugOf(name) === wanted)
if (peer === undefined) {
  console.error(`Name one of ${libraries.map(({ name }) => slugOf(name)).join(', ')}, and a port.`)
  process.exit(2)
}
const app = recallApp({
  system: systemWithoutCut(peer),
  name: wanted,
  now: () => new Date(),
  newId: randomUUID,
  onBug: (error) => console.error(error),
})
const { url } = await listenOnLoopback(app.fetch, Number(port))
console.log(url)
