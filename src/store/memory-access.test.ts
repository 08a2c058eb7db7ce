import { describeAccess } from './access.contract.ts'
import { openMemoryAccess } from './memory-access.ts'

describeAccess('The store in memory', async () => openMemoryAccess())
