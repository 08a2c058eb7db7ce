import { describeAccess } from './access.contract.ts'
import { openMemoryAccess } from './access-model.contract.ts'

describeAccess('The store in memory', async () => openMemoryAccess())
