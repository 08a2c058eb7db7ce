import { openModelStore } from './model-store.contract.ts'
import { fixedRandom } from './sample-beliefs.contract.ts'
import { describeStore } from './store.contract.ts'

describeStore('The model', () => openModelStore({ random: fixedRandom }))
describeStore(
  'The model with a journal per user',
  () => openModelStore({ random: fixedRandom, journals: 'per user' }),
  {
    journals: 'per user',
  },
)
