import { openMemory } from '../../src/open-memory.ts'

/** Remembers this many statements in a directory with a mirror, and prints each acknowledged one. */
const [dir = '', label = '', count = '0'] = process.argv.slice(2)
const memory = openMemory({
  dir,
  mirror: true,
  onMirrorProblem: (problem) => process.stderr.write(`${problem.message}\n`),
})
for (let index = 0; index < Number(count); index += 1) {
  await memory.remember({
    name: `${label} ${index}`,
    content: `said by ${label}, number ${index}`,
    scopes: [`project:${label}`],
  })
  process.stdout.write(`${label} ${index}\n`)
}
await memory.close()
