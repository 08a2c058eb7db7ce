import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { randomFrom } from '../../src/eval/score/statistics.ts'
import { everydayWord } from '../corpus.ts'
import type { Lane } from '../run.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const turnsEach = 24
const maxWaitMs = 600_000

/** One fact in the newest conversation, and one in the oldest, which is imported last. */
const facts = [
  {
    question: 'Which port does the staging database use?',
    said: 'The staging database uses port 5433.',
    answer: '5433',
  },
  {
    question: 'What is the alarm code of the kiln room?',
    said: 'The alarm code of the kiln room is 8841.',
    answer: '8841',
  },
] as const

/**
 * Seconds since the start of `npm ci`: at its end (`installed`), at the end of `credence init` (`initialised`), and at
 * the right answer about the newest and the oldest conversation.
 */
export type FirstMinuteFigures = {
  readonly conversations: number
  readonly turnsEach: number
  readonly load: number | undefined
  readonly installed: number
  readonly initialised: number
  readonly newest: number
  readonly oldest: number
}

export const firstMinuteLane: Lane = {
  name: 'first-minute',
  summary: 'from `npm ci` through `credence init` to right answers about 500 conversations of Claude Code',
  async run({ quick, log, stores }): Promise<FirstMinuteFigures> {
    const conversations = quick ? 50 : 500
    const place = stores.place('first-minute')
    const home = join(place, 'home')
    const work = join(place, 'work')
    mkdirSync(join(work, '.git'), { recursive: true })
    writeConversations(home, work, conversations)
    const clone = join(place, 'clone')
    for (const part of ['package.json', 'package-lock.json', '.npmrc', 'bin', 'src', 'packs'])
      cpSync(join(root, part), join(clone, part), { recursive: true })
    const start = performance.now()
    const since = (): number => Math.round((performance.now() - start) / 100) / 10
    const run = (program: string, argv: readonly string[], cwd: string, env: NodeJS.ProcessEnv = process.env) => {
      const { status, stdout, stderr } = spawnSync(program, argv, { cwd, env, encoding: 'utf8' })
      if (status !== 0) throw new Error(`${program} ${argv.join(' ')}: ${status} ${stderr}`)
      return stdout
    }
    const ownEnv = { PATH: process.env.PATH, HOME: home }
    const credence = (...argv: readonly string[]) =>
      JSON.parse(run(process.execPath, [join(clone, 'bin', 'credence.js'), ...argv, '--json'], work, ownEnv))
    const knows = ({ question, answer }: (typeof facts)[number]): boolean =>
      credence('search', question).quotes[0]?.text.includes(answer) === true

    run('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], clone)
    const installed = since()
    const { imported } = credence('init', '--yes')
    const initialised = since()
    const seconds: number[] = []
    for (const fact of facts) {
      while (!knows(fact)) {
        if (performance.now() - start > maxWaitMs) throw new Error(`No right answer to "${fact.question}".`)
        await sleep(500)
      }
      seconds.push(since())
    }
    const [newest = Number.NaN, oldest = Number.NaN] = seconds
    log(`  installed ${installed} s, initialised ${initialised} s (${imported?.turns} turns)`)
    log(`  right answer about the newest conversation ${newest} s, about the oldest ${oldest} s`)
    rmSync(clone, { recursive: true })
    return { conversations, turnsEach, load: loadavg()[0], installed, initialised, newest, oldest }
  },
}

/** Transcripts of Claude Code, one per hour, the last of them an hour ago. */
function writeConversations(home: string, directory: string, count: number): void {
  const random = randomFrom(7)
  const sentence = (): string => `${Array.from({ length: 12 }, () => everydayWord(random)).join(' ')}.`
  for (let at = 0; at < count; at += 1) {
    const began = Date.now() - (count - at) * 3_600_000
    const sessionId = `session-${at}`
    const fact = at === 0 ? facts[1] : at === count - 1 ? facts[0] : null
    const lines = Array.from({ length: turnsEach }, (_, turn) => {
      const type = turn % 2 === 0 ? 'user' : 'assistant'
      const content = fact !== null && turn === 4 ? fact.said : sentence()
      const timestamp = new Date(began + turn * 10_000).toISOString()
      const message = { role: type, content: [{ type: 'text', text: content }] }
      return JSON.stringify({ type, uuid: `${sessionId}-${turn}`, sessionId, cwd: directory, timestamp, message })
    })
    const file = join(home, '.claude', 'projects', 'work', `${sessionId}.jsonl`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, lines.join('\n'))
    utimesSync(file, began / 1_000, began / 1_000)
  }
}
