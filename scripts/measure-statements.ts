/**
 * Measures which messages recall single statements, once stored by `remember` without a name, and once told in
 * conversations. Each line of `statements/statements.tsv` has a statement, a question about it and a request that needs
 * it; `unrelated.txt` has requests that need none of them. The author of these files did not know how recall works.
 * `node scripts/measure-statements.ts`.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Memory, openMemory } from '../src/index.ts'

const linesOf = (name: string): readonly string[] =>
  readFileSync(new URL(`statements/${name}`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')

const cases = linesOf('statements.tsv').map((line) => line.split('\t') as [string, string, string])

/** The texts that a message recalls. */
async function recalled(memory: Memory, message: string): Promise<readonly string[]> {
  const { prelude, relevant, quotes } = await memory.recall(message)
  const beliefs = relevant.map(({ belief }) => belief.content)
  return [...beliefs, ...quotes.map(({ text }) => text), ...(prelude?.text.split('\n') ?? [])]
}

async function measure(memory: Memory) {
  const isRecalled = async (text: string, message: string): Promise<boolean> =>
    (await recalled(memory, message)).some((shown) => shown.includes(text) || text.includes(shown))
  const count = async (messages: readonly Promise<boolean>[]): Promise<number> =>
    (await Promise.all(messages)).filter(Boolean).length
  const standing = (await memory.recall('')).prelude?.text.split('\n').length ?? 0
  return {
    'by a question': await count(cases.map(([text, question]) => isRecalled(text, question))),
    'by a request': await count(cases.map(([text, , request]) => isRecalled(text, request))),
    'unrelated request recalls something': await count(
      linesOf('unrelated.txt').map(async (message) => (await recalled(memory, message)).length > standing),
    ),
  }
}

const root = mkdtempSync(join(tmpdir(), 'credence-statements-'))
const remembered = openMemory({ dir: join(root, 'remembered') })
for (const [content] of cases) await remembered.remember({ content })
const told = openMemory({ dir: join(root, 'told') })
for (const [at, [text]] of cases.entries()) await told.hear({ text, session: `s${at}` }, { learn: 'nothing' })
console.log(`${cases.length} statements, ${linesOf('unrelated.txt').length} unrelated requests`)
console.table({ remembered: await measure(remembered), 'told in conversations': await measure(told) })
await remembered.close()
await told.close()
rmSync(root, { recursive: true })
