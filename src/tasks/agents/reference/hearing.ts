import type { Candidate, Extractor } from '../../../memory/learn/for-reference-agent.ts'
import { rulesExtractor } from '../../../memory/learn/for-reference-agent.ts'
import { isFrame, withoutFrame } from './frames.ts'

// "In an earlier session I had you save some things", "you wrote it down for me".
const aboutTheTalk =
  /\b(?:had|asked|told|let|got|made|wanted)\s+you\b|\byou\s+(?:\w+\s+)?(?:saved|stored|wrote|noted|kept|remembered|recorded)\b|\b(?:saved|stored|told you|wrote)\b.*\b(?:earlier|before|previous(?:ly)?|last time|ago|session)\b|\b(?:earlier|previous|last)\s+(?:session|conversation|time)\b/iu

/** Hears as the memory does, but takes nothing that is about the talk itself, and keeps the spacing as it was written. */
export const hearing: Extractor = {
  name: rulesExtractor.name,
  async extract(heard, signal) {
    const { candidates, refused } = await rulesExtractor.extract(heard, signal)
    const isFact = ({ content }: Candidate): boolean => !aboutTheTalk.test(content) && !isFrame(content)
    return {
      candidates: candidates.filter(isFact).map((candidate) => asWritten(candidate, heard.text)),
      refused: [
        ...refused,
        ...candidates
          .filter((candidate) => !isFact(candidate))
          .map(({ content, span }) => ({
            text: content,
            span,
            reason: 'small_talk' as const,
            explanation: 'It is about the talk itself.',
          })),
      ],
    }
  },
}

function asWritten(candidate: Candidate, message: string): Candidate {
  const words = candidate.content.split(/\s+/u).map((word) => word.replace(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`))
  const { start, end } = candidate.span
  const [written] = new RegExp(words.join(String.raw`[^\S\n]+`), 'u').exec(message.slice(start, end)) ?? []
  return { ...candidate, content: withoutFrame(written ?? candidate.content) }
}
