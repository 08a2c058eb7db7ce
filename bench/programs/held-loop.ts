/** Measures how long a long text blocks the event loop: `node bench/programs/held-loop.ts [characters]`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { randomFrom } from '../../src/eval/score/statistics.ts'
import { openMemory } from '../../src/index.ts'
import { benchScope, everydayWord, generateBeliefs } from '../corpus.ts'

const length = Number(process.argv[2] ?? 99_000)
const random = randomFrom(3)
const beliefs = [...generateBeliefs({ count: 10_000, seed: 7 })]
const named = beliefs
  .slice(0, 500)
  .map((one, at) => ({ ...one, id: `s-${at}`, name: `shared ${at}`, aliases: ['cache'] }))

function textOf(next: (at: number) => string): string {
  let text = ''
  for (let at = 0; text.length < length; at += 1) text += next(at)
  return text.slice(0, length)
}
const word = (): string => everydayWord(random)
const capital = (): string => word().replace(/^./u, (letter) => letter.toUpperCase())
const texts: Readonly<Record<string, string>> = {
  English: textOf((at) => (at % 12 === 11 ? `${word()}.\n` : `${word()} `)),
  Chinese: textOf(() => String.fromCharCode(0x4e00 + Math.floor(random() * 3_000))),
  'one word': 'a'.repeat(length),
  spaces: `a${' '.repeat(length - 2)}b`,
  names: textOf((at) => `${beliefs[at % beliefs.length]?.name}. `),
  'one name': textOf(() => `${beliefs[5]?.name} `),
  'alias of 500 beliefs': textOf(() => 'cache '),
  identifiers: textOf(() => `${word()}${capital()}${capital()}${capital()} `),
  statements: textOf(() => `My name is Anna, and I prefer ${word()}. Always use ${word()}.\n`),
  numbers: textOf(() => `${Math.floor(random() * 1e16)} `),
  'names of secrets': 'pin '.repeat(length / 4),
  passwords: textOf(() => `pw: aB1!${word()}Xy7 `),
}

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** The longest processor time of this thread between two turns of the event loop. */
async function longestTurn(work: () => Promise<unknown>): Promise<string> {
  let maxMs = 0
  let last = cpuMs()
  let isOver = false
  const turn = (): void => {
    const now = cpuMs()
    maxMs = Math.max(maxMs, now - last)
    last = now
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isOver = true
  turn()
  return `${Math.round(maxMs)}`
}

const dir = mkdtempSync(join(tmpdir(), 'credence-held-'))
const memory = await openMemory({ dir, scopes: [benchScope] })
await memory.import([...beliefs, ...named].map((one) => JSON.stringify(one)).join('\n'), { trusted: true })
for (let time = 0; time < 4; time += 1) {
  await memory.recall(`Hello ${time}`)
  await pause(500)
}
console.log('text: recall, turn, recall after it, turn again, forget both; ms')
for (const [kind, text] of Object.entries(texts)) {
  const recalled = await longestTurn(() => memory.recall(text, { nearMisses: true }))
  const heard = await longestTurn(() => memory.hear([{ text, session: kind }]))
  const after = await longestTurn(() => memory.recall('What is my dog called?'))
  const again = await longestTurn(() => memory.hear([{ text: `Again: ${text}`, session: kind }]))
  const forgotten = await longestTurn(() => memory.forgetTurns({ session: kind }))
  console.log(`${kind}: ${recalled}, ${heard}, ${after}, ${again}, ${forgotten}`)
}
await memory.close()
rmSync(dir, { recursive: true })
