import { describe } from 'vitest'
import {
  emptyDatabases,
  openAt,
  postgresPrograms,
  sharedCluster,
  undurable,
} from '../../src/store/postgres/cluster.contract.ts'
import { describeResident, residentBytes } from '../recall/resident.contract.ts'

describe.skipIf(postgresPrograms === null)('PostgreSQL', () => {
  const databases = emptyDatabases(sharedCluster(undurable))

  describeResident(
    'the resident index of PostgreSQL',
    async () => {
      const address = await databases.take()
      const [stored, inMemory] = [openAt(address), openAt(address, { residentBytes })]
      const close = async () => {
        await Promise.all([stored.close(), inMemory.close()])
        databases.giveBack(address)
      }
      return { stored, inMemory, close }
    },
    12,
  )
})
