/** The programs whose hooks are understood. */
export const hookHosts = ['claude-code', 'codex', 'cursor'] as const
export type HookHost = (typeof hookHosts)[number]

/** What happened in a host; the last one is no host's: the others start it when there is something to learn. */
export const hookEvents = ['session-start', 'prompt-submit', 'stop', 'pre-compact', 'learn'] as const
export type HookEvent = (typeof hookEvents)[number]

/** What each host calls it. Claude Code and Codex share their names. */
const ownNames: Readonly<Record<HookEvent, readonly string[]>> = {
  'session-start': ['SessionStart', 'sessionStart'],
  'prompt-submit': ['UserPromptSubmit', 'beforeSubmitPrompt'],
  stop: ['Stop'],
  'pre-compact': ['PreCompact', 'preCompact'],
  learn: [],
}

/** An event by our name or by its host's. */
export const hookEventNamed = (name: string): HookEvent | undefined =>
  hookEvents.find((event) => event === name || ownNames[event].includes(name))

/**
 * What a host is to be told, as it wants to be told; empty for nothing. Codex refuses answers with anything more in them
 * than it knows, and takes context at two events only; Cursor takes it at one, and wants a word at another.
 */
export function hookAnswer(host: HookHost, event: HookEvent, context: string): string {
  if (host === 'cursor') {
    if (event === 'prompt-submit') return '{"continue":true}\n'
    return event === 'session-start' && context !== '' ? `${JSON.stringify({ additional_context: context })}\n` : ''
  }
  if (context === '') return ''
  const [hookEventName] = ownNames[event]
  return `${JSON.stringify({ hookSpecificOutput: { hookEventName, additionalContext: context } })}\n`
}
