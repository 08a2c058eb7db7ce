// Sentences that stand around what is told and tell nothing themselves: what is to be done with it, and what comes next.
const frames: readonly RegExp[] = [
  // "Please keep the following in memory/MEMORY.md for me."
  /^(?:please\s+|kindly\s+|just\s+|(?:can|could|would|will) you (?:please )?)*(?:keep|save|store|note|remember|write|put|record|add|use|read|check|open|look)\b[^:]*\b(?:the following|this|these|those|it|them|(?:in|into|to|at)?\s*\S+\.md)\b[^:]*$/iu,
  /^(?:all of )?the following\b[^:]*$/iu,
  /\bplease (?:use|read|check|open|see|look (?:at|in|into))\s+(?:the file |my notes|your notes|\S+\.md)/iu,
  // "Nothing to remember here."
  /\b(?:nothing|not anything|no need)\s+(?:(?:here|in this|special|more|else)\s+)*(?:to|worth|for you to)\s+(?:remember|keep|sav|stor|not|writ|record)/iu,
  // "As promised, here are the details of our trip."
  /^(?:as \p{L}+,?\s+)?here(?:['’]s| is| are| come| comes)\b[^:]*$/iu,
  // "This is my current medication."
  /^(?:[Tt]his|[Tt]hese|[Tt]hat|[Tt]hose) (?:is|are) (?:my|our|the|some|a few|all)\s+\p{Ll}+(?:\s\p{Ll}+){0,3}[.:!]*$/u,
  // "I lost my notes", "I've forgotten a few things".
  /^i(?:['’]ve| have)?\s+(?:forgot|forgotten|lost|misplaced|mislaid)\s+(?:a few|some|a couple of|most|all|many|my|the|several|everything|what|so much)(?:\s+(?:of )?(?:things|notes?|it|my|the|details|stuff|them|i (?:told|said).*))*[.!]*$/iu,
  /^i(?:['’]m| am) back(?: again)?(?: (?:after|from)\b[^,;]*)?[.!]*$/iu,
]

export const isFrame = (text: string): boolean => frames.some((pattern) => pattern.test(text.trim()))

const opening = /^(?:(?:in|into|to)\s+)?\S+\.md\b[^:]{0,60}:\s+(?=\S)/iu

/** "into notes.md, together with the following: our vet is Lund" tells what stands behind the colon. */
export const withoutFrame = (text: string): string => text.replace(opening, '')
