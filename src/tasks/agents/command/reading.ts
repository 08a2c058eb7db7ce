import { noUsage, type Usage } from '../../../models/chat-model.ts'
import type { TranscriptMessage } from '../../transcript.ts'

/** What a program wrote. */
export type Output = { readonly stdout: string; readonly stderr: string }

/** What its output says it did. */
export type Reading = {
  readonly messages: readonly TranscriptMessage[]
  readonly answer: string
  readonly usage: Usage
  /** What the program calls the conversation, where that is not what it was told. */
  readonly conversationId: string | null
  readonly model: string | null
  /** What went wrong, in its own words; null when nothing did. */
  readonly problem: { readonly fault: 'agent' | 'infrastructure'; readonly message: string } | null
}

/** All it wrote is its answer. */
export function readPlain({ stdout }: Output): Reading {
  const answer = stdout.trim()
  return {
    messages: [{ role: 'assistant', content: answer === '' ? [] : [{ type: 'text', text: answer }] }],
    answer,
    usage: noUsage,
    conversationId: null,
    model: null,
    problem: null,
  }
}

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

export const objectAt = (value: JsonObject, key: string): JsonObject => {
  const inner = value[key]
  return isObject(inner) ? inner : {}
}

export const textAt = (value: JsonObject, key: string): string | null => {
  const inner = value[key]
  return typeof inner === 'string' ? inner : null
}

export const countAt = (value: JsonObject, ...keys: readonly string[]): number => {
  for (const key of keys) {
    const inner = value[key]
    if (typeof inner === 'number' && Number.isFinite(inner) && inner >= 0) return Math.round(inner)
  }
  return 0
}

/** The JSON objects among the lines of a text; lines that are none are passed over. */
export function jsonLines(text: string): readonly JsonObject[] {
  return text.split('\n').flatMap((line) => {
    if (!line.trim().startsWith('{')) return []
    try {
      const value: unknown = JSON.parse(line)
      return isObject(value) ? [value] : []
    } catch {
      return []
    }
  })
}

/** Words that mean that the model was never reached. */
export const isUnreachable = (message: string): boolean =>
  /api key|log ?in|logged out|authenticat|unauthori[sz]ed|credit balance|quota|rate.?limit|overloaded|ECONNREFUSED|ENOTFOUND/iu.test(
    message,
  )
