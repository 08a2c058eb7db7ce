// Fills a memory with users who all have different beliefs. A separate process, so that it runs in parallel with other work.
import { importRecords } from '../../src/memory/transfer/import.ts'
import { openPorts } from '../../src/open-memory.ts'
import { generateBeliefs } from '../corpus.ts'

const [dir = '', users = '', beliefsEach = ''] = process.argv.slice(2)
const ports = openPorts(dir)
for (let index = 0; index < Number(users); index += 1) {
  const user = `user-${index}`
  const records = generateBeliefs({ count: Number(beliefsEach), seed: 1_000 + index, user })
  const placed = [...records].map((record, at) => ({ place: `belief ${at}`, record }))
  await importRecords(ports, { user, author: { actor: 'person', origin: 'bench' }, trusted: true }, placed)
}
await ports.store.close()
