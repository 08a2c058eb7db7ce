/**
 * Measures push and pull on public conversations: `node scripts/measure-conversations.ts <directory of the data>`, where
 * longmemeval/ and locomo/ lie as docs/conversations.md says. Everything goes through the library, on SQLite, without vectors.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type Memory, openMemory } from '../src/index.ts'
import { termsOf } from '../src/search/turns/terms.ts'

type Told = {
  readonly session: string
  readonly role: 'user' | 'assistant'
  readonly speaker?: string
  readonly at: string
  readonly text: string
}
type Asked = {
  readonly text: string
  readonly answer: string
  readonly type: string
  readonly evidence: ReadonlySet<string>
  readonly newest: string
}
type Store = { readonly turns: readonly Told[]; readonly questions: readonly Asked[] }

const directory = process.argv[2]
if (directory === undefined || !existsSync(directory)) {
  console.error('Name the directory of the data: node scripts/measure-conversations.ts <directory>')
  process.exit(2)
}
const lines = (file: string): string => gunzipSync(readFileSync(join(directory, file))).toString('utf8')
const dayOf = (text: string): number => {
  const [, year, month, day] = /(\d{4})\/(\d\d)\/(\d\d)/u.exec(text) ?? []
  return Date.UTC(Number(year), Number(month) - 1, Number(day), 12)
}
const after = (start: number, minutes: number): string => new Date(start + minutes * 60_000).toISOString()
const keyOf = (session: string, text: string): string => `${session}\n${text}`

function longMemEval(): readonly Store[] {
  type Row = {
    question: string
    question_type: string
    answer: unknown
    answer_session_ids: string[]
    haystack_dates: string[]
    haystack_session_ids: string[]
    haystack_sessions: { role: 'user' | 'assistant'; content: string; has_answer?: boolean }[][]
  }
  return lines('longmemeval/longmemeval_s.dev50.jsonl.gz')
    .trim()
    .split('\n')
    .map((line) => {
      const row = JSON.parse(line) as Row
      const gold = new Set(row.answer_session_ids)
      const evidence = new Set<string>()
      let newest = { at: 0, session: '' }
      const turns = row.haystack_sessions.flatMap((session, place) => {
        const name = `${place}-${row.haystack_session_ids[place]}`
        const start = dayOf(row.haystack_dates[place] ?? '')
        const isGold = gold.has(row.haystack_session_ids[place] ?? '')
        if (isGold && start > newest.at) newest = { at: start, session: name }
        return session.map(({ role, content, has_answer }, index) => {
          if (isGold && has_answer === true) evidence.add(keyOf(name, content))
          return { session: name, role, at: after(start, index), text: content }
        })
      })
      const question = {
        text: row.question,
        answer: String(row.answer),
        type: row.question_type,
        evidence,
        newest: newest.session,
      }
      return { turns, questions: evidence.size === 0 ? [] : [question] }
    })
}

function loCoMo(): readonly Store[] {
  type Line = { speaker: string; dia_id: string; text: string; blip_caption?: string }
  type Conversation = {
    conversation: Record<string, unknown>
    qa: { question: string; answer?: unknown; category: number; evidence?: string[] }[]
  }
  return (JSON.parse(lines('locomo/locomo.dev3.json.gz')) as Conversation[]).map(({ conversation, qa }) => {
    const byId = new Map<string, string>()
    const turns = Object.keys(conversation)
      .filter((name) => /^session_\d+$/u.test(name) && Array.isArray(conversation[name]))
      .flatMap((name) => {
        const start = Date.parse(`${/\d+ \w+,? \d{4}/u.exec(String(conversation[`${name}_date_time`]))?.[0]} 12:00 UTC`)
        return (conversation[name] as Line[]).map(({ speaker, dia_id, text, blip_caption }, index): Told => {
          const whole = blip_caption === undefined ? text : `${text} [${blip_caption}]`
          byId.set(dia_id, keyOf(name, whole))
          return { session: name, role: 'user', speaker, at: after(start, index), text: whole }
        })
      })
    const questions = qa.flatMap(({ question, answer, category, evidence = [] }) => {
      const gold = new Set(
        evidence.flatMap((list) => list.match(/D\d+:\d+/gu) ?? []).flatMap((id) => byId.get(id) ?? []),
      )
      return gold.size === 0 || category === 5
        ? []
        : [{ text: question, answer: String(answer), type: String(category), evidence: gold, newest: '' }]
    })
    return { turns, questions }
  })
}

/** Whether a text has every telling word of another. */
function holds(text: string, words: string): boolean {
  const held = new Set(termsOf(text).map(({ term }) => term))
  const wanted = termsOf(words).map(({ term }) => term)
  return wanted.length > 0 && wanted.every((term) => held.has(term))
}

const share = (part: number, whole: number): string => `${((100 * part) / Math.max(1, whole)).toFixed(1)} % of ${whole}`
const opened: Memory[] = []
const root = mkdtempSync(join(tmpdir(), 'credence-measure-'))

async function remembered(stores: readonly Store[]): Promise<readonly { store: Store; memory: Memory }[]> {
  const all: { store: Store; memory: Memory }[] = []
  for (const store of stores) {
    const memory = openMemory({ dir: join(root, String(opened.length)) })
    opened.push(memory)
    await memory.hear(store.turns, { learn: 'nothing' })
    all.push({ store, memory })
  }
  return all
}

async function measure(name: string, stores: readonly Store[]): Promise<void> {
  const all = await remembered(stores)
  const counts = {
    questions: 0,
    shown: 0,
    found: 0,
    answerable: 0,
    answered: 0,
    updates: 0,
    newest: 0,
    shownUpdates: 0,
    shownNewest: 0,
  }
  const others = { questions: 0, fired: 0, messages: 0, disturbed: 0 }
  for (const [place, { store, memory }] of all.entries()) {
    for (const question of store.questions) {
      counts.questions += 1
      const { quotes } = await memory.recall(question.text)
      const isEvidence = async (turn: string, session: string): Promise<boolean> =>
        question.evidence.has(keyOf(session, (await memory.turn(turn)).text))
      const pushed = await Promise.all(quotes.map(({ turn, session }) => isEvidence(turn, session)))
      counts.shown += Number(pushed.includes(true))
      const found = (await memory.search(question.text, { in: 'turns', limit: 10 })).quotes
      const pulled = await Promise.all(found.map(({ turn, session }) => isEvidence(turn, session)))
      counts.found += Number(pulled.includes(true))
      // Counts and sums stand nowhere; only what was said can be found.
      if (holds([...question.evidence].join('\n'), question.answer)) {
        counts.answerable += 1
        counts.answered += Number(holds(found.map(({ text }) => text).join('\n'), question.answer))
      }
      if (question.type === 'knowledge-update') {
        counts.updates += 1
        counts.newest += Number(found[0]?.session === question.newest)
        counts.shownUpdates += Number(quotes.length > 0)
        counts.shownNewest += Number(quotes[0]?.session === question.newest)
      }
    }
    const strangers = all.filter((_, other) => other !== place)
    const known = new Set(store.turns.map(({ text }) => text))
    const ask = async (text: string): Promise<boolean> => (await memory.recall(text)).quotes.length > 0
    for (const { store: stranger } of strangers) {
      for (const { text } of stranger.questions.slice(0, 30)) {
        others.questions += 1
        others.fired += Number(await ask(text))
      }
    }
    for (let pick = 0; pick < 20; pick += 1) {
      const stranger = strangers[(pick * 7 + place) % strangers.length]?.store
      const said = stranger?.turns.filter(({ role, text }) => role === 'user' && !known.has(text)) ?? []
      const message = said[(pick * 53) % Math.max(1, said.length)]
      if (message === undefined) continue
      others.messages += 1
      others.disturbed += Number(await ask(message.text))
    }
  }
  console.log(`${name}, ${stores.length} stores`)
  console.log(`  push: evidence shown          ${share(counts.shown, counts.questions)}`)
  console.log(`  pull: evidence in first ten   ${share(counts.found, counts.questions)}`)
  console.log(`  pull: answer's words in them  ${share(counts.answered, counts.answerable)}`)
  if (counts.updates > 0) {
    console.log(`  updates: newest first, pull   ${share(counts.newest, counts.updates)}`)
    console.log(`  updates: newest first, push   ${share(counts.shownNewest, counts.shownUpdates)}`)
  }
  console.log(`  others' questions fire        ${share(others.fired, others.questions)}`)
  console.log(`  others' messages fire         ${share(others.disturbed, others.messages)}`)
}

try {
  await measure('LongMemEval-S, development questions', longMemEval())
  await measure('LoCoMo, development conversations', loCoMo())
} finally {
  for (const memory of opened) await memory.close()
  rmSync(root, { recursive: true, force: true })
}
