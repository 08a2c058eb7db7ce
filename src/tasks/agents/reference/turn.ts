import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { gate } from '../../../memory/learn/for-reference-agent.ts'
import type { Memory } from '../../../memory/memory.ts'
import { noUsage } from '../../../models/chat-model.ts'
import type { Turn } from '../../agent.ts'
import { asksOf } from './asks.ts'
import { hearing } from './hearing.ts'
import { leftOut } from './left-out.ts'
import { Mind, memoryDirectory } from './mind.ts'
import { Steps } from './steps.ts'
import type { Thread } from './thread.ts'

export type Place = {
  readonly workspace: string
  readonly openMemory: (dir: string) => Promise<Memory>
}

/** What a conversation has been about so far. */
export type Talk = {
  /** What the person said before, oldest first. */
  readonly earlier: readonly string[]
  readonly thread: Thread | null
}

export const noTalk: Talk = { earlier: [], thread: null }

/** Hears a prompt, keeps what it tells and answers what it asks. The memory is open for the length of one turn only. */
export async function takeTurn(
  place: Place,
  talk: Talk,
  prompt: string,
  signal: AbortSignal,
): Promise<{ turn: Turn; talk: Talk }> {
  const steps = new Steps((step) => `call-${talk.earlier.length + 1}-${step}`)
  const asks = asksOf(prompt)
  const heard = gate(await hearing.extract({ text: prompt, earlier: talk.earlier }, signal))
  const directory = join(place.workspace, memoryDirectory)
  const isNeeded = heard.candidates.length > 0 || leftOut(prompt, heard).length > 0 || existsSync(directory)
  const memory = isNeeded ? await place.openMemory(directory) : null
  try {
    const mind = new Mind(place.workspace, memory, steps, signal)
    const learned = await mind.learn(prompt, heard, talk.earlier)
    const told = await mind.tell(learned)
    const { text, found, thread } = await mind.answer(prompt, asks, talk.thread)
    const kept = await mind.writeFiles(prompt, { found, learned })
    const parts = [told, text, kept].filter((part) => part !== '')
    const answer =
      parts.length === 0
        ? 'There was nothing in this to keep, and nothing asked that I could look up.'
        : parts.join('\n\n')
    return {
      turn: { messages: steps.ended(answer), answer, usage: noUsage },
      talk: { earlier: [...talk.earlier, prompt], thread },
    }
  } finally {
    await memory?.close()
  }
}
