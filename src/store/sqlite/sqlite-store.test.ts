import { openModelStore } from '../model-store.contract.ts'
import { fixedRandom } from '../sample-beliefs.contract.ts'
import { describeStore } from '../store.contract.ts'
import { describeAgreement } from '../store-agreement.contract.ts'
import { newFile, openAt } from './temporary-store.contract.ts'

const open = () => openAt(newFile())

describeStore('The SQLite store', open)
describeAgreement('The memory store and the SQLite store', () => openModelStore({ random: fixedRandom }), open)
