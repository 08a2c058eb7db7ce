import { describe } from 'vitest'
import { describeAccess } from '../access.contract.ts'
import { emptyStores, postgresPrograms, sharedCluster, undurable } from './cluster.contract.ts'

describe.skipIf(postgresPrograms === null)('PostgreSQL', () => {
  const open = emptyStores(sharedCluster(undurable))

  describeAccess('The PostgreSQL store', () => open().access(), 15)
})
