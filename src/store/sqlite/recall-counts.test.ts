import { describeRecallCounts } from '../recall-counts.contract.ts'

describeRecallCounts('recalls counted in SQLite', async () => undefined)
