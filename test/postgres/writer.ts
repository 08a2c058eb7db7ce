// Started as a process of its own: writes beliefs one after the other, and prints the id of each when it is acknowledged.
// Arguments: the address of the store, the directory of local copies, the name of the writer, how many beliefs, and the user.
import { randomBytes } from 'node:crypto'
import { writeSync } from 'node:fs'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { beliefCommit } from './acknowledged-writes.ts'

const [address = '', cacheDir = '', writer = '', count = '0', user = 'ada'] = process.argv.slice(2)
const store = openPostgresStore({ address, cacheDir, random: randomBytes, connections: 1 })
for (let number = 0; number < Number(count); number += 1) {
  const { outcome } = await store.commit(beliefCommit(user, `${writer}-${number}`))
  if (outcome === 'stale') throw new Error(`The commit of ${writer}-${number} was stale.`)
  // A pipe may hold back what is written to a stream; this is written at once.
  writeSync(1, `${writer}-${number}\n`)
}
await store.close()
