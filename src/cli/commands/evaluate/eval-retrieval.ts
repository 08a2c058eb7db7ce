import { evalFilesCommand } from './eval-files.ts'

export const evalRetrieval = evalFilesCommand('retrieval')
