// Run in a separate process: writes beliefs one by one, and prints the id of each acknowledged one. Arguments: the
// address of the store, the directory of local copies, the name of the writer, the number of beliefs, and the user.
import { randomBytes } from 'node:crypto'
import { writeSync } from 'node:fs'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { beliefCommit } from './acknowledged-writes.ts'

const [address = '', cacheDir = '', writer = '', count = '0', user = 'ada'] = process.argv.slice(2)
const store = openPostgresStore({ address, cacheDir, random: randomBytes, connections: 1 })
for (let number = 0; number < Number(count); number += 1) {
  const { outcome } = await store.commit(beliefCommit(user, `${writer}-${number}`))
  if (outcome === 'stale') throw new Error(`The commit of ${writer}-${number} was stale.`)
  // A stream to a pipe may buffer output; this writes immediately.
  writeSync(1, `${writer}-${number}\n`)
}
await store.close()
