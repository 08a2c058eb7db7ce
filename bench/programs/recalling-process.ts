// One server process with its own store, without HTTP. Answers lists of questions with the given number of clients, and
// reports the time of each answer and the total processor time.
import { recall } from '../../src/memory/recall/recall.ts'
import { openPorts } from '../../src/open-memory.ts'
import { openServer } from '../../src/open-server.ts'
import { benchScope } from '../corpus.ts'
import { underLoad } from '../load.ts'

type Question = { readonly user: string; readonly message: string }

const [dir = '', store = ''] = process.argv.slice(2)
const ports = openPorts(dir, { server: () => openServer(dir, store) })
const ask = ({ user, message }: Question) => recall(ports, { user, scopes: [benchScope], message })

process.on('message', async ({ questions, clients }: { questions: readonly Question[]; clients: number }) => {
  const before = process.cpuUsage()
  const { tookMs, seconds } = await underLoad(clients, questions, ask)
  const { user, system } = process.cpuUsage(before)
  process.send?.({ tookMs, seconds, cpuMs: (user + system) / 1_000 })
})
process.on('disconnect', () => void ports.store.close())
process.send?.('ready')
