import { openMemoryStore } from './memory-store.ts'
import { fixedRandom } from './sample-beliefs.contract.ts'
import { describeStore } from './store.contract.ts'

describeStore('The memory store', () => openMemoryStore({ random: fixedRandom }))
describeStore(
  'The memory store with a journal per user',
  () => openMemoryStore({ random: fixedRandom, journals: 'per user' }),
  {
    journals: 'per user',
  },
)
