import type { TranscriptEntry, TranscriptMessage } from '../transcript.ts'

/** What was said and done in one session of a merged transcript, its prompt first. */
export function sessionMessages(transcript: readonly TranscriptEntry[], session: string): readonly TranscriptMessage[] {
  const start = transcript.findIndex((entry) => entry.type === 'custom' && entry.data.session === session)
  if (start === -1) return []
  const rest = transcript.slice(start + 1)
  const end = rest.findIndex((entry) => entry.type !== 'message')
  return (end === -1 ? rest : rest.slice(0, end)).flatMap((entry) => (entry.type === 'message' ? [entry.message] : []))
}
