import { appendFileSync, closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * Another program that writes to a file: `append` opens it to append, `held` opens it and writes a moment later, `editor` reads it, adds
 * a line and renames a new file over it.
 */
const [file = '', manner = 'append', count = '300', kind = 'line', spreadMs = '6'] = process.argv.slice(2)

const lineFor = (token: string): string =>
  kind === 'item' ? `- **${token}**: told by another program\n` : `A line of ${token}.\n`

for (let index = 0; index < Number(count); index += 1) {
  const token = `outside${String(index).padStart(4, '0')}`
  const line = lineFor(token)
  if (manner === 'append') untilThere(() => appendFileSync(file, line))
  else if (manner === 'held') {
    const descriptor = openSync(file, 'a')
    await pause(Math.random() * 20)
    writeSync(descriptor, line)
    closeSync(descriptor)
  } else {
    untilThere(() => {
      const text = readFileSync(file, 'utf8')
      writeFileSync(`${file}.editor`, text.endsWith('\n') ? text + line : `${text}\n${line}`)
      renameSync(`${file}.editor`, file)
    })
  }
  await pause(Math.random() * Number(spreadMs))
}

/** If the file is missing, the editor tries again, as a person would. */
function untilThere(work: () => void): void {
  for (let attempt = 0; ; attempt += 1) {
    try {
      work()
      return
    } catch (error) {
      if (attempt > 10_000) throw error
      // The pause lets the program run that is about to put the file back.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}
