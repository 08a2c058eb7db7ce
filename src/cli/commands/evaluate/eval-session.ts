import { evalFilesCommand } from './eval-files.ts'

export const evalSession = evalFilesCommand('session')
