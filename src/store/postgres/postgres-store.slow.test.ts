import { describe } from 'vitest'
import { openModelStore } from '../model-store.contract.ts'
import { describeRecallCounts } from '../recall-counts.contract.ts'
import { fixedRandom } from '../sample-beliefs.contract.ts'
import { describeStore } from '../store.contract.ts'
import { describeAgreement } from '../store-agreement.contract.ts'
import { emptyStores, postgresPrograms, sharedCluster, undurable } from './cluster.contract.ts'

describe.skipIf(postgresPrograms === null)('PostgreSQL', () => {
  const cluster = sharedCluster(undurable)
  const open = emptyStores(cluster)

  describeStore('The PostgreSQL store', open, { journals: 'per user' })
  describeRecallCounts('recalls counted in PostgreSQL', async () => (await cluster()).newDatabase())
  describeAgreement(
    'The model and the PostgreSQL store',
    () => openModelStore({ random: fixedRandom, journals: 'per user' }),
    open,
    { runs: 20, timeoutMs: 600_000 },
  )
})
