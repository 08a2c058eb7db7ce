import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../test/temporary-directory.ts'
import { unavailable } from './errors.ts'
import { ThreadCalls } from './thread-calls.ts'

it('a warning of a thread is a warning of the process', async () => {
  using directory = temporaryDirectory()
  const program = join(directory.path, 'program.mjs')
  const warn = `answerCalls(async (text) => text && process.emitWarning(text))`
  writeFileSync(
    program,
    `import { answerCalls } from ${JSON.stringify(import.meta.resolve('./thread-calls.ts'))}\n${warn}`,
  )
  const lost = (cause: unknown) => unavailable('The thread ended.', 'Start another one.', cause)
  const thread = new ThreadCalls<string>(pathToFileURL(program), { workerData: null, lost, onEnd: () => {} })
  const warned = once(process, 'warning')

  await thread.ask('The log is long.')
  const [warning] = await warned
  await thread.close('')

  expect(warning.message).toBe('The log is long.')
})
