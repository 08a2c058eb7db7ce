// How much memory a process needs to have an index at hand: started for each with nothing else in it, and told a library
// to fill or a memory directory of ours to ask, which is on disk and needs only what it keeps of it.

import { recall } from '../../src/memory/recall/recall.ts'
import type { BeliefRecord } from '../../src/memory/transfer/belief-record.ts'
import { openPorts } from '../../src/open-memory.ts'
import { benchScope, generateBeliefs, generateMessages } from '../corpus.ts'
import { formIndexPeers } from '../peers/form-indexes.ts'

const [name, size, dir = ''] = process.argv.slice(2)
const beliefs = () => generateBeliefs({ count: Number(size), seed: 1 })
const before = settledBytes()
const held = name === 'credence' ? await asked() : await filled()
const bytes = settledBytes() - before
await held.close()
console.log(JSON.stringify({ bytes }))

async function filled() {
  const peer = formIndexPeers.find((known) => known.name === name)
  if (peer === undefined) throw new Error(`there is no library "${name}"`)
  return peer.build(beliefs())
}

async function asked() {
  const { store, ...rest } = openPorts(dir)
  const known: BeliefRecord[] = []
  for (const belief of beliefs()) if (known.push(belief) === 1_000) break
  for (const message of generateMessages(known, { count: 1_000, words: 40, mentions: 2, seed: 5 }))
    await recall({ ...rest, store }, { user: 'local', scopes: [benchScope], message })
  return store
}

/** After everything that is only garbage has been given back. */
function settledBytes(): number {
  for (let time = 0; time < 3; time += 1) globalThis.gc?.()
  return process.memoryUsage.rss()
}
