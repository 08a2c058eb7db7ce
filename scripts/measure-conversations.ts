/**
 * Measures the quotes that recall adds on its own (push), for a person's own questions and for questions of strangers.
 * `credence benchmark run longmemeval` and `locomo` do not measure push. `node scripts/measure-conversations.ts
 * <directory of the data>`, where longmemeval/ and locomo/ are folders with the published files. Everything goes
 * through the library, on SQLite, without vectors.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loCoMo } from '../src/eval/runners/conversation/locomo.ts'
import { longMemEval } from '../src/eval/runners/conversation/longmemeval.ts'
import { type Suite, type SuiteConversation, turnId } from '../src/eval/runners/conversation/suite.ts'
import { type Memory, openMemory } from '../src/index.ts'

const directory = process.argv[2]
if (directory === undefined || !existsSync(directory)) {
  console.error('Name the directory of the data: node scripts/measure-conversations.ts <directory>')
  process.exit(2)
}

/** The conversations of a suite, with only those questions that have an answer and marked evidence. */
const conversationsOf = (suite: Suite, path: string): readonly SuiteConversation[] =>
  [...suite.read(path)].map(({ questions, ...conversation }) => ({
    ...conversation,
    questions: questions.filter(
      ({ gold, group, expectsSilence }) => gold.turns.size > 0 && group !== 'adversarial' && !expectsSilence,
    ),
  }))

const share = (part: number, whole: number): string => `${((100 * part) / Math.max(1, whole)).toFixed(1)} % of ${whole}`
const opened: Memory[] = []
const root = mkdtempSync(join(tmpdir(), 'credence-measure-'))

async function remembered(conversation: SuiteConversation): Promise<Memory> {
  const memory = openMemory({ dir: join(root, String(opened.length)) })
  opened.push(memory)
  const turns = conversation.turns.map(({ id: _id, ...turn }) => turn)
  await memory.hear(turns, { learn: 'nothing' })
  return memory
}

async function measure(suite: Suite, path: string): Promise<void> {
  const all = conversationsOf(suite, path)
  const counts = { questions: 0, shown: 0, found: 0 }
  const others = { questions: 0, fired: 0, messages: 0, disturbed: 0 }
  for (const [place, conversation] of all.entries()) {
    const memory = await remembered(conversation)
    for (const { text, gold } of conversation.questions) {
      counts.questions += 1
      const isEvidence = ({ session, index }: { readonly session: string; readonly index: number }): boolean =>
        gold.turns.has(turnId(session, index))
      const shown = await Promise.all((await memory.recall(text)).quotes.map(({ turn }) => memory.turn(turn)))
      counts.shown += Number(shown.some(isEvidence))
      counts.found += Number((await memory.search(text, { in: 'turns', limit: 10 })).quotes.some(isEvidence))
    }
    const strangers = all.filter((_, other) => other !== place)
    const known = new Set(conversation.turns.map(({ text }) => text))
    const fires = async (text: string): Promise<boolean> => (await memory.recall(text)).quotes.length > 0
    for (const stranger of strangers) {
      for (const { text } of stranger.questions.slice(0, 30)) {
        others.questions += 1
        others.fired += Number(await fires(text))
      }
    }
    for (let pick = 0; pick < 20; pick += 1) {
      const stranger = strangers[(pick * 7 + place) % strangers.length]
      const said = stranger?.turns.filter(({ role, text }) => role === 'user' && !known.has(text)) ?? []
      const message = said[(pick * 53) % Math.max(1, said.length)]
      if (message === undefined) continue
      others.messages += 1
      others.disturbed += Number(await fires(message.text))
    }
  }
  console.log(`${suite.name}, ${all.length} conversations`)
  console.log(`  push: evidence shown          ${share(counts.shown, counts.questions)}`)
  console.log(`  pull: evidence in first ten   ${share(counts.found, counts.questions)}`)
  console.log(`  others' questions fire        ${share(others.fired, others.questions)}`)
  console.log(`  others' messages fire         ${share(others.disturbed, others.messages)}`)
}

try {
  await measure(longMemEval, join(directory, 'longmemeval'))
  await measure(loCoMo, join(directory, 'locomo'))
} finally {
  for (const memory of opened) await memory.close()
  rmSync(root, { recursive: true, force: true })
}
