import { setTimeout } from 'node:timers/promises'
import type { ChatModel, ChatReply, ChatRequest } from './chat-model.ts'
import { PassingTrouble } from './endpoint.ts'

const mostTries = 4
const firstWaitMs = 500
/** An endpoint that wants to be left alone for longer is not waited for; whoever asked decides. */
const longestWaitMs = 20_000

export type Pause = (ms: number, signal: AbortSignal) => Promise<void>

/** The same model, asked again when the endpoint has trouble that may pass: too many requests, a fault of its own, a cut connection. */
export function patientModel(model: ChatModel, pause: Pause = waiting): ChatModel {
  return { ...model, reply: (request) => replyWithPatience(model, request, pause) }
}

async function replyWithPatience(model: ChatModel, request: ChatRequest, pause: Pause): Promise<ChatReply> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await model.reply(request)
    } catch (error) {
      if (!(error instanceof PassingTrouble) || tries === mostTries) throw error
      // Each time twice as long, so that many who ask do not come back together for long.
      const waitMs = error.afterMs ?? firstWaitMs * 2 ** (tries - 1)
      if (waitMs > longestWaitMs) throw error
      await pause(waitMs, request.signal)
      if (request.signal.aborted) throw error
    }
  }
}

/** Ends early, and quietly, when nobody waits any more. */
const waiting: Pause = (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => {})
