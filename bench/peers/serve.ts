import { randomUUID } from 'node:crypto'
import { listenOnLoopback } from '../../src/http/listen.ts'
import { recallApp } from '../../src/http/recall-app.ts'
import { libraries } from './libraries.ts'
import { systemWithoutCut } from './ranker.ts'

/** The names of the libraries without spaces, as they are in tables. */
const slugOf = (name: string): string => name.replaceAll(/\W+/gu, '-')

/**
 * Serves a search library over the HTTP contract of docs/systems.md, so that it is in one run with memories:
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
